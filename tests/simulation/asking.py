"""What callers ask a client for, and what its answer promises."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import dexnb as dex
from dexnb.engine import AsyncRun
from dexnb.model.event import Event
from dexnb.model.run_state import RunState
from dexnb.providers import RunRecord
from tests.simulation.scripts import INSTANCES
from tests.simulation.steps import COUNTED, PARTS, PROGRESS

if TYPE_CHECKING:
    from tests.simulation.callers import Call

PATIENCE = timedelta(seconds=20)


async def send(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Publish as a client does: when that is back, the message is in the history."""
    instance = call.rng.choice(INSTANCES)
    await client.publish(call.target, PARTS, call.value, instance)
    call.witness.promise(
        call.target,
        f"{call.value} is published",
        lambda events: any(call.value in e.payload.get("values", ()) for e in events),
    )


async def invoke(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Call the RPC that the kind names."""
    output = await client.invoke_rpc(call.kind, call.target, call.seconds, run_id=record.run_id)

    def done(events: Sequence[Event]) -> bool:
        return any(
            event.kind == "rpc_completed"
            and event.payload["name"] == call.kind
            and output in _outputs(event)
            for event in events
        )

    call.witness.promise(call.target, f"{call.kind} has given {output}", done)


def _outputs(event: Event) -> list[Any]:
    """Give what an RPC of ours has written, which is what it gives."""
    writes = event.payload.get("writes", {})
    return [*writes.get("attributes", {}).values(), *(v for _, v in writes.get("published", ()))]


async def skip(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Skip the first Timer that something waits for."""
    for key, step in RunState.from_text(record.state).waiting:
        conditions = step.wait["conditions"] if step.wait else ()
        if any(condition["kind"] == "timer" for condition in conditions):
            await client.skip_timer(call.target, _execution(key), dex.TimerId.by_condition_index(0))
            return


async def configure(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Change the durability."""
    durability = dex.StepDurability.ASYNC if call.value % 2 else dex.StepDurability.SYNC
    await client.update_flow_config(call.target, dex.FlowConfig(step_durability=durability))
    call.witness.promise(
        call.target,
        "its config is changed",
        lambda events: any(event.kind == "config_changed" for event in events),
    )


async def stop(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """End the run in one of the three ways."""
    kind = call.rng.choice(tuple(dex.StopType))
    await client.stop_flow(call.target, dex.StopFlowOptions(kind, "the world says so"))
    now = await client._engine.record(run_id=record.run_id)  # noqa: SLF001 - of this very moment
    if now is None or now.status == "RUNNING":
        call.witness.problem(f"stop_flow is back, and {call.target} runs")


async def turn(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Turn a knob: the pace, or an option of a Step."""
    run = AsyncRun(client._engine, call.target, record.run_id, record.flow_type)  # noqa: SLF001
    step, pace = f"Step{call.rng.randrange(5)}", 0.06 + call.value / 10_000
    name, value = call.rng.choice(
        (
            ("PACE", pace),
            ("PACE", pace),
            (f"{step}.heartbeat_timeout", call.rng.uniform(9, 15)),
            (f"{step}.execute_method_timeout", call.rng.uniform(9, 25)),
        )
    )
    if name == "PACE":
        call.witness.turned[record.run_id].append(value)
    turned = await run.set_knob(name, value, margin=0)
    call.witness.turns.append((record.run_id, name, turned))


async def travel(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Go on from a point in the past; from the same, where an earlier try was cut short."""
    if call.point is None:
        events = await client._engine.provider.read_events(record.run_id)  # noqa: SLF001
        call.point = _point(call, events)
    run_id = await client.time_travel(call.target, call.point)
    call.witness.promise(
        call.target,
        f"it goes on as {run_id}",
        lambda events: any(e.kind == "time_travelled" and e.run_id == run_id for e in events),
    )


def _point(call: Call, events: Sequence[Event]) -> dex.TimeTravelOptions:
    rng, reapply = call.rng, call.rng.random() < 0.7
    event = rng.choice(events)
    keys = [each.step_execution_id for each in events if each.kind == "step_scheduled"]
    keys = [key for key in keys if not key.startswith("sys:")]
    chance = rng.random()
    if chance < 0.2 or not keys:
        return dex.TimeTravelOptions(dex.TimeTravelType.BEGINNING, skip_writes_reapply=not reapply)
    if chance < 0.5:
        return dex.TimeTravelOptions(
            dex.TimeTravelType.HISTORY_EVENT_TIME,
            history_event_time=datetime.fromtimestamp(event.wall, UTC),
            skip_writes_reapply=not reapply,
        )
    return dex.TimeTravelOptions(
        dex.TimeTravelType.STEP_EXECUTION_ID,
        step_execution_id=_execution(rng.choice(keys)),
        step_method=rng.choice((None, *dex.TimeTravelStepMethod)),
        skip_writes_reapply=not reapply,
    )


async def wait_for_flow(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Wait for the end, for ever or for a while."""
    timeout = None if call.value % 2 else PATIENCE
    result = await client.wait_for_flow(call.target, timeout)
    if result.status == "RUNNING":
        call.witness.problem(f"wait_for_flow is back, and {call.target} runs")


async def wait_for_step(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Wait for the end of a Step that is active, or may never be."""
    active = [key for key in RunState.from_text(record.state).active if key.startswith("Step")]
    key = call.rng.choice([*active, "Step0-3"])
    options = dex.WaitForStepCompletionOptions(request_timeout=0 if call.value % 2 else PATIENCE)
    await client.wait_for_step_completion(call.target, _execution(key), options)
    ends = ("step_completed", "step_failed", "step_cancelled")
    call.witness.promise(
        call.target,
        f"{key} has ended",
        lambda events: any(e.kind in ends and e.step_execution_id == key for e in events),
    )


async def wait_for_attribute(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Wait until a counter is high enough, which may never be."""
    counter, least = call.rng.choice(tuple(COUNTED.values())), call.rng.randint(1, 3)
    options = dex.WaitForAttributeOptions(request_timeout=0 if call.value % 2 else PATIENCE)
    match = dex.AttributeMatch.greater_than(least - 1)
    value = await client.wait_for_attribute_match(call.target, counter, match, options)
    if value < least:
        call.witness.problem(f"waited for {least} and was told {value}")


async def read_stream(call: Call, client: dex.AsyncClient, record: RunRecord) -> None:
    """Read the oldest message."""
    await client.read_stream(call.target, PROGRESS, timeout=PATIENCE)


def _execution(key: str) -> dex.StepExecutionId:
    name, _, number = key.rpartition("-")
    return dex.StepExecutionId(name, int(number))
