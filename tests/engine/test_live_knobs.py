"""Knobs of a run are turned while it runs: at once, checked, for good, and for that run alone."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Clock,
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    go_to,
    graceful_complete,
)
from dexnb.clock import sleep_blocking
from dexnb.engine import AsyncRun, Runtime, RuntimeOptions
from dexnb.errors import DefinitionError, RunNotFound
from dexnb.model.run_view import view_of
from dexnb.providers import MemoryProvider
from tests.engine.flows import crash, history, telemetry, virtual, with_runtime

LIVE = RuntimeOptions(live_knobs=True)
live = partial(with_runtime, live_knobs=True)

INTERVAL = timedelta(seconds=600)
WINDOW = timedelta(seconds=900)
ROUNDS = 1000

polls: dict[str, list[float]] = {}


class Poll(Step[int]):
    """Polls every INTERVAL."""

    def get_step_options(self) -> StepOptions:
        """Give the window."""
        return StepOptions(
            heartbeat_timeout=WINDOW,
            execute_method_timeout=timedelta(hours=50),
            execute_retry=RetryPolicy(maximum_attempts=3, total_duration=timedelta(hours=100)),
        )

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Note each poll; fail in round `input` of the first attempt."""
        noted = polls.setdefault(context.flow_id, [])
        for number in range(1, ROUNDS + 1):
            async with asyncio.timeout(10):
                await asyncio.sleep(0)
            noted.append(asyncio.get_running_loop().time())
            await context.heartbeat(number)
            if number == input and context.attempt == 1:
                message = "on purpose"
                raise ValueError(message)
            await asyncio.sleep(INTERVAL.total_seconds())
        return graceful_complete(number)


class First(Step[int]):
    """Goes on after a while."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Wait, and go on."""
        await asyncio.sleep(INTERVAL.total_seconds())
        return go_to(Poll, input)


class Blocking(Step[int]):
    """Reads a constant in a thread."""

    def execute(self, context: Context, input: int) -> StepDecision:
        """Read."""
        if input:
            sleep_blocking(INTERVAL.total_seconds())
        return graceful_complete(INTERVAL.total_seconds())


class Polling(Flow[int]):
    """The Flow under test."""

    def __init__(self, first: Step[int] | None = None) -> None:
        """Start with Poll, or with another Step."""
        self._first = first or Poll()

    def get_steps(self) -> StepList[int]:
        """Give the Steps."""
        others = [] if isinstance(self._first, Poll) else [Poll()]
        return StepList.start_step(self._first).other_steps(*others)


@pytest.fixture(autouse=True)
def _no_polls() -> None:
    polls.clear()


async def start(runtime: Runtime, flow_id: str = "one", **overrides: Any) -> AsyncRun:
    """Start a run and let it poll once."""
    run = await runtime.start(Polling(), flow_id, 0, overrides=overrides)
    await asyncio.sleep(0.5)
    return run


def gaps(flow_id: str = "one") -> list[float]:
    """Give the seconds between polls."""
    return [later - earlier for earlier, later in pairwise(polls[flow_id])]


@live
async def test_a_shorter_interval_ends_the_sleep_that_is_too_long(runtime: Runtime) -> None:
    """From 600 s to 2 s: the next poll comes at once, then every 2 s."""
    run = await start(runtime)
    await asyncio.sleep(100)
    now = asyncio.get_running_loop().time()
    assert await run.set_knob("INTERVAL", 2) == 2
    await asyncio.sleep(6.5)
    assert polls["one"][1] - now < 0.1
    assert gaps()[1:] == pytest.approx([2, 2, 2])


@live
async def test_a_change_early_in_a_sleep_waits_for_the_new_interval(runtime: Runtime) -> None:
    """A poll is not made twice: the new interval counts from the last one."""
    run = await start(runtime)
    await run.set_knob("INTERVAL", 2)
    await asyncio.sleep(3)
    assert gaps() == pytest.approx([2])


@live
async def test_an_interval_that_breaks_the_window_is_refused(runtime: Runtime) -> None:
    """From 2 s to 120 s with a window of 60 s: refused with the rule, the old one goes on."""
    run = await start(runtime, INTERVAL=2, WINDOW=60)
    with pytest.raises(DefinitionError, match=r"over 40 s = 60 - 10 - 10") as refusal:
        await run.set_knob("INTERVAL", 120)
    assert "raise heartbeat_timeout to at least 140 s" in str(refusal.value)
    await asyncio.sleep(7)
    assert gaps() == pytest.approx([2, 2, 2])
    assert (await run.state()).overrides == {"INTERVAL": 2.0, "WINDOW": 60.0}


@live
async def test_thirty_changes_in_ten_seconds_make_one_timer_and_no_double_poll(
    runtime: Runtime,
) -> None:
    """However often the knob is turned, polls keep at least the smallest interval that was set."""
    run = await start(runtime)
    dice = random.Random(7)
    chosen = []
    for _ in range(30):
        chosen.append(round(dice.uniform(2, 9), 2))
        await run.set_knob("INTERVAL", chosen[-1])
        await asyncio.sleep(1 / 3)
    await asyncio.sleep(10)
    during = gaps()
    await asyncio.sleep(chosen[-1] * 5)
    assert min(during) >= min(chosen) - 0.01
    assert len(during) <= 20 / min(chosen) + 1
    assert gaps()[-3:] == pytest.approx([chosen[-1]] * 3)


@live
async def test_other_runs_see_nothing_of_it(runtime: Runtime) -> None:
    """Two runs of one Flow, and the module itself, keep their own values."""
    run = await start(runtime, "one", INTERVAL=5)
    await start(runtime, "other", INTERVAL=3)
    await run.set_knob("INTERVAL", 1)
    await asyncio.sleep(6.2)
    assert gaps("one")[-3:] == pytest.approx([1, 1, 1])
    assert gaps("other") == pytest.approx([3, 3])
    assert timedelta(seconds=600) == INTERVAL


@live
async def test_a_change_holds_for_the_retry_and_in_the_history(runtime: Runtime) -> None:
    """The retry's work item carries it; the event folds into the state and into the view."""
    run = await runtime.start(Polling(), "one", 3)
    await asyncio.sleep(0.5)
    await run.set_knob("INTERVAL", 2)
    await asyncio.sleep(12)
    assert len(await telemetry(run, "attempt_started")) == 2
    assert gaps()[-2:] == pytest.approx([2, 2])
    changes = [event for event in await history(run) if event.kind == "knobs_changed"]
    assert [event.payload["overrides"] for event in changes] == [{"INTERVAL": 2.0}]
    assert view_of(await run.events())["overrides"] == {"INTERVAL": 2.0}


@live
async def test_a_change_holds_for_the_steps_that_follow(runtime: Runtime) -> None:
    """A Step that is scheduled later begins with it."""
    run = await runtime.start(Polling(First()), "one", 0)
    await asyncio.sleep(1)
    await run.set_knob("INTERVAL", 2)
    await asyncio.sleep(7)
    assert gaps() == pytest.approx([2, 2])


@live
async def test_a_timeout_is_turned_while_the_attempt_runs(runtime: Runtime) -> None:
    """The attempt is judged by the new window, and its view shows it."""
    run = await start(runtime)
    await run.set_knob("Poll.execute_method_timeout", 30)
    await asyncio.sleep(31.5)
    view = view_of(await run.events())
    first = view["steps"]["Poll-1"]["attempts"][0]
    assert first["failure"]["error_type"] == "StartToClose"
    assert first["limits"]["execute_method_timeout"] == 30
    assert first["ended_at"] - first["started_at"] == pytest.approx(30, abs=0.6)


@live
async def test_an_override_at_the_start_reaches_settings_and_threads(runtime: Runtime) -> None:
    """Options that constants feed are the run's own, and sync Steps read its values."""
    run = await start(runtime, INTERVAL=timedelta(seconds=7), WINDOW=60)
    (begun,) = await telemetry(run, "attempt_started")
    assert begun.payload["heartbeat_timeout"] == 60
    assert (await run.state()).overrides == {"INTERVAL": 7.0, "WINDOW": 60.0}
    result = await (await runtime.start(Only(), "sync", 0, overrides={"INTERVAL": 5})).wait()
    assert result.output == 5


class Only(Flow[int]):
    """A sync Step alone."""

    def get_steps(self) -> StepList[int]:
        """Give it."""
        return StepList.start_step(Blocking())


@virtual
async def test_a_change_survives_an_orderly_stop() -> None:
    """The item that is handed back has it."""
    provider = MemoryProvider()
    async with Runtime(provider, options=LIVE) as runtime:
        run = await start(runtime)
        await run.set_knob("INTERVAL", 2)
    await _goes_on_with_two_seconds(provider)


@virtual
async def test_a_change_survives_a_crash() -> None:
    """A redelivered item is older than the change; the run's state has it."""
    provider = MemoryProvider()
    runtime = Runtime(provider, options=LIVE)
    await runtime.engine.start()
    run = await start(runtime)
    await run.set_knob("INTERVAL", 2)
    await asyncio.sleep(1)
    await crash(runtime)
    await _goes_on_with_two_seconds(provider)


async def _goes_on_with_two_seconds(provider: MemoryProvider) -> None:
    polls.clear()
    async with Runtime(provider, options=LIVE) as runtime:
        runtime.register(Polling())
        await asyncio.sleep(60)
        assert gaps()[:3] == pytest.approx([2, 2, 2])
        run = await runtime.get("one")
        assert (await run.state()).overrides == {"INTERVAL": 2.0}


@pytest.mark.parametrize(
    ("overrides", "part"),
    [
        ({"INTREVAL": 2}, "no knob 'INTREVAL'; its knobs: "),
        ({"INTERVAL": -1}, "more than 0"),
        ({"INTERVAL": "2"}, "finite"),
        ({"Poll.maximum_attempts": 1.5}, "whole number"),
    ],
)
def test_a_start_with_an_override_that_cannot_be_is_refused(
    overrides: dict[str, Any], part: str
) -> None:
    """No run is started, and the text names the knob."""

    async def main() -> None:
        async with Runtime(MemoryProvider(), options=LIVE) as runtime:
            with pytest.raises(DefinitionError) as refusal:
                await runtime.start(Polling(), "one", 0, overrides=overrides)
            assert part in str(refusal.value)
            assert await runtime.runs() == []

    Clock.virtual().run(main())


@live
async def test_an_ended_run_is_not_turned_any_more(runtime: Runtime) -> None:
    """It says how it ended and what to do instead."""
    run = await start(runtime)
    await run.stop()
    await run.wait()
    with pytest.raises(DefinitionError, match="has ended CANCELED; start it anew"):
        await run.set_knob("INTERVAL", 2)
    with pytest.raises(RunNotFound):
        await AsyncRun(runtime.engine, "one", "nowhere", "Polling").set_knob("INTERVAL", 2)
