"""Real-world cases C where waits, Channels, Attributes, RPCs and SubFlows are concerned."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    Channel,
    Context,
    Flow,
    FlowDefinitionError,
    PersistenceSchema,
    RPCResult,
    StartFlowOptions,
    Step,
    StepDecision,
    StepList,
    SubFlow,
    Timer,
    Wait,
    force_complete,
    graceful_complete,
    rpc,
)
from dexnb.engine import AsyncRun, Runtime
from dexnb.engine.async_client import AsyncClient
from dexnb.providers import MemoryProvider
from tests.engine.flows import fast, finished, telemetry, virtual
from tests.engine.rules.made import flow_of, on_stores, publish, started, waits

NOTES = Channel("notes", str)


async def lines(run: AsyncRun) -> list[str]:
    """Give what a run's log has."""
    return [event.payload["line"] for event in await telemetry(run, "log")]


class Talks(Step[str]):
    """Prints in both of its methods."""

    async def wait_for(self, context: AsyncContext, input: str) -> Wait:
        """Print, and wait for a note."""
        print("wait_for of", context.flow_id)
        return Wait.until(NOTES.for_one())

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Print, and end."""
        print("execute of", context.flow_id)
        return graceful_complete()


class Talking(Flow[str]):
    """Prints wherever code of its own can run."""

    def get_steps(self) -> StepList[str]:
        """Have one Step."""
        return StepList.start_step(Talks())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Have one Channel."""
        return PersistenceSchema.of(NOTES)

    @rpc
    def ask(self, context: Context) -> RPCResult[None]:
        """Print, and answer."""
        print("rpc of", context.flow_id)
        return RPCResult(None)

    async def handle_timeout(self, context: AsyncContext) -> StepDecision:
        """Print, and end."""
        print("timeout of", context.flow_id)
        return force_complete()


@on_stores
async def test_c04_prints_of_every_kind_of_method_land_in_their_own_run(runtime: Runtime) -> None:
    """Of wait_for, execute and the timeout handler of two runs side by side."""
    limit = StartFlowOptions(timeout=timedelta(seconds=60))
    noted = await started(runtime, Talking(), "", flow_id="noted")
    timed = await started(runtime, Talking(), "", limit, flow_id="timed")
    await asyncio.sleep(10)
    await publish(runtime, noted, "notes", "go")
    await finished(noted)
    await finished(timed)
    assert await lines(noted) == ["wait_for of noted", "execute of noted"]
    assert await lines(timed) == ["wait_for of timed", "timeout of timed"]


@on_stores
async def test_c06_the_cell_that_starts_a_waiting_flow_may_run_five_times(runtime: Runtime) -> None:
    """One run, one wait, one Timer; each publish counts once; a SubFlow is started once."""
    began: list[str] = []

    async def ends(context: AsyncContext, input: Any) -> StepDecision:
        began.append("child")
        await asyncio.sleep(20)
        return graceful_complete()

    child = flow_of(waits(ends), name="Child")

    def cell() -> Flow[Any]:
        notes = Channel("notes", str)

        async def waiting(context: AsyncContext, input: Any) -> Wait:
            began.append("wait_for")
            minute = Timer.by_duration(timedelta(minutes=1))
            return Wait.all_of(notes.at_least(2), minute, SubFlow.run(child, None))

        async def acts(context: AsyncContext, input: Any) -> StepDecision:
            return graceful_complete(list(notes.results(context)))

        return flow_of(waits(acts, waiting), keeps=(notes,))

    runtime.register(child)
    runs = []
    for number in range(5):
        runs.append(await runtime.start(cell(), "flow"))
        await publish(runtime, runs[-1], "notes", str(number))
        await asyncio.sleep(1)
    assert len({run.run_id for run in runs}) == 1
    assert (await finished(runs[0])).output == ["0", "1", "2", "3", "4"]
    assert began == ["wait_for", "child"]
    durable = [event.kind for event in await runs[0].events() if event.durable]
    assert durable.count("timer_fired") == 1
    assert len(await runtime.runs()) == 2


CELL = """
from dataclasses import dataclass
from enum import Enum
from dexnb import *

class State(Enum):
    QUEUED = "QUEUED"
    DONE = "DONE"

@dataclass
class Job:
    state: State
    tries: int

jobs, kept = Channel("jobs", Job), Attribute("job", Job)

class AwaitJob(Step[None]):
    async def wait_for(self, context: AsyncContext, input: None) -> Wait:
        kept.set(context, Job(State.QUEUED, 1))
        return Wait.until(jobs.for_one())

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        (job,) = jobs.results(context)
        same = type(job) is Job and kept.get(context) == Job(State.QUEUED, 1)
        return graceful_complete([job.state is State.DONE, same, job.tries])

class Jobs(Flow[None]):
    def get_steps(self) -> StepList[None]:
        return StepList.start_step(AwaitJob())

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(jobs, kept)
"""


def run_cell(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the cell that defines an enum, a dataclass and the Flow that waits for them."""
    cell = ModuleType("cell")
    # Where the annotations of its classes are looked up.
    monkeypatch.setitem(sys.modules, cell.__name__, cell)
    exec(CELL, vars(cell))  # noqa: S102 - as a kernel runs a cell
    return cell


@on_stores
async def test_c07_values_that_wait_come_back_as_the_classes_of_the_newest_cell(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written by the old code, read by the new: what is compared by identity holds."""
    old = run_cell(monkeypatch)
    run = await runtime.start(old.Jobs(), "flow")
    await asyncio.sleep(1)
    async with AsyncClient(runtime) as client:
        new = run_cell(monkeypatch)
        runtime.register(new.Jobs())
        assert new.State.DONE is not old.State.DONE
        await client.publish("flow", new.jobs, new.Job(new.State.DONE, 2))
    assert (await finished(run)).output == [True, True, 2]


@contextmanager
def strict() -> Iterator[Any]:
    """Give a reader of JSON that refuses what JSON has not."""

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is no JSON")

    yield lambda text: json.loads(text, parse_constant=refuse)


VALUES: list[tuple[Any, Any]] = [
    (float, math.inf),
    (float, -math.inf),
    (float, math.nan),
    (datetime, datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)),
    (timedelta, timedelta(days=1, microseconds=1)),
    (dict, {"late": "nothing"}),
]


@pytest.mark.parametrize(("type_", "value"), VALUES)
@virtual
async def test_c11_odd_values_of_attributes_and_channels_leave_strict_json(
    type_: Any, value: Any
) -> None:
    """Each comes back equal, or is refused at the call; documents hold strict JSON only."""
    kept, sent = Attribute("kept", type_), Channel("sent", type_)
    back: list[Any] = []

    async def waiting(context: AsyncContext, input: Any) -> Wait:
        kept.set(context, value)
        sent.publish(context, value)
        return Wait.until(sent.for_one())

    async def acts(context: AsyncContext, input: Any) -> StepDecision:
        back.extend([kept.get(context), *sent.results(context)])
        return graceful_complete()

    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        run = await started(runtime, flow_of(waits(acts, waiting), keeps=(kept, sent)))
        result = await finished(run)
        record = await runtime.engine.record(run_id=run.run_id)
        with strict() as read:
            assert record is not None
            read(record.state)
            for event in await run.events():
                read(json.dumps(event.to_json()))
    if result.status == "COMPLETED":
        assert [repr(each) for each in back] == [repr(value)] * 2
    else:
        assert "Attribute kept set" in result.error_message
        assert back == []


@on_stores
async def test_c11_an_odd_initial_value_is_refused_before_anything_is_stored(
    runtime: Runtime,
) -> None:
    """A start says so at once."""
    kept: Any = Attribute("kept", float)
    options = StartFlowOptions().with_attribute(kept, "nan")

    async def acts(context: AsyncContext, input: Any) -> StepDecision:
        return graceful_complete(kept.get(context))

    made = flow_of(waits(acts), keeps=(kept,))
    with pytest.raises(FlowDefinitionError, match="Attribute kept initial value"):
        await started(runtime, made, options=options)
    assert await runtime.runs() == []
