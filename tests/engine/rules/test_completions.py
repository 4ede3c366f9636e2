"""How Flows end that have several branches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Channel,
    StepDecision,
    StepMovement,
    StepOptions,
    ValueMappingError,
    Wait,
    dead_end,
    force_complete,
    force_complete_if_channels_empty,
    force_fail,
    go_to,
    go_to_many,
    graceful_complete,
)
from dexnb.engine import AsyncRun, FlowResult, Runtime
from dexnb.model.decision import Movement
from dexnb.model.message import RpcDone
from tests.engine.flows import finished
from tests.engine.rules.made import clock, flow_of, kinds, on_stores, publish, started, tell, waits

NOTES = Channel("notes", str)
OTHER = Channel("other", str)


def branches(*decisions: Callable[[], StepDecision]) -> Any:
    """Make a Flow of one branch for each decision; the n-th decides after n seconds."""

    async def decides(context: AsyncContext, input: int) -> StepDecision:
        await asyncio.sleep(input + 1)
        return decisions[input]()

    step = waits(decides)

    async def splits(context: AsyncContext, input: Any) -> StepDecision:
        return go_to_many(*(StepMovement.of(step, place) for place in range(len(decisions))))

    return flow_of(waits(splits), step, keeps=(NOTES, OTHER))


def outputs(result: FlowResult) -> list[Any]:
    """Give what the branches gave, in order."""
    return [end.document for end in result.completions if end.has_output]


@pytest.mark.rule("2.10/graceful", "2.10/all-outputs", "2.10/single-output")
@on_stores
async def test_a_flow_completes_with_its_last_branch(runtime: Runtime) -> None:
    """Every output is kept; asking for the single one of several is an error."""
    made = branches(lambda: graceful_complete("a"), dead_end, lambda: graceful_complete("b"))
    result = await finished(await started(runtime, made))
    assert (result.status, outputs(result)) == ("COMPLETED", ["a", "b"])
    assert clock() == pytest.approx(3)
    with pytest.raises(ValueMappingError, match="has 2 outputs"):
        result.single_output(str)


@pytest.mark.rule("2.10/single-output")
@pytest.mark.parametrize(("ends", "count"), [((graceful_complete,), 0), ((), 1)])
@on_stores
async def test_the_single_output_is_the_only_one(
    runtime: Runtime, ends: tuple[Any, ...], count: int
) -> None:
    """A branch that ended without one does not count."""
    made = branches(*ends, *[lambda: graceful_complete(7)] * count)
    result = await finished(await started(runtime, made))
    if count:
        assert result.single_output(int) == 7
    else:
        with pytest.raises(ValueMappingError, match="has 0 outputs"):
            result.single_output(int)


@pytest.mark.rule("2.10/force", "2.10/force-keeps")
@on_stores
async def test_force_complete_ends_the_flow_and_keeps_earlier_outputs(runtime: Runtime) -> None:
    """The branch that is not ready is cancelled."""
    made = branches(
        lambda: graceful_complete("early"),
        lambda: force_complete("now"),
        lambda: graceful_complete("never"),
    )
    run = await started(runtime, made)
    result = await finished(run)
    assert (result.status, outputs(result)) == ("COMPLETED", ["early", "now"])
    assert clock() == pytest.approx(2)
    assert (await kinds(run))[-2:] == ["step_cancelled", "flow_closed"]


@pytest.mark.rule("2.10/fail")
@on_stores
async def test_force_fail_ends_the_flow_with_its_reason(runtime: Runtime) -> None:
    """Outputs that were there are kept beside the failure."""
    made = branches(lambda: graceful_complete("early"), lambda: force_fail("enough"), dead_end)
    result = await finished(await started(runtime, made))
    assert (result.status, result.error_type) == ("FAILED", "STEP_DECISION_FAILED")
    assert (result.error_message, outputs(result)) == ("enough", ["early"])
    assert clock() == pytest.approx(2)


@pytest.mark.rule("2.10/dead-end", "2.10/stays-open")
@on_stores
async def test_a_flow_with_nothing_active_stays_open_until_somebody_adds_a_step(
    runtime: Runtime,
) -> None:
    """Here an RPC does; a stop would end it too."""
    made = branches(dead_end, dead_end)
    run = await started(runtime, made)
    await asyncio.sleep(10_000)
    state = await run.state()
    assert (state.status, state.active) == ("RUNNING", {})
    made_again = branches(lambda: force_complete("added"))
    runtime.register(made_again)
    await tell(runtime, run, RpcDone("r1", "add", {}, (Movement("Decides", 0),)))
    assert outputs(await finished(run)) == ["added"]
    second = await started(runtime, branches(dead_end), flow_id="second")
    await asyncio.sleep(100)
    await second.stop()
    assert (await finished(second)).status == "CANCELED"


def consumer(seconds: float) -> Any:
    """Make a Flow whose Step takes one note after the other, and completes over no more."""

    async def takes(context: AsyncContext, input: Any) -> StepDecision:
        (note,) = NOTES.results(context)
        await asyncio.sleep(seconds)
        done = int(input) + 1
        return force_complete_if_channels_empty([done, note], StepMovement.of(step, done), NOTES)

    async def for_one(context: AsyncContext, input: Any) -> Wait:
        return Wait.until(NOTES.for_one())

    step = waits(takes, for_one)
    return flow_of(step, keeps=(NOTES, OTHER))


@pytest.mark.rule("2.10/conditional", "2.10/conditional-fallback")
@on_stores
async def test_a_consumer_completes_only_over_an_empty_channel(runtime: Runtime) -> None:
    """A message that comes while it decides leads to the fallback and is not lost."""
    run = await started(runtime, consumer(10), 0)
    await publish(runtime, run, "notes", "a", "b")
    await asyncio.sleep(15)
    await publish(runtime, run, "notes", "c")
    await publish(runtime, run, "other", "does not count")
    assert (await finished(run)).output == [3, "c"]
    assert list((await run.state()).channels) == ["other"]


@pytest.mark.rule("2.10/conditional-handled")
@on_stores
async def test_a_message_that_a_neighbour_still_handles_keeps_the_channel_filled(
    runtime: Runtime,
) -> None:
    """The quick one goes on to its fallback; the slow one's own message does not count."""
    sleeps = {"quick": 1, "slow": 20}

    async def takes(context: AsyncContext, input: Any) -> StepDecision:
        (note,) = NOTES.results(context)
        await asyncio.sleep(sleeps[note])
        return force_complete_if_channels_empty(note, StepMovement.of(again, note), NOTES)

    async def for_one(context: AsyncContext, input: Any) -> Wait:
        return Wait.until(NOTES.for_one())

    async def falls_back(context: AsyncContext, input: Any) -> StepDecision:
        return graceful_complete(f"after {input}")

    async def splits(context: AsyncContext, input: Any) -> StepDecision:
        NOTES.publish(context, "quick")
        NOTES.publish(context, "slow")
        return go_to_many(StepMovement.of(step, 0), StepMovement.of(step, 0))

    step, again = waits(takes, for_one), waits(falls_back)
    run = await started(runtime, flow_of(waits(splits), step, again, keeps=(NOTES, OTHER)))
    result = await finished(run)
    assert outputs(result) == ["after quick", "slow"]
    assert clock() == pytest.approx(20)


def both_at_once(step: Any) -> StepDecision:
    """Close and go on."""
    return StepDecision("force_complete", movements=(StepMovement.of(step, None),))


five: Any = 5
MISTAKES: list[tuple[Any, str]] = [
    (both_at_once, "decision force_complete has movements"),
    (lambda _: force_fail(five), "force_fail reason is 5: give a str"),
    (lambda _: StepDecision("dead_end", output=1), "decision dead_end has an output"),
    (lambda _: go_to_many(), "decision next has no movement"),
]


@pytest.mark.rule(
    "2.10/refuse-both", "2.10/refuse-reason", "2.10/refuse-dead-end", "2.10/refuse-empty"
)
@pytest.mark.parametrize(("decide", "text"), MISTAKES)
@on_stores
async def test_a_decision_that_cannot_hold_fails_the_step_at_once(
    runtime: Runtime, decide: Callable[[Any], StepDecision], text: str
) -> None:
    """Once, by name, and nothing of it happens."""
    seen: list[int] = []

    async def decides(context: AsyncContext, input: Any) -> StepDecision:
        seen.append(context.attempt)
        NOTES.publish(context, "nobody reads this")
        return decide(step)

    step = waits(decides)
    run: AsyncRun = await started(runtime, flow_of(step, keeps=(NOTES, OTHER)))
    result = await finished(run)
    assert text in result.error_message
    assert (result.status, seen, (await run.state()).channels) == ("FAILED", [1], {})


@pytest.mark.rule("2.10/conditional", "2.7/order")
@pytest.mark.parametrize("change", ["publishes", "deletes", "deletes and publishes", "nothing"])
@on_stores
async def test_a_conditional_completion_looks_at_what_its_own_step_leaves(
    runtime: Runtime, change: str
) -> None:
    """Own writes come first; a branch that went on to its fallback has given no output."""
    loads = StepOptions(execute_load_channels=(NOTES,))

    async def decides(context: AsyncContext, input: Any) -> StepDecision:
        if "deletes" in change:
            for message in NOTES.pending_messages(context):
                NOTES.delete(context, message.message_id)
        if "publishes" in change:
            NOTES.publish(context, "own")
        return force_complete_if_channels_empty("done", StepMovement.of(fallback, None), NOTES)

    async def falls_back(context: AsyncContext, input: Any) -> StepDecision:
        return graceful_complete("fallback")

    async def first(context: AsyncContext, input: Any) -> StepDecision:
        if "deletes" in change:
            NOTES.publish(context, "old")
        return go_to(step, None)

    step, fallback = waits(decides, options=loads), waits(falls_back)
    run = await started(runtime, flow_of(waits(first), step, fallback, keeps=(NOTES, OTHER)))
    result = await finished(run)
    assert outputs(result) == ["fallback" if "publishes" in change else "done"]
