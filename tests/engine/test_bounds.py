"""The seed's bounds on a wait, each by its name."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb import Clock, Context, RetryPolicy, StepDecision, StepOptions, Stream, graceful_complete
from dexnb.engine import FlowResult, Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider
from tests.engine.flows import (
    failure_of,
    fast,
    finished,
    flow,
    history,
    outcome,
    step,
    telemetry,
    virtual,
    with_runtime,
)

PROGRESS = Stream("Progress", str, 1 << 20)


def clock() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


async def poll_for_ever(context: AsyncContext, input: Any) -> StepDecision:
    """Beat each second and never find an answer."""
    while True:
        await asyncio.sleep(1)
        await context.heartbeat(clock())


seconds = st.floats(0.02, 30.0, allow_nan=False).map(lambda value: timedelta(seconds=value))


@st.composite
def step_options(draw: st.DrawFn) -> StepOptions:
    """Draw timeouts and a retry policy that can hold."""
    initial = draw(seconds)
    policy = RetryPolicy(
        initial_interval=initial,
        backoff_coefficient=draw(st.floats(1, 5)),
        maximum_interval=max(initial, draw(seconds)),
        maximum_attempts=draw(st.integers(0, 5)),
        total_duration=draw(seconds),
    )
    return StepOptions(draw(seconds), draw(seconds), policy)


@pytest.mark.rule("2.4/total-bound")
@given(
    step_options(),
    st.floats(0.02, 30.0),
    st.sampled_from(["never answers", "raises", "is silent", "ignores cancellation"]),
)
def test_the_whole_wait_is_at_most_total_duration_plus_one_method_timeout(
    chosen: StepOptions, interval: float, fails: str
) -> None:
    """Whatever the settings and however the Step fails; only an ignored cancel costs the grace."""

    async def wait(context: AsyncContext, input: Any) -> StepDecision:
        if fails == "is silent":
            await asyncio.sleep(1e6)
        while True:
            try:
                await asyncio.sleep(interval)
            except asyncio.CancelledError:
                if fails != "ignores cancellation":
                    raise
            if fails == "raises":
                raise ValueError(fails)
            await context.heartbeat()

    async def main() -> None:
        result = await outcome(flow(step(wait, options=chosen)))
        assert result.status == "FAILED"
        assert chosen.execute_method_timeout is not None
        assert chosen.execute_retry is not None
        assert chosen.execute_retry.total_duration is not None
        longest = chosen.execute_method_timeout + chosen.execute_retry.total_duration
        grace = 0.5 if fails == "ignores cancellation" else 0.0
        assert clock() <= longest.total_seconds() + grace + 1e-6

    Clock.virtual().run(main())


@virtual
async def test_a_heartbeat_in_the_last_moment_does_not_put_off_the_method_timeout() -> None:
    """A beat at the very instant of its deadline counts, and the next deadline is met exactly."""

    async def wait(context: AsyncContext, input: Any) -> StepDecision:
        while True:
            await asyncio.sleep(10)
            await context.heartbeat()

    made = flow(step(wait, heartbeat=10, method=30.05, attempts=1))
    result = await outcome(made)
    assert result.error_message == "the attempt ran longer than its execute_method_timeout"
    assert clock() == pytest.approx(30.05)


@pytest.mark.rule("2.4/total-gates", "2.12/total")
@with_runtime
async def test_total_duration_never_cuts_a_running_attempt(runtime: Runtime) -> None:
    """It gates retries: an attempt that began in time may end long behind it."""

    async def slow(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(20)
        return graceful_complete("late but done")

    made = flow(step(slow, total=5, heartbeat=60, method=60))
    assert (await finished(await runtime.start(made, "flow"))).output == "late but done"
    assert clock() == pytest.approx(20)


@pytest.mark.rule("2.5/ends", "2.4/budget-runs")
@with_runtime
async def test_no_retry_begins_behind_total_duration(runtime: Runtime) -> None:
    """A delay that would lead past the budget is not waited for."""
    began: list[float] = []

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        began.append(clock())
        await asyncio.sleep(0.5)
        raise ValueError

    made = flow(step(fails, total=10, initial=1))
    await finished(await runtime.start(made, "flow"))
    assert began == pytest.approx([0, 1.5, 4.0, 8.5])
    assert clock() == pytest.approx(9.0)


@pytest.mark.rule("2.4/method-timeout-execute", "2.4/timeout-texts")
@with_runtime
async def test_a_timed_out_attempt_fails_with_start_to_close(runtime: Runtime) -> None:
    """The method timeout ends an attempt that beats all the time."""
    run = await runtime.start(flow(step(poll_for_ever, method=10, attempts=1)), "flow")
    result = await finished(run)

    assert clock() == pytest.approx(10)
    failure = failure_of(await history(run))
    assert failure["error_type"] == "StartToClose"
    assert result.error_type == "WORKER_API_FAILED"
    assert (
        result.error_message
        == failure["detail"]
        == ("the attempt ran longer than its execute_method_timeout")
    )


@pytest.mark.rule("2.3/silence", "2.4/heartbeat-timeout", "2.12/explicit-heartbeats")
@with_runtime
async def test_a_silent_attempt_fails_with_heartbeat(runtime: Runtime) -> None:
    """The heartbeat timeout counts from the last sign of life."""

    async def falls_silent(context: AsyncContext, input: Any) -> StepDecision:
        for _ in range(5):
            await asyncio.sleep(9)
            await context.heartbeat()
        await asyncio.sleep(1000)
        return graceful_complete()

    run = await runtime.start(flow(step(falls_silent, heartbeat=10, attempts=1)), "flow")
    await finished(run)

    assert clock() == pytest.approx(55)
    assert failure_of(await history(run)) == {
        "error_type": "Heartbeat",
        "detail": "the attempt was silent for longer than its heartbeat_timeout",
        "last_error": None,
    }


@pytest.mark.rule("2.3/liveness-stream")
@with_runtime
async def test_a_stream_write_keeps_the_step_alive(runtime: Runtime) -> None:
    """A Step that only writes messages is not judged silent."""

    async def writes(context: AsyncContext, input: Any) -> StepDecision:
        for number in range(10):
            await asyncio.sleep(8)
            PROGRESS.write(context, str(number))
        return graceful_complete()

    made = flow(step(writes, heartbeat=10, attempts=1), streams=[PROGRESS])
    run = await runtime.start(made, "flow")
    assert (await finished(run)).status == "COMPLETED"
    assert [message.value for message in await run.stream(PROGRESS)] == list("0123456789")


@pytest.mark.rule("2.5/count")
@with_runtime
async def test_maximum_attempts_counts_the_first(runtime: Runtime) -> None:
    """Three attempts in all, and their numbers are seen by the Step."""
    seen: list[int] = []

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        seen.append(context.attempt)
        raise ValueError

    await finished(await runtime.start(flow(step(fails, attempts=3)), "flow"))
    assert seen == [1, 2, 3]


@pytest.mark.rule("2.5/delay", "2.1/retry")
@with_runtime
async def test_delays_grow_up_to_the_maximum_interval(runtime: Runtime) -> None:
    """1 s, doubling, at most 100 s, until the four hours of the default are over."""
    began: list[float] = []

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        began.append(clock())
        raise ValueError

    await finished(await runtime.start(flow(step(fails)), "flow"))
    gaps = [later - earlier for earlier, later in pairwise(began)]
    assert gaps[:8] == pytest.approx([1, 2, 4, 8, 16, 32, 64, 100])
    assert set(map(round, gaps[8:])) == {100}
    assert 4 * 3600 - 100 <= began[-1] < 4 * 3600


async def exhausted(fails: Any, **settings: Any) -> tuple[FlowResult, dict[str, Any]]:
    """Run a failing Step to its end; give the result and the failure."""
    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        run = await runtime.start(flow(step(fails, **settings)), "flow")
        return await finished(run), failure_of(await history(run))


@pytest.mark.rule("2.4/schedule-to-close", "2.4/budget-text")
@virtual
async def test_schedule_to_close_carries_the_last_real_error() -> None:
    """The budget's end does not hide what went wrong."""

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        raise ValueError(f"boom {context.attempt}")

    result, failure = await exhausted(fails, total=5)
    assert failure["error_type"] == "ScheduleToClose"
    assert failure["last_error"] == {
        "error_type": "builtins.ValueError",
        "detail": "boom 3",
        "last_error": None,
    }
    ended = "no retry fits into total_duration any more"
    assert result.error_message == f"{ended}; the last error was builtins.ValueError: boom 3"


@virtual
async def test_a_timeout_keeps_the_last_real_error_beside_it() -> None:
    """An error of the Step's own code stays readable when a later attempt is silent."""

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt <= 2:
            raise ValueError(f"boom {context.attempt}")
        await asyncio.sleep(1000)
        return graceful_complete()

    _, failure = await exhausted(fails, attempts=4, heartbeat=10)
    assert failure["error_type"] == "Heartbeat"
    assert failure["last_error"]["detail"] == "boom 2"

    _, failure = await exhausted(fails, total=20, heartbeat=10)
    assert failure["error_type"] == "ScheduleToClose"
    assert failure["last_error"]["error_type"] == "Heartbeat"
    assert failure["last_error"]["last_error"]["detail"] == "boom 2"


@pytest.mark.rule("2.5/ends")
@virtual
async def test_the_last_of_maximum_attempts_fails_with_its_own_error() -> None:
    """Attempts that are used up are no timeout."""

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        raise ValueError("boom")

    result, failure = await exhausted(fails, attempts=2)
    assert failure["error_type"] == "builtins.ValueError"
    assert result.error_message == "boom"


@with_runtime
async def test_method_and_heartbeat_clocks_start_when_the_step_starts(runtime: Runtime) -> None:
    """Waiting for a free thread is no part of an attempt."""
    runtime.options.sync_concurrency = 1
    order: list[str] = []

    def busy(context: Context, input: Any) -> StepDecision:
        order.append(context.flow_id)
        return graceful_complete()

    made = flow(step(busy, method=0.5, heartbeat=0.5, attempts=1))
    runs = [await runtime.start(made, f"flow-{number}") for number in range(5)]
    assert {(await finished(run)).status for run in runs} == {"COMPLETED"}
    assert order == [f"flow-{number}" for number in range(5)]


@pytest.mark.rule("2.5/visible")
@with_runtime
async def test_a_retry_keeps_the_time_of_the_first_attempt(runtime: Runtime) -> None:
    """`first_attempt_at` is the same for all retries, in whole seconds."""
    seen: list[float] = []

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        seen.append(context.first_attempt_at.timestamp())
        if context.attempt == 3:
            return graceful_complete()
        raise ValueError

    run = await runtime.start(flow(step(fails)), "flow")
    await finished(run)
    assert seen[0] == seen[1] == seen[2] == int(seen[0])
    delays = [event.payload["delay"] for event in await telemetry(run, "retry_scheduled")]
    assert delays == [1, 2]
