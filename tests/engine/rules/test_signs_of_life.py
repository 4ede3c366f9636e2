"""Heartbeats, checkpoints and retries of both methods, and values that a runtime limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    DexnbError,
    FlowConfig,
    FlowDefinitionError,
    RetryPolicy,
    StartFlowOptions,
    StepDecision,
    StepOptions,
    Stream,
    Wait,
    go_to,
    graceful_complete,
)
from dexnb.engine import Runtime, RuntimeOptions
from dexnb.errors import DexnbWarning
from dexnb.providers import MemoryProvider
from tests.engine.flows import failure_of, fast, finished, history, virtual
from tests.engine.rules.made import clock, flow_of, of_kind, on_stores, started, waits

PROGRESS = Stream("Progress", str, 1 << 20)
NOTE = Attribute("note", str)
LIMITS = StepOptions(
    heartbeat_timeout=timedelta(seconds=10),
    wait_for_method_timeout=timedelta(seconds=100),
    execute_method_timeout=timedelta(seconds=100),
)
METHODS = pytest.mark.parametrize("method", ["wait_for", "execute"])
Body = Callable[[AsyncContext], Any]


async def skips(context: AsyncContext, input: Any) -> Wait:
    """Wait for nothing."""
    return Wait.skip_immediately()


async def ends(context: AsyncContext, input: Any) -> StepDecision:
    """Complete."""
    return graceful_complete()


def doing(method: str, body: Body, options: StepOptions = LIMITS) -> Any:
    """Make a Flow whose Step does this in one of its methods."""

    async def waiting(context: AsyncContext, input: Any) -> Wait:
        await body(context)
        return Wait.skip_immediately()

    async def acting(context: AsyncContext, input: Any) -> StepDecision:
        await body(context)
        return graceful_complete()

    first, second = (waiting, ends) if method == "wait_for" else (skips, acting)
    return flow_of(waits(second, first, options=options, name="Does"), keeps=(PROGRESS, NOTE))


@pytest.mark.rule("2.3/liveness-heartbeat", "2.3/liveness-stream", "2.3/silence")
@METHODS
@pytest.mark.parametrize("sign", ["heartbeat", "heartbeat(1)", "stream", "none"])
@on_stores
async def test_a02_a_sign_of_life_in_time_keeps_an_attempt_alive(
    runtime: Runtime, method: str, sign: str
) -> None:
    """Nine seconds between two signs are no silence of ten; without any the attempt is retried."""
    tried: list[float] = []

    async def body(context: AsyncContext) -> None:
        tried.append(clock())
        for _ in range(5 if len(tried) == 1 else 0):
            await asyncio.sleep(9)
            if sign == "stream":
                PROGRESS.write(context, "on")
            elif sign != "none":
                await (context.heartbeat() if sign == "heartbeat" else context.heartbeat(1))

    await finished(await started(runtime, doing(method, body)))
    assert tried == ([0] if sign != "none" else pytest.approx([0, 11]))


@pytest.mark.rule("2.1/method-timeout", "2.1/heartbeat", "2.12/method-timeout", "2.3/silence")
@METHODS
@pytest.mark.parametrize(
    ("beats", "seconds", "name"), [(True, 7200, "StartToClose"), (False, 60, "Heartbeat")]
)
@virtual
async def test_the_defaults_of_both_methods_are_two_hours_and_a_minute(
    method: str, beats: bool, seconds: float, name: str
) -> None:
    """For a Step that says nothing of them."""
    found: list[float] = []

    async def body(context: AsyncContext) -> None:
        if context.attempt > 1:
            return
        try:
            while True:
                await asyncio.sleep(50 if beats else 1e6)
                await context.heartbeat()
        finally:
            found.append(clock())

    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        made = doing(method, body, StepOptions())
        run = await started(runtime, made)
        await finished(run)
        payloads = [event.payload for event in await run.events() if event.kind == "attempt_ended"]
    (failure,) = [payload["failure"] for payload in payloads if "failure" in payload]
    assert failure["error_type"] == name
    assert found == pytest.approx([seconds])


SENT: list[tuple[str, list[Any], tuple[bool, Any]]] = [
    ("a value", ["x", "y"], (True, "y")),
    ("none at all", [], (False, None)),
    ("cleared by a bare one", ["x", ...], (False, None)),
    ("None is present", ["x", None], (True, None)),
    ("a message in between changes nothing", ["x", ">m"], (True, "x")),
    ("nor does one after a bare one", ["x", ..., ">m"], (False, None)),
]


@pytest.mark.rule(
    "2.3/stream-keeps",
    "2.3/bare-clears",
    "2.3/none-is-stored",
    "2.3/handed-over",
    "2.3/stale-on-timeout",
    "2.3/throttled",
)
@METHODS
@pytest.mark.parametrize("ending", ["raises", "Heartbeat", "StartToClose"])
@pytest.mark.parametrize(("sent", "read"), [case[1:] for case in SENT], ids=[c[0] for c in SENT])
@virtual
async def test_a01_a03_the_next_attempt_reads_what_the_last_heartbeat_left(
    method: str, ending: str, sent: list[Any], read: tuple[bool, Any]
) -> None:
    """The newest one, sent just before the end, however the attempt ended."""
    found: list[tuple[bool, Any]] = []

    async def body(context: AsyncContext) -> None:
        found.append((context.has_last_heartbeat_value(), context.get_last_heartbeat_value(str)))
        if context.attempt == 2:
            return
        await asyncio.sleep(0 if ending == "raises" else 5)
        for each in sent:
            if isinstance(each, str) and each.startswith(">"):
                PROGRESS.write(context, each)
            else:
                await (context.heartbeat() if each is ... else context.heartbeat(each))
        if ending == "raises":
            raise ConnectionError
        await asyncio.sleep(1e6 if ending == "Heartbeat" else 99)

    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        await finished(await started(runtime, doing(method, body)))
    assert found == [(False, None), read]


@pytest.mark.rule("2.1/heartbeat-floor", "2.12/floor-setting", "2.1/heartbeat-minimum")
@pytest.mark.parametrize(("floor", "taken"), [(None, False), (2.0, True), (3.0, False)])
@virtual
async def test_the_smallest_heartbeat_timeout_is_a_setting(
    floor: float | None, taken: bool
) -> None:
    """Two seconds are refused by default, and where the runtime asks for three."""
    settings = RuntimeOptions()
    if floor is not None:
        settings.minimum_heartbeat_timeout = timedelta(seconds=floor)
    made = flow_of(waits(ends, options=StepOptions(heartbeat_timeout=timedelta(seconds=2))))
    async with Runtime(MemoryProvider(), options=settings) as runtime:
        if taken:
            assert (await finished(await started(runtime, made))).status == "COMPLETED"
        else:
            with pytest.raises(FlowDefinitionError, match="heartbeat_timeout is 0:00:02"):
                await started(runtime, made)


@pytest.mark.rule("2.4/late-retry", "2.4/budget-runs")
@virtual
async def test_a_retry_that_was_scheduled_in_time_may_start_behind_the_budget() -> None:
    """Its slot is taken when it is due; it runs once that is free, and no other follows."""
    began: list[float] = []

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        began.append(clock())
        raise ConnectionError

    async def occupies(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(50)
        return graceful_complete()

    budget = RetryPolicy(
        initial_interval=timedelta(seconds=5), total_duration=timedelta(seconds=20)
    )
    async with Runtime(MemoryProvider(), options=fast(worker_concurrency=1)) as runtime:
        run = await started(
            runtime, flow_of(waits(fails, options=StepOptions(execute_retry=budget)))
        )
        await asyncio.sleep(1)
        await started(runtime, flow_of(waits(occupies), name="Other"), flow_id="other")
        assert (await finished(run)).status == "FAILED"
        failure = failure_of(await history(run))
    assert began == pytest.approx([0, 51])
    assert failure["error_type"] == "ScheduleToClose"


@pytest.mark.rule("2.4/invalid-result", "2.4/exception")
@pytest.mark.parametrize("error", [ValueError, TypeError])
@METHODS
@on_stores
async def test_a_value_error_of_a_handler_keeps_its_name_and_is_retried(
    runtime: Runtime, method: str, error: type[Exception]
) -> None:
    """It is an error like any other, not a wrong result."""

    async def body(context: AsyncContext) -> None:
        if context.attempt < 4:
            raise error("bad answer")
        raise ZeroDivisionError

    run = await started(runtime, doing(method, body))
    await asyncio.sleep(5)
    ended = [event for event in await run.events() if event.kind == "attempt_ended"]
    failures = [e.payload["failure"] for e in ended if "failure" in e.payload]
    assert {each["error_type"] for each in failures} == {f"builtins.{error.__name__}"}
    assert len(failures) == 3
    await run.stop()


@pytest.mark.rule("2.1/inline-values")
@pytest.mark.parametrize(("letters", "fits"), [(1_000_000, True), (1_100_000, False)])
@on_stores
async def test_a_value_stands_in_the_store_up_to_a_mebibyte(
    runtime: Runtime, letters: int, fits: bool
) -> None:
    """A larger one fails the call that gave it, by name, at once."""
    tried: list[int] = []

    async def body(context: AsyncContext) -> None:
        tried.append(context.attempt)
        NOTE.set(context, "x" * letters)

    run = await started(runtime, doing("execute", body))
    result = await finished(run)
    if fits:
        assert len((await run.state()).attributes["note"]) == letters
    else:
        assert "Attribute note set" in result.error_message
        assert "1,048,576" in result.error_message
    assert tried == [1]


@pytest.mark.rule("2.1/continue-as-new", "2.12/continue-as-new")
@on_stores
async def test_a_long_history_is_one_run(runtime: Runtime) -> None:
    """What asks for another thing has no effect, and a warning says so."""

    async def again(context: AsyncContext, input: int) -> StepDecision:
        return go_to(step, input + 1) if input < 40 else graceful_complete(context.run_id)

    step = waits(again)
    with pytest.warns(DexnbWarning, match="continue_as_new_threshold has no effect"):
        config = FlowConfig(continue_as_new_threshold=10)
    run = await started(runtime, flow_of(step), 1, StartFlowOptions(config_override=config))
    assert (await finished(run)).output == run.run_id
    assert len(await of_kind(run, "step_scheduled")) == 40
    assert len(await runtime.runs()) == 1


@pytest.mark.rule("2.2/events")
@METHODS
@on_stores
async def test_an_event_is_recorded_once_by_name_and_not_by_failed_attempts(
    runtime: Runtime, method: str
) -> None:
    """A second one of the same name in one call is an error that a Step may catch."""

    async def body(context: AsyncContext) -> None:
        context.record_event("seen", context.attempt)
        with pytest.raises(DexnbError, match="recorded before"):
            context.record_event("seen", 2)
        if context.attempt == 1:
            raise ConnectionError

    run = await started(runtime, doing(method, body))
    await finished(run)
    kind = "wait_started" if method == "wait_for" else "step_completed"
    (event,) = await of_kind(run, kind)
    assert event.payload["writes"]["recorded"] == {"seen": 2}
