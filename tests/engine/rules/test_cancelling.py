"""Decisions that cancel other executions: in which order, whom, and what those may still do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    Channel,
    Clock,
    Context,
    RetryPolicy,
    Step,
    StepDecision,
    StepMovement,
    StepOptions,
    Stream,
    Timer,
    Wait,
    dead_end,
    go_to,
    go_to_many,
    graceful_complete,
)
from dexnb.engine import AsyncRun, Runtime
from dexnb.model.message import Stop
from dexnb.providers import MemoryProvider, MemoryStore
from tests.engine.flows import finished, telemetry, virtual
from tests.engine.rules.made import clock, flow_of, kinds, of_kind, on_stores, started, tell, waits

COUNT = Attribute("count", int)
NOTES = Channel("notes", str)
PROGRESS = Stream("Progress", str, 1 << 20)
KEEPS = (COUNT, NOTES, PROGRESS)
TWICE = StepOptions(execute_retry=RetryPolicy(maximum_attempts=2))


async def splits(context: AsyncContext, input: Any) -> StepDecision:
    """Go to the Steps that the input names twice, and then to the one that cancels."""
    return go_to_many(*(StepMovement.of(step, None) for step in TARGETS))


TARGETS: list[type[Step[Any]]] = []


async def recovers(context: AsyncContext, input: Any) -> StepDecision:
    """Be where nobody may come to."""
    raise AssertionError


def worker(seen: list[str]) -> type[Step[Any]]:
    """Make a Step that is cancelled while it works, and writes all it can before and after."""

    async def works(context: AsyncContext, input: Any) -> StepDecision:
        COUNT.set(context, 99)
        NOTES.publish(context, "of the cancelled")
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            seen.append(f"{context.step_execution_id} {context.attempt} at {clock():g}")
            raise
        return graceful_complete("of the cancelled")

    return waits(works, options=TWICE.on_execute_failure_proceed_to(RECOVERS))


RECOVERS = waits(recovers)


def canceller(change: Callable[[StepDecision], StepDecision], then: Any = None) -> type[Step[Any]]:
    """Make a Step that decides after five seconds."""

    async def cancels(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(5)
        COUNT.set(context, COUNT.get(context) + 1)
        return change(graceful_complete("own") if then is None else go_to(then, None))

    return waits(cancels)


async def run_of(runtime: Runtime, *targets: type[Step[Any]]) -> AsyncRun:
    """Run a Flow that splits into these."""
    TARGETS[:] = targets
    others = dict.fromkeys((*targets, RECOVERS))
    return await started(runtime, flow_of(waits(splits), *others, keeps=KEEPS))


@pytest.mark.rule(
    "2.7/order",
    "2.7/global",
    "2.7/no-retry",
    "2.7/no-recovery",
    "2.7/no-publish",
    "2.7/no-event",
    "2.7/async",
    "2.7/when",
)
@on_stores
async def test_cancelled_executions_end_at_once_and_leave_nothing(runtime: Runtime) -> None:
    """CancelledError in the handler; no retry, no recovery, no writes; the history tells of it."""
    seen: list[str] = []
    works = worker(seen)
    cancels = canceller(lambda decision: decision.with_canceling_steps(works))
    run = await run_of(runtime, works, works, cancels)
    result = await finished(run)
    await asyncio.sleep(0.1)
    assert seen == ["Works-1 1 at 5", "Works-2 1 at 5"]
    assert result.output == "own"
    assert clock() == pytest.approx(5.1)
    state = await run.state()
    assert (state.attributes, state.channels) == ({"count": 1}, {})
    assert (await kinds(run))[-4:] == [
        "step_completed",
        "step_cancelled",
        "step_cancelled",
        "flow_closed",
    ]


@pytest.mark.rule("2.7/others", "2.7/number", "2.7/order")
@on_stores
async def test_a_decision_may_cancel_a_step_and_go_to_it(runtime: Runtime) -> None:
    """The new execution runs, under the next number, and sees what the decision wrote."""
    found: list[tuple[str, int]] = []

    async def again(context: AsyncContext, input: Any) -> StepDecision:
        found.append((context.step_execution_id, COUNT.get(context)))
        if context.step_execution_id == "Again-1":
            await asyncio.sleep(1000)
        return graceful_complete()

    step = waits(again)
    cancels = canceller(lambda decision: decision.with_canceling_steps(step), then=step)
    assert (await finished(await run_of(runtime, step, cancels))).status == "COMPLETED"
    assert found == [("Again-1", 0), ("Again-2", 1)]


@pytest.mark.rule("2.7/sibling")
@on_stores
async def test_siblings_alone_are_cancelled(runtime: Runtime) -> None:
    """An execution of the same type that came from elsewhere goes on."""
    seen: list[str] = []
    works = worker(seen)

    async def forks(context: AsyncContext, input: Any) -> StepDecision:
        return go_to(works, None)

    cancels = canceller(lambda decision: decision.with_canceling_sibling_steps(works))
    run = await run_of(runtime, works, cancels, waits(forks))
    await asyncio.sleep(10)
    assert seen == ["Works-1 1 at 5"]
    assert list((await run.state()).active) == ["Works-2"]
    await run.stop("TERMINATE")


@pytest.mark.rule("2.7/global", "2.7/no-publish")
@on_stores
async def test_a_step_that_waits_is_cancelled_too(runtime: Runtime) -> None:
    """What its wait_for had committed stays; its Timer finds nobody."""

    async def sends(context: AsyncContext, input: Any) -> Wait:
        NOTES.publish(context, "before the wait")
        return Wait.until(Timer.by_duration(timedelta(seconds=60)))

    sleeper = waits(recovers, sends, name="Sleeper")
    cancels = canceller(lambda decision: decision.with_canceling_steps(sleeper))
    run = await run_of(runtime, sleeper, cancels)
    await finished(run)
    await asyncio.sleep(100)
    assert [value for _, value in (await run.state()).channels["notes"]] == ["before the wait"]
    assert await of_kind(run, "timer_fired") == []


@pytest.mark.rule("2.7/no-retry", "2.7/global")
@on_stores
async def test_an_execution_whose_retry_is_due_later_is_cancelled_too(runtime: Runtime) -> None:
    """The retry that was scheduled already never comes."""
    began: list[float] = []

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        began.append(clock())
        raise ConnectionError

    retry = RetryPolicy(initial_interval=timedelta(seconds=30))
    step = waits(fails, options=StepOptions(execute_retry=retry))
    cancels = canceller(lambda decision: decision.with_canceling_steps(step))
    await finished(await run_of(runtime, step, cancels))
    await asyncio.sleep(100)
    assert began == [0]
    assert (await runtime.engine.provider.queue_depths()).work_items == 0


@pytest.mark.rule("2.7/when", "2.7/async")
@virtual
async def test_a_handler_in_another_engine_learns_of_it_with_its_lease() -> None:
    """Within half a lease, at the next renewal; in its own engine it learns at once."""
    store = MemoryStore()
    ended: list[float] = []

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        try:
            while True:
                await asyncio.sleep(1)
                await context.heartbeat()
        finally:
            ended.append(clock())

    step = waits(beats)
    cancels = canceller(lambda decision: decision.with_canceling_steps(step))
    async with Runtime(MemoryProvider(store)) as one, Runtime(MemoryProvider(store)) as two:
        run = await run_of(one, step, cancels)
        registered = one.engine.registry.get(run.flow_type)
        assert registered is not None
        two.register(registered.flow)
        await finished(run)
        await asyncio.sleep(40)
    (at,) = ended
    assert at <= 5 + 15.1


@pytest.mark.rule("2.7/late")
@on_stores
async def test_what_a_cancelled_handler_gives_later_is_dropped(runtime: Runtime) -> None:
    """It swallows the cancel, writes to a Stream and ends well: all of that is refused."""
    told: list[str] = []

    async def clings(context: AsyncContext, input: Any) -> StepDecision:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            assert context.is_cancellation_requested()
            for call in (lambda: PROGRESS.write(context, "late"), context.heartbeat):
                try:
                    made: Any = call()
                    if made is not None:
                        await made
                except asyncio.CancelledError as error:
                    told.append(str(error))
        return graceful_complete("late")

    step = waits(clings)
    cancels = canceller(lambda decision: decision.with_canceling_steps(step))
    run = await run_of(runtime, step, cancels)
    result = await finished(run)
    await asyncio.sleep(1)
    assert [end.document for end in result.completions] == ["own"]
    assert await run.stream(PROGRESS) == ()
    assert len(told) == 2
    assert all("the attempt is over (cancelled)" in text for text in told)
    assert await telemetry(run, "late_write") != []


@pytest.mark.rule("2.7/sync", "2.7/late")
def test_a_sync_handler_sees_that_it_is_cancelled() -> None:
    """It cannot be interrupted: it asks, and what it gives then is dropped."""
    begun, seen = threading.Event(), threading.Event()

    def works(context: Context, input: Any) -> StepDecision:
        begun.set()
        for _ in range(2000):
            if context.is_cancellation_requested():
                seen.set()
                break
            threading.Event().wait(0.005)
        return graceful_complete("late")

    step = waits(works)

    async def cancels(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.to_thread(begun.wait, 10)
        return dead_end().with_canceling_steps(step)

    async def main() -> None:
        async with Runtime(MemoryProvider()) as runtime:
            run = await run_of(runtime, step, waits(cancels))
            assert await asyncio.to_thread(seen.wait, 10)
            await asyncio.sleep(0.05)
            assert (await run.state()).completions == []
            assert await run.status() == "RUNNING"

    Clock.real().run(main())


@pytest.mark.rule("2.7/stop-cancel", "2.7/stop-terminate", "2.7/stop-fail")
@pytest.mark.parametrize(
    ("stop", "status", "error"),
    [
        (Stop("CANCEL", "enough"), "CANCELED", ""),
        (Stop("TERMINATE", "enough"), "TERMINATED", ""),
        (Stop("FAIL", "enough"), "FAILED", "CLIENT_API_FAILED"),
    ],
)
@on_stores
async def test_a_stop_ends_waiting_and_running_steps(
    runtime: Runtime, stop: Stop, status: str, error: str
) -> None:
    """At once; a running Step may clean up in its CancelledError."""
    seen: list[str] = []

    async def sends(context: AsyncContext, input: Any) -> Wait:
        return Wait.until(NOTES.for_one())

    run = await run_of(runtime, worker(seen), waits(recovers, sends, name="Sleeper"))
    await asyncio.sleep(2)
    await tell(runtime, run, stop)
    result = await finished(run)
    await asyncio.sleep(0.1)
    assert (result.status, result.error_type, result.error_message) == (status, error, "enough")
    assert seen == ["Works-1 1 at 2"]
    assert clock() < 3
