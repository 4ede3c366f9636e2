"""E01 and E02: a wall clock that is stepped, and a machine that slept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.clock import Readings, host_readings
from dexnb.engine import Runtime, upkeep
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider
from tests.engine.flows import fast, finished, flow, history, step, telemetry

HOUR = 3600.0
LONG = 600.0
"""An interval that no test waits for."""


class Clocks:
    """The host's clocks, ahead by what a test says."""

    def __init__(self) -> None:
        """Start with the true time."""
        self.asleep = 0.0

    def read(self) -> Readings:
        """Give boot-time and wall ahead of the monotonic clock, as after a sleep."""
        true = host_readings()
        boottime = true.monotonic if true.boottime is None else true.boottime
        return Readings(true.monotonic, boottime + self.asleep, true.wall + self.asleep)


class Leases(MemoryProvider):
    """A store that tells when leases are renewed, and may have given them away."""

    def __init__(self, log: list[str]) -> None:
        """Write to this log."""
        super().__init__()
        self.log = log
        self.given_away = False

    async def renew_work_item_locks(
        self, tokens: Sequence[str], extend_for: float
    ) -> frozenset[str]:
        """Tell, and renew or refuse."""
        self.log.append("renew")
        await asyncio.sleep(0.05)
        if self.given_away:
            return frozenset(tokens)
        return await super().renew_work_item_locks(tokens, extend_for)


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait for a condition in real time."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not condition():
        assert loop.time() < end, "it did not come about in time"
        await asyncio.sleep(0.02)


def polling(log: list[str], interval: float) -> Any:
    """Make a Flow that polls with an interval and tells its attempt each time."""

    async def polls(context: AsyncContext, input: Any) -> StepDecision:
        while True:
            log.append(f"poll {context.flow_id} {context.attempt}")
            await context.heartbeat()
            await asyncio.sleep(interval)

    return flow(step(polls, heartbeat=2 * interval))


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """Let the engine read clocks that a test sets."""
    made = Clocks()
    monkeypatch.setattr(upkeep, "host_readings", made.read)
    return made


@pytest.mark.timing
def test_e02_after_a_suspend_each_flow_polls_once_behind_the_leases(clocks: Clocks) -> None:
    """Eight hours: leases first, then one poll for each Flow, no second attempt, a gap to see."""
    log: list[str] = []

    async def main() -> None:
        async with Runtime(Leases(log), options=fast()) as runtime:
            runs = [await runtime.start(polling(log, LONG), f"flow-{n}") for n in range(5)]
            await until(lambda: len(log) == 5)
            await asyncio.sleep(0.7)
            assert len(log) == 5
            clocks.asleep = 8 * HOUR
            await until(lambda: len(log) == 11)
            await asyncio.sleep(1.2)
            assert log[5] == "renew"
            assert sorted(log[6:]) == [f"poll flow-{number} 1" for number in range(5)]
            for run in runs:
                (gap,) = await telemetry(run, "suspended")
                assert gap.payload["seconds"] == pytest.approx(8 * HOUR, abs=1)
                assert len(await telemetry(run, "attempt_started")) == 1

    asyncio.run(main())


@pytest.mark.timing
def test_e02_an_attempt_whose_lease_went_away_in_the_sleep_does_not_poll_again(
    clocks: Clocks,
) -> None:
    """Another engine owns it: being woken must not make one more poll."""
    log: list[str] = []

    async def main() -> None:
        store = Leases(log)
        async with Runtime(store, options=fast()) as runtime:
            run = await runtime.start(polling(log, LONG), "flow")
            await until(lambda: len(log) == 1)
            await asyncio.sleep(0.7)
            store.given_away = True
            clocks.asleep = 8 * HOUR
            await until(lambda: runtime.engine.worker.live == {})
            assert log == ["poll flow 1", "renew"]
            ended = await telemetry(run, "attempt_ended")
            assert [event.payload for event in ended] == [{"reason": "lost"}]

    asyncio.run(main())


@pytest.mark.timing
@pytest.mark.parametrize("step_seconds", [HOUR, -HOUR])
def test_e01_a_stepped_wall_clock_changes_nothing_but_later_stamps(
    step_seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polls, heartbeat window, budget and lease go on; the step is told once."""
    log: list[str] = []
    times: list[float] = []
    true_time = time.time

    async def polls(context: AsyncContext, input: Any) -> StepDecision:
        for number in range(18):
            times.append(asyncio.get_running_loop().time())
            await context.heartbeat(number)
            await asyncio.sleep(0.1)
        return graceful_complete(context.attempt)

    async def main() -> None:
        settings = fast(worker_lock_timeout=timedelta(seconds=2))
        async with Runtime(Leases(log), options=settings) as runtime:
            made = flow(step(polls, heartbeat=1, method=10, total=10, attempts=1))
            run = await runtime.start(made, "flow")
            await asyncio.sleep(0.8)
            monkeypatch.setattr(time, "time", lambda: true_time() + step_seconds)
            assert (await finished(run)).output == 1
            steps = [e for e in runtime.engine.telemetry.events("") if e.kind == "clock_stepped"]
            assert [round(event.payload["seconds"]) for event in steps] == [step_seconds]
            beats = await telemetry(run, "heartbeat")
            rows = await history(run)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        assert max(gaps) < 0.5
        assert [event.seq for event in beats] == sorted(event.seq for event in beats)
        passed = [later.time - earlier.time for earlier, later in pairwise(beats)]
        assert all(0 <= seconds < 0.5 for seconds in passed)
        assert beats[-1].wall - beats[0].wall == pytest.approx(step_seconds, abs=5)
        assert beats[1].wall == pytest.approx(true_time(), abs=30)
        assert rows[-1].time - rows[0].time == pytest.approx(1.8, abs=1)

    asyncio.run(main())
