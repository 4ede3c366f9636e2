"""Waits of real Steps: phases, Timers, who gets which message, and what the losers keep."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Channel,
    Clock,
    ConditionCombination,
    StepDecision,
    StepMovement,
    StepOptions,
    SubFlow,
    Timer,
    Wait,
    dead_end,
    go_to_many,
    graceful_complete,
)
from dexnb.engine import Runtime
from dexnb.engine.readiness import results_of
from dexnb.model.decision import Movement
from dexnb.model.step_execution import StepExecution
from dexnb.providers.sqlite import SqliteProvider
from tests.engine.flows import fast, finished, telemetry
from tests.engine.rules.made import (
    clock,
    flow_of,
    kinds,
    of_kind,
    on_stores,
    publish,
    skip_timer,
    started,
    waits,
)

NOTES = Channel("notes", str)
OTHER = Channel("other", str)
KEEPS = (NOTES, OTHER)


async def tells(context: AsyncContext, input: Any) -> StepDecision:
    """End with the Timers that fired, and what each Channel gave."""
    return graceful_complete(
        [
            context.has_timer_fired(),
            list(NOTES.results(context)),
            list(OTHER.results(context)),
        ]
    )


def until(*given: Any) -> Any:
    """Make a wait_for that waits for what is given."""

    async def wait_for(context: AsyncContext, input: Any) -> Wait:
        return given[0] if isinstance(given[0], Wait) else Wait.all_of(*given)

    return wait_for


def timer(seconds: float, name: str | None = None) -> Any:
    """Make a Timer."""
    return Timer.by_duration(timedelta(seconds=seconds), condition_id=name)


@pytest.mark.rule("2.2/phases", "2.8/timer", "2.12/explicit-heartbeats")
@on_stores
async def test_the_phases_of_an_execution_follow_in_order(runtime: Runtime) -> None:
    """start, wait_for, waiting, execute, decision; nobody beats while it waits."""
    run = await started(runtime, flow_of(waits(tells, until(timer(90))), keeps=KEEPS))
    result = await finished(run)
    assert result.output == [True, [], []]
    assert clock() == pytest.approx(90)
    assert await kinds(run) == [
        "flow_started",
        "step_scheduled",
        "wait_started",
        "timer_fired",
        "wait_ended",
        "step_completed",
        "flow_closed",
    ]
    attempts = await telemetry(run, "attempt_started", "heartbeat")
    assert [event.kind for event in attempts] == ["attempt_started", "attempt_started"]


@pytest.mark.rule("2.2/durable-waiting", "2.11/timer")
def test_a_wait_goes_on_in_the_next_engine(tmp_path: Any) -> None:
    """No attempt runs meanwhile; the Timer is due when it would have been."""
    made = flow_of(waits(tells, until(Wait.any_of(timer(60), NOTES.for_one()))), keeps=KEEPS)

    async def main() -> None:
        async with Runtime(SqliteProvider(tmp_path / "runs.db"), options=fast()) as first:
            await started(first, made)
            await asyncio.sleep(10)
            assert first.engine.worker.live == {}
        async with Runtime(SqliteProvider(tmp_path / "runs.db"), options=fast()) as second:
            second.register(made)
            assert (await finished(await second.get("flow"))).output[0] is True
        assert clock() == pytest.approx(60)

    Clock.virtual().run(main())


@pytest.mark.rule("2.8/skip")
@on_stores
async def test_a_skipped_wait_takes_no_time(runtime: Runtime) -> None:
    """The other method follows at once, and has no results."""
    run = await started(runtime, flow_of(waits(tells, until(Wait.skip_immediately())), keeps=KEEPS))
    assert (await finished(run)).output == [False, [], []]
    assert clock() == 0


@pytest.mark.rule("2.8/timer-whole")
@on_stores
async def test_a_timer_of_a_fraction_of_a_second_is_taken(runtime: Runtime) -> None:
    """Short demos need them."""
    run = await started(runtime, flow_of(waits(tells, until(timer(0.25))), keeps=KEEPS))
    await finished(run)
    assert clock() == pytest.approx(0.25)


@pytest.mark.rule("2.8/timer-skip")
@on_stores
async def test_a_skipped_timer_has_fired_for_execute(runtime: Runtime) -> None:
    """The rest of its time is not waited for."""
    run = await started(runtime, flow_of(waits(tells, until(timer(3600))), keeps=KEEPS))
    await asyncio.sleep(5)
    await skip_timer(runtime, run, "Tells-1")
    assert (await finished(run)).output[0] is True
    assert clock() < 6


@pytest.mark.rule("2.8/fifo", "2.8/kept", "2.8/for-n")
@on_stores
async def test_two_of_three_early_messages_are_taken_in_their_order(runtime: Runtime) -> None:
    """The third stays pending."""

    async def sleeps(context: AsyncContext, input: Any) -> Wait:
        await asyncio.sleep(5)
        return Wait.until(NOTES.for_n(2))

    run = await started(runtime, flow_of(waits(tells, sleeps), keeps=KEEPS))
    await publish(runtime, run, "notes", "a", "b")
    await publish(runtime, run, "notes", "c")
    assert (await finished(run)).output[1] == ["a", "b"]
    pending = (await run.state()).channels["notes"]
    assert [value for _, value in pending] == ["c"]


@pytest.mark.rule("2.8/one-consumer", "2.8/fifo")
@on_stores
async def test_of_many_waiting_steps_each_takes_a_message_of_its_own(runtime: Runtime) -> None:
    """Twenty messages, twenty consumers, none twice."""
    taken: list[str] = []

    async def takes(context: AsyncContext, input: Any) -> StepDecision:
        taken.extend(NOTES.results(context))
        return graceful_complete()

    consumer = waits(takes, until(NOTES.for_one()), name="Takes")

    async def splits(context: AsyncContext, input: Any) -> StepDecision:
        return go_to_many(*(StepMovement.of(consumer, None) for _ in range(20)))

    run = await started(runtime, flow_of(waits(splits), consumer, keeps=KEEPS))
    await asyncio.sleep(1)
    for number in range(20):
        await publish(runtime, run, "notes", f"{number:02}")
    await finished(run)
    assert sorted(taken) == [f"{number:02}" for number in range(20)]


@pytest.mark.rule("2.8/order-kinds", "2.8/any-wins", "2.8/losers")
@on_stores
async def test_a_timer_that_is_ready_goes_before_a_channel_that_was_named_first(
    runtime: Runtime,
) -> None:
    """Only the winner consumes: the message stays."""
    wait = Wait.any_of(NOTES.for_one(), timer(0))

    async def sends(context: AsyncContext, input: Any) -> Wait:
        NOTES.publish(context, "stays")
        return wait

    run = await started(runtime, flow_of(waits(tells, sends), keeps=KEEPS))
    assert (await finished(run)).output == [True, [], []]
    assert [value for _, value in (await run.state()).channels["notes"]] == ["stays"]


@pytest.mark.rule("2.8/order-declared", "2.8/any-wins", "2.8/losers")
@pytest.mark.parametrize("first", ["notes", "other"])
@on_stores
async def test_of_two_ready_channels_the_one_declared_first_wins(
    runtime: Runtime, first: str
) -> None:
    """The other keeps its message."""
    ordered = (NOTES, OTHER) if first == "notes" else (OTHER, NOTES)

    async def sends(context: AsyncContext, input: Any) -> Wait:
        OTHER.publish(context, "o")
        NOTES.publish(context, "n")
        return Wait.any_of(*(channel.for_one() for channel in ordered))

    run = await started(runtime, flow_of(waits(tells, sends), keeps=KEEPS))
    output = (await finished(run)).output
    assert output[1:] == ([["n"], []] if first == "notes" else [[], ["o"]])
    assert list((await run.state()).channels) == [ordered[1].name]


@pytest.mark.rule("2.8/all")
@on_stores
async def test_all_of_takes_nothing_before_everything_is_ready(runtime: Runtime) -> None:
    """Until then another Step could take the message."""
    wait = Wait.all_of(NOTES.for_one(), OTHER.for_one(), timer(20))
    run = await started(runtime, flow_of(waits(tells, until(wait)), keeps=KEEPS))
    await publish(runtime, run, "notes", "n")
    await asyncio.sleep(30)
    assert list((await run.state()).channels) == ["notes"]
    await publish(runtime, run, "other", "o")
    assert (await finished(run)).output == [True, ["n"], ["o"]]


@pytest.mark.rule("2.8/combinations")
@on_stores
async def test_the_first_declared_of_two_ready_combinations_wins(runtime: Runtime) -> None:
    """A condition may stand in both; what only the other names stays."""
    note = NOTES.for_one(condition_id="note")
    both = ConditionCombination.of(note, OTHER.for_one(condition_id="other"))
    alone = ConditionCombination.of(note)

    async def sends(context: AsyncContext, input: Any) -> Wait:
        NOTES.publish(context, "n")
        OTHER.publish(context, "o")
        return Wait.any_combination_of(*((alone, both) if input else (both, alone)))

    made = flow_of(waits(tells, sends), keeps=KEEPS)
    run = await started(runtime, made, input=True)
    assert (await finished(run)).output == [False, ["n"], []]
    assert list((await run.state()).channels) == ["other"]
    run = await started(runtime, made, input=False, flow_id="second")
    assert (await finished(run)).output == [False, ["n"], ["o"]]


@pytest.mark.rule("2.8/minimum-first", "2.8/at-most")
@on_stores
async def test_minimums_are_met_before_extras_and_a_maximum_alone_is_ready(
    runtime: Runtime,
) -> None:
    """Two conditions on one Channel never count a message twice."""

    async def sends(context: AsyncContext, input: Any) -> Wait:
        for number in range(5):
            NOTES.publish(context, str(number))
        return Wait.all_of(NOTES.for_range(at_least=1, at_most=2), NOTES.for_n(2), OTHER.at_most(3))

    run = await started(runtime, flow_of(waits(tells, sends), keeps=KEEPS))
    assert (await finished(run)).output == [False, ["0", "1", "2", "3"], []]
    assert [value for _, value in (await run.state()).channels["notes"]] == ["4"]


@pytest.mark.rule("2.8/order-kinds")
@pytest.mark.parametrize("without", [0, 1])
def test_timers_go_before_channels_and_these_before_subflows(without: int) -> None:
    """Whatever the order of declaration; here all are ready in one look, and one wins alone."""
    conditions: list[dict[str, Any]] = [
        {"kind": "subflow"},
        {"kind": "channel", "channel": "c", "at_least": 1, "at_most": 1},
        {"kind": "timer"},
    ]
    conditions = conditions[: 3 - without]
    step = StepExecution(Movement("A"))
    step.wait = {"kind": "any_of", "conditions": conditions, "combinations": []}
    step.fired = [2]
    step.subflows = {"0": {"status": "COMPLETED"}}
    results = results_of(step, {"c": [["1", "message"]]})
    assert results is not None
    consumed = bool(results["messages"])
    assert consumed is (without == 1)


@pytest.mark.rule("2.8/subflow-running")
@on_stores
async def test_a_subflow_that_lost_is_seen_running_and_goes_on(runtime: Runtime) -> None:
    """The Timer wins; the child completes by itself."""

    async def slow(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(30)
        return graceful_complete("child")

    child = flow_of(waits(slow), name="Child")

    async def looks(context: AsyncContext, input: Any) -> StepDecision:
        status = SubFlow.get_condition_results(context).status
        return graceful_complete([status, SubFlow.get_flow_id(context)])

    async def both(context: AsyncContext, input: Any) -> Wait:
        return Wait.any_of(SubFlow.run(child, None), timer(5))

    runtime.register(child)
    run = await started(runtime, flow_of(waits(looks, both)))
    status, flow_id = (await finished(run)).output
    assert (status, flow_id) == ("RUNNING", "SubFlow:flow-Looks-1-0")
    assert (await finished(await runtime.get(flow_id))).output == "child"


@pytest.mark.rule("2.8/delete")
@on_stores
async def test_a_deleted_message_is_gone_unless_another_step_took_it_first(
    runtime: Runtime,
) -> None:
    """Deleting what is not there any more is no error."""
    options = StepOptions(execute_load_channels=(NOTES,))

    async def deletes(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(5)
        for message in NOTES.pending_messages(context):
            NOTES.delete(context, message.message_id)
        return dead_end()

    consumer = waits(tells, until(NOTES.for_one()), name="Takes")
    deleter = waits(deletes, options=options)

    async def splits(context: AsyncContext, input: Any) -> StepDecision:
        NOTES.publish(context, "first")
        NOTES.publish(context, "second")
        return go_to_many(StepMovement.of(deleter, None), StepMovement.of(consumer, None))

    run = await started(runtime, flow_of(waits(splits), deleter, consumer, keeps=KEEPS))
    result = await finished(run)
    assert result.output[1] == ["first"]
    assert (await run.state()).channels == {}
    assert len(await of_kind(run, "step_completed")) == 3
