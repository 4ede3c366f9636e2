"""What a method writes: all of it with its end, or nothing; and what the next attempt sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Channel,
    RetryPolicy,
    StartFlowOptions,
    StepDecision,
    StepOptions,
    Stream,
    Timer,
    Wait,
    dead_end,
    go_to,
    graceful_complete,
)
from dexnb.engine import AsyncRun, Runtime
from tests.engine.flows import finished
from tests.engine.rules.made import (
    clock,
    flow_of,
    kinds,
    of_kind,
    on_stores,
    publish,
    started,
    waits,
)

COUNT = Attribute("count", int)
ORDERS = AttributeMap("orders", str)
NOTES = Channel("notes", str)
PROGRESS = Stream("Progress", str, 1 << 20)
KEEPS = (COUNT, ORDERS, NOTES, PROGRESS)
SOON = RetryPolicy(initial_interval=timedelta(seconds=2), maximum_attempts=3)
RETRIES = StepOptions(wait_for_retry=SOON, execute_retry=SOON, execute_load_channels=(NOTES,))


def write_everything(context: AsyncContext, value: str) -> None:
    """Write one of everything that a method can write."""
    COUNT.set(context, COUNT.get(context) + 1)
    ORDERS.set(context, value, value)
    NOTES.publish(context, value)
    context.record_event(f"seen {value}", value)
    context.set_step_execution_local(value, value)


async def ends(context: AsyncContext, input: Any) -> StepDecision:
    """Complete without an output."""
    return graceful_complete()


async def skips(context: AsyncContext, input: Any) -> Wait:
    """Wait for nothing."""
    return Wait.skip_immediately()


async def nothing_is_written(run: AsyncRun) -> bool:
    """Tell that no write of any method has reached the run."""
    state = await run.state()
    texts = [str(event.payload.get("writes", "")) for event in await run.events()]
    return (state.attributes, state.channels, set(texts)) == ({}, {}, {""})


@pytest.mark.rule("2.2/wait-commit", "2.2/events")
@on_stores
async def test_all_that_wait_for_writes_comes_with_its_wait(runtime: Runtime) -> None:
    """One event has the conditions and everything else."""

    async def writes(context: AsyncContext, input: Any) -> Wait:
        write_everything(context, "a")
        return Wait.until(Timer.by_duration(timedelta(seconds=9)))

    run = await started(runtime, flow_of(waits(ends, writes), keeps=KEEPS))
    await asyncio.sleep(5)
    (event,) = await of_kind(run, "wait_started")
    state = await run.state()
    assert event.payload["wait"]["conditions"][0]["seconds"] == 9
    assert event.payload["writes"]["recorded"] == {"seen a": "a"}
    assert state.attributes == {"count": 1, "orders/a": "a"}
    assert [value for _, value in state.channels["notes"]] == ["a"]
    assert state.active["Ends-1"].local_values == {"a": "a"}


@pytest.mark.rule("2.2/execute-commit", "2.2/events")
@on_stores
async def test_all_that_execute_writes_comes_with_its_decision(runtime: Runtime) -> None:
    """Written, published and deleted in the event of the decision."""

    async def writes(context: AsyncContext, input: Any) -> StepDecision:
        write_everything(context, "a")
        (first,) = NOTES.pending_messages(context)
        NOTES.delete(context, first.message_id)
        return graceful_complete("done")

    async def first(context: AsyncContext, input: Any) -> StepDecision:
        NOTES.publish(context, "old")
        return go_to(second, None)

    second = waits(writes, options=RETRIES)
    run = await started(runtime, flow_of(waits(first), second, keeps=KEEPS))
    assert (await finished(run)).output == "done"
    *_, event = await of_kind(run, "step_completed")
    assert event.payload["decision"]["output"] == "done"
    assert event.payload["writes"]["recorded"] == {"seen a": "a"}
    state = await run.state()
    assert state.attributes == {"count": 1, "orders/a": "a"}
    assert [value for _, value in state.channels["notes"]] == ["a"]


@pytest.mark.rule("2.2/failed-attempt", "2.2/snapshot-reused")
@pytest.mark.parametrize("method", ["wait_for", "execute"])
@pytest.mark.parametrize("ending", ["raises", "is silent", "is too slow", "gives nonsense"])
@on_stores
async def test_a_failed_attempt_writes_nothing(runtime: Runtime, method: str, ending: str) -> None:
    """Attributes, messages, events and locals of it are gone, however it failed."""
    seen: list[tuple[int, str | None]] = []

    async def fails(context: AsyncContext, input: Any) -> Any:
        seen.append((COUNT.get(context), context.get_step_execution_local("a", str)))
        write_everything(context, "a")
        if ending == "gives nonsense":
            return 5
        if ending == "raises":
            raise ConnectionError
        for _ in range(40 if ending == "is too slow" else 1):
            await asyncio.sleep(1)
            await context.heartbeat()
        await asyncio.sleep(40)
        return None

    fails.__annotations__["return"] = "Wait" if method == "wait_for" else "StepDecision"
    limit = timedelta(seconds=20)
    options = replace(
        RETRIES,
        heartbeat_timeout=timedelta(seconds=15),
        wait_for_method_timeout=limit,
        execute_method_timeout=limit,
    )
    step = (
        waits(ends, fails, options=options)
        if method == "wait_for"
        else waits(fails, skips, options=options)
    )
    run = await started(runtime, flow_of(step, keeps=KEEPS))
    assert (await finished(run)).status == "FAILED"
    assert await nothing_is_written(run)
    assert seen == [(0, None)] * (1 if ending == "gives nonsense" else 3)


@pytest.mark.rule("2.2/locals")
@on_stores
async def test_locals_are_carried_to_execute_and_no_further(runtime: Runtime) -> None:
    """Not to the next execution of the same Step; set again, the newest counts."""
    found: list[Any] = []

    async def sets(context: AsyncContext, input: Any) -> Wait:
        found.append(context.get_step_execution_local("k", str))
        context.set_step_execution_local("k", "old")
        context.set_step_execution_local("k", f"of {input}")
        found.append(context.get_step_execution_local("k", str))
        return Wait.skip_immediately()

    async def reads(context: AsyncContext, input: Any) -> StepDecision:
        found.append(context.get_step_execution_local("k", str))
        found.append(context.get_step_execution_local("other", str))
        return go_to(step, 2) if input == 1 else graceful_complete()

    step = waits(reads, sets, name="Sets")
    await finished(await started(runtime, flow_of(step, keeps=KEEPS), 1))
    assert found == [None, "of 1", "of 1", None, None, "of 2", "of 2", None]


@pytest.mark.rule("2.2/snapshot-reused", "2.9/plain-loaded")
@on_stores
async def test_all_attempts_see_what_was_there_when_the_method_was_scheduled(
    runtime: Runtime,
) -> None:
    """Not what a neighbour has written since; the next method does."""
    seen: list[tuple[int, list[str]]] = []

    async def looks(context: AsyncContext, input: Any) -> StepDecision:
        notes = [message.value for message in NOTES.pending_messages(context)]
        seen.append((COUNT.get(context), notes))
        if context.attempt < 3:
            raise ConnectionError
        return go_to(last, None)

    async def last_look(context: AsyncContext, input: Any) -> StepDecision:
        seen.append((COUNT.get(context), [each.value for each in NOTES.pending_messages(context)]))
        return graceful_complete()

    last = waits(last_look, options=RETRIES)
    begin = StartFlowOptions().with_attribute(COUNT, 7)
    made = flow_of(waits(looks, options=RETRIES), last, keeps=KEEPS)
    run = await started(runtime, made, options=begin)
    await asyncio.sleep(1)
    await publish(runtime, run, "notes", "late")
    await finished(run)
    assert seen == [(7, []), (7, []), (7, []), (7, ["late"])]


@pytest.mark.rule("2.2/snapshot-time")
@on_stores
async def test_a_snapshot_is_older_than_the_first_attempt_when_that_is_put_off(
    runtime: Runtime,
) -> None:
    """It is taken when the method is scheduled: here half a minute before a slot is free."""
    seen: list[int] = []
    runtime.options.worker_concurrency = 1

    async def busy(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(30)
        return graceful_complete()

    async def looks(context: AsyncContext, input: Any) -> StepDecision:
        seen.append(NOTES.size(context))
        return go_to(second, None) if len(seen) == 1 else graceful_complete()

    second = waits(looks, name="Second")
    await started(runtime, flow_of(waits(busy)), flow_id="busy")
    await asyncio.sleep(1)
    run = await started(runtime, flow_of(waits(looks), second, keeps=KEEPS))
    await asyncio.sleep(10)
    await publish(runtime, run, "notes", "before the first attempt")
    await finished(run)
    assert seen == [0, 1]


@pytest.mark.rule("2.2/outside-commit", "2.2/outside-repeats", "2.3/no-history")
@on_stores
async def test_messages_are_seen_at_once_and_again_after_a_retry(runtime: Runtime) -> None:
    """They stand outside of what an attempt commits; heartbeats leave no durable event."""

    async def reports(context: AsyncContext, input: Any) -> StepDecision:
        PROGRESS.write(context, "half")
        await context.heartbeat(50)
        await asyncio.sleep(10)
        if context.attempt == 1:
            raise ConnectionError
        return graceful_complete()

    run = await started(runtime, flow_of(waits(reports, options=RETRIES), keeps=KEEPS))
    await asyncio.sleep(5)
    assert [message.value for message in await run.stream(PROGRESS)] == ["half"]
    await finished(run)
    assert [message.value for message in await run.stream(PROGRESS)] == ["half", "half"]
    assert await kinds(run) == ["flow_started", "step_scheduled", "step_completed", "flow_closed"]


@pytest.mark.rule("2.5/wait-for-own", "2.5/visible")
@on_stores
async def test_each_method_counts_its_own_attempts_and_time(runtime: Runtime) -> None:
    """The other begins with attempt 1, though wait_for needed three, and long after."""
    seen: list[tuple[str, int, float]] = []

    def note(method: str, context: AsyncContext) -> None:
        seen.append((method, context.attempt, context.first_attempt_at.timestamp()))
        if context.attempt < 3:
            raise ConnectionError

    async def tries(context: AsyncContext, input: Any) -> Wait:
        note("wait_for", context)
        return Wait.until(Timer.by_duration(timedelta(seconds=100)))

    async def acts(context: AsyncContext, input: Any) -> StepDecision:
        note("execute", context)
        return graceful_complete()

    made = flow_of(waits(acts, tries, options=RETRIES), keeps=KEEPS)
    await finished(await started(runtime, made))
    assert [(method, attempt) for method, attempt, _ in seen] == [
        (method, attempt) for method in ("wait_for", "execute") for attempt in (1, 2, 3)
    ]
    begins = [first for _, _, first in seen]
    assert begins[0] == begins[1] == begins[2]
    assert begins[3] == begins[4] == begins[5] == begins[0] + 106
    assert clock() == pytest.approx(112)


@pytest.mark.rule("2.3/handed-over")
@on_stores
async def test_a_checkpoint_of_wait_for_is_not_read_by_execute(runtime: Runtime) -> None:
    """Each series of attempts has a checkpoint of its own."""
    read: list[Any] = []

    def look(context: AsyncContext) -> int:
        read.append(context.get_last_heartbeat_value(str))
        return context.attempt

    async def beats(context: AsyncContext, input: Any) -> Wait:
        if look(context) == 1:
            await context.heartbeat("of wait_for")
            raise ConnectionError
        return Wait.skip_immediately()

    async def reads(context: AsyncContext, input: Any) -> StepDecision:
        look(context)
        return graceful_complete()

    made = flow_of(waits(reads, beats, options=RETRIES), keeps=KEEPS)
    await finished(await started(runtime, made))
    assert read == [None, "of wait_for", None]


@pytest.mark.rule("2.9/maps-declared", "2.9/plain-loaded")
@pytest.mark.parametrize("method", ["wait_for", "execute"])
@on_stores
async def test_what_is_not_loaded_is_refused_by_name_and_not_retried(
    runtime: Runtime, method: str
) -> None:
    """Loads of one method are not the other's; a plain Attribute needs none."""
    reads: Callable[[AsyncContext], Any] = lambda context: ORDERS.get(context, "a")  # noqa: E731

    async def waiting(context: AsyncContext, input: Any) -> Wait:
        COUNT.get(context)
        if method == "wait_for":
            reads(context)
        return Wait.skip_immediately()

    async def acts(context: AsyncContext, input: Any) -> StepDecision:
        reads(context)
        return dead_end()

    options = StepOptions(
        wait_for_load_attribute_maps=() if method == "wait_for" else (ORDERS,),
        execute_load_attribute_maps=(ORDERS,) if method == "wait_for" else (),
    )
    run = await started(runtime, flow_of(waits(acts, waiting, options=options), keeps=KEEPS))
    result = await finished(run)
    assert "orders" in result.error_message
    (event,) = await of_kind(run, "step_failed")
    assert event.payload["failure"]["error_type"] == "dexnb.errors.AttributeMapNotLoadedError"
    assert (event.attempt, clock()) == (1, 0)
