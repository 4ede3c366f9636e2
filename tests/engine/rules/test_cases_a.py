"""Real-world cases A where waits, Channels, Timers and Attributes are concerned."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Generator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

import dexnb
from dexnb import (
    AsyncContext,
    Attribute,
    Channel,
    Clock,
    Context,
    FlowDefinitionError,
    RetryPolicy,
    StepDecision,
    StepOptions,
    StepOutput,
    Timer,
    Wait,
    go_to,
    graceful_complete,
    heartbeat,
)
from dexnb.engine import Runtime
from dexnb.errors import DefinitionError
from dexnb.model.message import Published
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import failure_of, fast, finished, history, telemetry, virtual
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

NOTE = Attribute("note", str)
RATIO = Attribute("ratio", float)
NOTES = Channel("notes", str)
THINGS = Channel("things", Any)
KEEPS = (NOTE, RATIO, NOTES, THINGS)


def timer(seconds: float) -> Any:
    """Make a Timer."""
    return Timer.by_duration(timedelta(seconds=seconds))


async def skips(context: AsyncContext, input: Any) -> Wait:
    """Wait for nothing."""
    return Wait.skip_immediately()


async def tells(context: AsyncContext, input: Any) -> StepDecision:
    """End with what the wait gave."""
    return graceful_complete([context.has_timer_fired(), list(NOTES.results(context))])


@on_stores
async def test_a07_a_timed_out_wait_for_that_ends_well_after_all_changes_nothing(
    runtime: Runtime,
) -> None:
    """Its wait, messages and locals are refused; the second attempt's stand; the timeline tells."""

    async def clings(context: AsyncContext, input: Any) -> Wait:
        NOTES.publish(context, f"of attempt {context.attempt}")
        NOTE.set(context, f"of attempt {context.attempt}")
        if context.attempt == 1:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(1e6)
            return Wait.until(timer(1))
        return Wait.all_of(timer(100), NOTES.at_least(1))

    options = StepOptions(heartbeat_timeout=timedelta(seconds=10))
    run = await started(runtime, flow_of(waits(tells, clings, options=options), keeps=KEEPS))
    assert (await finished(run)).output == [True, ["of attempt 2"]]
    assert clock() == pytest.approx(111)
    state = await run.state()
    assert (state.attributes, state.channels) == ({"note": "of attempt 2"}, {})
    (note,) = await telemetry(run, "late_write")
    assert (note.attempt, note.payload["reason"]) == (1, "failed")


@virtual
async def test_a10_a_wait_outlasts_a_store_that_is_away_for_a_moment() -> None:
    """wait_for is not run again, and its Timer is due once, when it should be."""
    ran: list[float] = []

    async def notes(context: AsyncContext, input: Any) -> Wait:
        ran.append(clock())
        NOTES.publish(context, "once")
        return Wait.until(timer(60))

    store = FaultyProvider(MemoryProvider())
    store.faults += [Fault("ack_work_item", calls={1, 2, 3, 4})]
    store.faults += [Fault("ack_work_item_with_turn", calls={1, 2, 3, 4})]
    store.faults += [Fault("ack_orchestration_item", calls={1, 2}, applied=True)]
    async with Runtime(store, options=fast()) as runtime:
        run = await started(runtime, flow_of(waits(tells, notes), keeps=KEEPS))
        await finished(run)
        assert ran == [0]
        assert clock() == pytest.approx(60, abs=1)
        assert [event.attempt for event in await of_kind(run, "wait_started")] == [1]
        assert len((await run.state()).channels["notes"]) == 1
        assert len(await of_kind(run, "timer_fired")) == 1


@pytest.mark.timing
def test_a12_a_blocking_wait_for_holds_up_no_timer_of_another_flow() -> None:
    """Waits end on the control side: a Timer is on time while a Step blocks the Steps' loop."""

    async def blocks(context: AsyncContext, input: Any) -> Wait:
        time.sleep(1.5)  # noqa: ASYNC251 - the mistake under test
        return Wait.skip_immediately()

    async def many(context: AsyncContext, input: Any) -> Wait:
        return Wait.until(timer(0.6))

    waiting = flow_of(waits(tells, many, name="Waiting"), keeps=KEEPS, name="Waiting")
    blocking = flow_of(waits(tells, blocks, name="Blocking"), keeps=KEEPS, name="Blocking")
    with dexnb.open("memory:") as session:
        runs = [session.start(waiting, f"waits-{number}") for number in range(5)]
        time.sleep(0.2)
        session.start(blocking, "blocks")
        for run in runs:
            run.wait_sync(20)
            at = {event.kind: event.time for event in run.events() if event.durable}
            assert 0.55 < at["timer_fired"] - at["wait_started"] < 0.6 + 0.5


@virtual
async def test_a13_a_timer_a_message_and_a_stop_at_one_moment_end_every_flow() -> None:
    """Three hundred races: each Flow ends by one of them, and no message is taken and kept."""
    dice = random.Random(13)

    async def either(context: AsyncContext, input: Any) -> Wait:
        return Wait.any_of(NOTES.for_one(), timer(5))

    made = flow_of(waits(tells, either), keeps=KEEPS)
    ended: dict[str, int] = {}

    async def race(runtime: Runtime, number: int) -> None:
        run = await started(runtime, made, flow_id=f"flow-{number}")
        moments = [("publish", dice.choice([4.999, 5, 5.001])), ("stop", dice.choice([5, 5.001]))]
        for what, at in sorted(moments, key=lambda moment: (moment[1], dice.random())):
            await asyncio.sleep(max(0.0, at - clock()))
            if what == "publish":
                await runtime.engine.send(run.run_id, Published("notes", ["n"]))
            else:
                await run.stop()
        result = await run.wait(100)
        state = await run.state()
        taken = result.completions[0].document[1] if result.status == "COMPLETED" else []
        kept = [value for _, value in state.channels.get("notes", ())]
        fired = bool(result.completions) and result.completions[0].document[0]
        assert not (fired and taken)
        assert len(taken) + len(kept) <= 1
        way = "CANCELED" if not result.completions else "timer" if fired else "message"
        ended[way] = ended.get(way, 0) + 1

    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        await asyncio.gather(*(race(runtime, number) for number in range(300)))
    assert sum(ended.values()) == 300
    assert len(ended) > 1, ended


@virtual
async def test_a17_a_loop_of_waits_keeps_its_state_small() -> None:
    """Wait, look, go on: the history tells of each round, what a turn reads does not grow."""
    sizes: dict[int, int] = {}

    async def again(context: AsyncContext, input: int) -> StepDecision:
        return go_to(step, input + 1) if input < 130 else graceful_complete()

    async def nap(context: AsyncContext, input: int) -> Wait:
        context.set_step_execution_local("round", input)
        return Wait.any_of(NOTES.for_one(), timer(30))

    step = waits(again, nap)
    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        run = await started(runtime, flow_of(step, keeps=KEEPS), 1)
        for rounds in (20, 120):
            await asyncio.sleep(rounds * 30 + 10 - clock())
            record = await runtime.engine.record(run_id=run.run_id)
            assert record is not None
            sizes[rounds] = len(record.state)
        await finished(run)
    assert sizes[120] <= sizes[20] + 20


BAD = [
    ("initial_interval", timedelta(0)),
    ("initial_interval", timedelta(seconds=-1)),
    ("maximum_interval", timedelta(seconds=-1)),
    ("total_duration", timedelta(0)),
    ("backoff_coefficient", 0.5),
    ("backoff_coefficient", math.inf),
    ("maximum_attempts", -1),
]


@pytest.mark.parametrize(("name", "value"), BAD)
@virtual
async def test_a22_a_retry_policy_of_wait_for_that_cannot_hold_is_refused_by_name(
    name: str, value: Any
) -> None:
    """When the Flow is registered, long before an attempt fails."""
    policy: Any = RetryPolicy(**{name: value})
    made = flow_of(waits(tells, skips, options=StepOptions(wait_for_retry=policy)), keeps=KEEPS)
    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        with pytest.raises(FlowDefinitionError, match=f"wait_for_retry.{name} is "):
            runtime.register(made)


UNFIT: list[tuple[str, Any]] = [
    ("Attribute note set", NOTE.set),
    ("Channel notes publish", NOTES.publish),
    ("Channel things publish", THINGS.publish),
    ("record_event", lambda context, bad: context.record_event("seen", bad)),
    ("set_step_execution_local", lambda context, bad: context.set_step_execution_local("k", bad)),
]


@pytest.mark.parametrize(
    "bad", [object(), "x" * 2_000_000, {"client": object()}], ids=["object", "huge", "client in it"]
)
@pytest.mark.parametrize(("operation", "write"), UNFIT, ids=[case[0] for case in UNFIT])
@pytest.mark.parametrize("method", ["wait_for", "execute"])
@virtual
async def test_a31_a_value_that_cannot_be_stored_is_refused_at_the_call(
    method: str, operation: str, write: Any, bad: Any
) -> None:
    """By name and not retried; what was kept before is untouched, and so is the rest of the run."""
    errors: list[str] = []

    def attempt(context: AsyncContext) -> None:
        NOTE.set(context, "new")
        try:
            write(context, bad)
        except DefinitionError as error:
            errors.append(str(error))
            raise

    async def waiting(context: AsyncContext, input: Any) -> Wait:
        if method == "wait_for":
            attempt(context)
        return Wait.skip_immediately()

    async def acting(context: AsyncContext, input: Any) -> StepDecision:
        attempt(context)
        return graceful_complete()

    options = dexnb.StartFlowOptions().with_attribute(NOTE, "old")
    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        run = await started(runtime, flow_of(waits(acting, waiting), keeps=KEEPS), options=options)
        assert (await finished(run)).status == "FAILED"
        (error,) = errors
        assert operation in error
        assert failure_of(await history(run))["error_type"] == "dexnb.errors.ValueMappingError"
        assert (await run.state()).attributes == {"note": "old"}


@virtual
async def test_a32_a_wait_whose_code_has_gone_ends_and_goes_on_when_the_code_comes_back() -> None:
    """Messages and Timers are taken by turns, which need no code; execute waits for it, quietly."""
    store = MemoryStore()

    async def either(context: AsyncContext, input: Any) -> Wait:
        return Wait.all_of(NOTES.for_one(), timer(60))

    made = flow_of(waits(tells, either), keeps=KEEPS)
    renamed = flow_of(waits(tells, either, name="Renamed"), keeps=KEEPS)
    async with Runtime(MemoryProvider(store), options=fast()) as first:
        await started(first, made)
        await asyncio.sleep(1)
    counted = FaultyProvider(MemoryProvider(store))
    async with Runtime(counted, options=fast()) as second:
        second.register(renamed)
        run = await second.get("flow")
        await publish(second, run, "notes", "kept")
        await asyncio.sleep(1000)
        assert (await kinds(run))[-1] == "wait_ended"
        assert await run.waiting_for_code() == (
            "waits for code: no Step named Tells; registered: Renamed"
        )
        assert counted.calls["fetch_work_items"] < 1000 / 30 + 10
        second.register(made)
        assert (await finished(run)).output == [True, ["kept"]]
    assert clock() < 1010


async def lost_async(context: AsyncContext, input: Any) -> Wait:
    """Beat without await."""
    context.heartbeat(1)  # type: ignore[unused-coroutine]  # the mistake under test
    return Wait.skip_immediately()


def lost_generator(context: Context, input: Any) -> Generator[StepOutput, None, Wait]:
    """Make a heartbeat without yielding it."""
    yield heartbeat(0)
    heartbeat(1)
    return Wait.skip_immediately()


def lost_sync(context: Context, input: Any) -> Wait:
    """Beat where there is no way to."""
    heartbeat(1)
    return Wait.skip_immediately()


@pytest.mark.parametrize("wait_for", [lost_async, lost_generator, lost_sync])
def test_a34_a_lost_output_of_wait_for_fails_it_clearly(wait_for: Any) -> None:
    """Once, and the text names the method."""

    async def main() -> None:
        async with Runtime(MemoryProvider(), options=fast()) as runtime:
            run = await started(runtime, flow_of(waits(tells, wait_for), keeps=KEEPS))
            result = await finished(run)
            assert "Step Tells wait_for" in result.error_message
            assert [event.attempt for event in await of_kind(run, "step_failed")] == [1]

    Clock.virtual().run(main())
