"""SubFlows: a Step starts another Flow and waits for its end."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    Clock,
    Context,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepExecutionId,
    StepList,
    StopFlowOptions,
    StopType,
    SubFlow,
    SubFlowOptions,
    Timer,
    TimeTravelOptions,
    TimeTravelType,
    Wait,
    force_fail,
    graceful_complete,
)
from dexnb.engine import AsyncClient, Runtime, Session
from dexnb.engine.subflow_start import begin_or_join, start_subflow
from dexnb.providers import MemoryProvider
from tests.engine.flows import crash, fast, finished, history
from tests.engine.orders import on_each_store, provider_of

FLAG = Attribute("flag", str)


class Work(Step[int]):
    """Works so many seconds; fails for a negative number."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Sleep, then give bytes, whose stored form is not their plain one."""
        await asyncio.sleep(abs(input))
        if input < 0:
            return force_fail("told so")
        return graceful_complete(f"{input} {FLAG.get(context)}".encode())


class Child(Flow[int]):
    """What is started."""

    def get_steps(self) -> StepList[int]:
        """Give its one Step."""
        return StepList.start_step(Work())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(FLAG)


CHILD = Child()


def told(context: AsyncContext, count: int) -> list[Any]:
    """Say what is known of each SubFlow."""
    found = []
    for index in range(count):
        result = SubFlow.get_condition_results(context, index)
        value = result.single_output(bytes) if result.status == "COMPLETED" else result.error_type
        found.append([SubFlow.get_flow_id(context, index), str(result.status), value])
    return found


class Both(Step[list[int]]):
    """Waits for all of its SubFlows."""

    def wait_for(self, context: Context, input: list[int]) -> Wait:
        """Start one for each number."""
        options = SubFlowOptions().with_attribute(FLAG, "up")
        return Wait.all_of(*(SubFlow.run(CHILD, each, options) for each in input))

    async def execute(self, context: AsyncContext, input: list[int]) -> StepDecision:
        """Give what became of them."""
        return graceful_complete(told(context, len(input)))


class First(Step[list[int]]):
    """Waits for the first of a timer and its SubFlows."""

    async def wait_for(self, context: AsyncContext, input: list[int]) -> Wait:
        """Start one for each number but the first, which is the timer's seconds."""
        timer = Timer.by_duration(timedelta(seconds=input[0]))
        return Wait.any_of(timer, *(SubFlow.run(CHILD, each) for each in input[1:]))

    async def execute(self, context: AsyncContext, input: list[int]) -> StepDecision:
        """Give what is known of them."""
        return graceful_complete(told(context, len(input) - 1))


class Parent(Flow[list[int]]):
    """Waits for all."""

    def get_steps(self) -> StepList[list[int]]:
        """Give its one Step."""
        return StepList.start_step(Both())


class Racer(Flow[list[int]]):
    """Waits for the first."""

    def get_steps(self) -> StepList[list[int]]:
        """Give its one Step."""
        return StepList.start_step(First())


def child_id(flow_id: str, step: str, index: int) -> str:
    """Give the flow id of a SubFlow."""
    return f"SubFlow:{flow_id}-{step}-1-{index}"


@on_each_store
async def test_a_step_starts_subflows_and_waits_for_their_end(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Each has an id of its own and gives its result; one that fails is a result too."""
    runtime.register(CHILD)
    run = await runtime.start(Parent(), "parent", [5, -2])
    assert (await finished(run)).output == [
        [child_id("parent", "Both", 0), "COMPLETED", b"5 up"],
        [child_id("parent", "Both", 1), "FAILED", "STEP_DECISION_FAILED"],
    ]
    assert asyncio.get_running_loop().time() == pytest.approx(5)
    child = await runtime.get(child_id("parent", "Both", 0))
    assert (await child.state()).parents == [
        {"run_id": run.run_id, "step_execution_id": "Both-1", "condition": 0}
    ]


@on_each_store
async def test_a_subflow_that_lost_the_race_is_told_as_running(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Its run goes on by itself, and its end changes nothing any more."""
    runtime.register(CHILD)
    run = await runtime.start(Racer(), "racer", [3, 10])
    assert (await finished(run)).output == [[child_id("racer", "First", 0), "RUNNING", ""]]
    assert (await client.wait_for_flow(child_id("racer", "First", 0))).status == "COMPLETED"


@on_each_store
async def test_a_subflow_wins_the_race(runtime: Runtime, client: AsyncClient) -> None:
    """The first one that has ended is enough."""
    runtime.register(CHILD)
    run = await runtime.start(Racer(), "racer", [50, 40, 2])
    first, second = (await finished(run)).output
    assert (first[1], second[1:]) == ("RUNNING", ["COMPLETED", b"2 None"])


@on_each_store
async def test_a_subflow_that_is_stopped_tells_its_parent(
    runtime: Runtime, client: AsyncClient
) -> None:
    """However it ends."""
    runtime.register(CHILD)
    run = await runtime.start(Parent(), "parent", [50, 50])
    await client.wait_for_step_completion("parent", _starter(1))
    await client.wait_for_step_completion("parent", _starter(2))
    await client.stop_flow(child_id("parent", "Both", 0))
    stop = StopFlowOptions(StopType.FAIL, "enough")
    await client.stop_flow(child_id("parent", "Both", 1), stop)
    assert [each[1:] for each in (await finished(run)).output] == [
        ["CANCELED", ""],
        ["FAILED", "CLIENT_API_FAILED"],
    ]


def _starter(number: int) -> Any:
    """Name an execution of the internal Step, as no user would."""
    return StepExecutionId("sys:subflow", number)


@on_each_store
async def test_a_subflow_is_started_once_however_often_its_step_runs(
    runtime: Runtime, client: AsyncClient
) -> None:
    """A second delivery gives what is known of the first one's run, also when that has failed."""
    runtime.register(CHILD)
    run = await runtime.start(Racer(), "racer", [50, -30])
    await client.wait_for_step_completion("racer", _starter(1))
    child = child_id("racer", "First", 0)
    state = await run.state()
    start = state.active["First-1"].wait
    assert start is not None
    again = await _deliver_again(runtime, run.run_id, start["conditions"][1], child)
    first = await runtime.get(child)
    assert (again["run_id"], again["status"]) == (first.run_id, "RUNNING")
    assert (await first.state()).parents == [_parent(run.run_id)]
    await client.stop_flow(child)
    # Its own child's end is the result, though another that failed would be replaced.
    ended = await _deliver_again(runtime, run.run_id, start["conditions"][1], child)
    assert (ended["run_id"], ended["status"]) == (first.run_id, "CANCELED")
    assert len(await runtime.runs()) == 2


def _parent(run_id: str) -> dict[str, Any]:
    return {"run_id": run_id, "step_execution_id": "First-1", "condition": 1}


async def _deliver_again(
    runtime: Runtime, run_id: str, condition: dict[str, Any], flow_id: str
) -> dict[str, Any]:
    """Do once more what the internal Step does for a condition."""
    document = {**condition, "condition": 1, "flow_id": flow_id}
    return await begin_or_join(runtime.engine, document, _parent(run_id))


@on_each_store
async def test_time_travel_finds_subflows_again(runtime: Runtime, client: AsyncClient) -> None:
    """One that runs is joined, one that ended meanwhile gives its result; none is started anew."""
    runtime.register(CHILD)
    await runtime.start(Parent(), "parent", [2, 40])
    for number in (1, 2):
        await client.wait_for_step_completion("parent", _starter(number))
    waiting = (await history(await runtime.get("parent")))[-1].wall
    await asyncio.sleep(10)
    moment = datetime.fromtimestamp(waiting, UTC)
    options = TimeTravelOptions(TimeTravelType.HISTORY_EVENT_TIME, history_event_time=moment)
    new = await client.time_travel("parent", options)
    result = await client.wait_for_flow("parent")
    assert result.run_id == new
    assert [each[2] for each in result.output] == [b"2 up", b"40 up"]
    assert asyncio.get_running_loop().time() == pytest.approx(40)
    assert len(await runtime.runs()) == 4
    await history(await runtime.get("parent"))


@on_each_store
async def test_a_subflow_brings_its_code_along(runtime: Runtime, client: AsyncClient) -> None:
    """As a start does; a parent that resumes before its child's cell was run goes on."""
    run = await runtime.start(Parent(), "parent", [1])
    result = await finished(run)
    assert result.status == "COMPLETED"
    assert runtime.engine.registry.get("Child") is not None


@on_each_store
async def test_a_cancelled_start_begins_nothing(runtime: Runtime, client: AsyncClient) -> None:
    """An execution that is not active any more has nothing to start."""
    runtime.register(CHILD)
    run = await runtime.start(Parent(), "parent", [1])
    await finished(run)
    assert await start_subflow(runtime.engine, run.run_id, "sys:subflow-1") is None
    assert len(await runtime.runs()) == 2


@pytest.mark.parametrize("store", ["sqlite"])
def test_a_crash_between_parent_and_subflow_loses_nothing(store: str, tmp_path: Path) -> None:
    """Killed while both wait, a new engine brings both to their end."""

    async def scenario() -> None:
        first = Runtime(provider_of(store, tmp_path), options=fast())
        await first.engine.start()
        first.register(CHILD)
        await first.start(Parent(), "parent", [5, 6])
        await asyncio.sleep(2)
        await crash(first)
        async with Runtime(provider_of(store, tmp_path), options=fast()) as second:
            second.register(CHILD, Parent())
            result = await finished(await second.get("parent"))
            assert [each[1] for each in result.output] == ["COMPLETED", "COMPLETED"]

    Clock.virtual().run(scenario())


def test_subflows_are_started_across_the_loops_of_a_session() -> None:
    """The internal Step runs with the Steps, and the engine it calls on the control loop."""
    with Session(MemoryProvider) as session:
        session.register(CHILD)
        run = session.start(Parent(), "parent", [0, 0])
        assert [each[1] for each in run.wait_sync(30).output] == ["COMPLETED", "COMPLETED"]


@on_each_store
async def test_history_shows_what_started_a_subflow(runtime: Runtime, client: AsyncClient) -> None:
    """The internal Step, then what is known, then the end of the wait; no completion of its own."""
    runtime.register(CHILD)
    run = await runtime.start(Parent(), "parent", [1])
    await finished(run)
    events = await history(run)
    kinds = [(event.kind, event.step_execution_id) for event in events]
    assert kinds[2:7] == [
        ("wait_started", "Both-1"),
        ("step_scheduled", "sys:subflow-1"),
        ("step_completed", "sys:subflow-1"),
        ("subflow_changed", "Both-1"),
        ("subflow_changed", "Both-1"),
    ]
    assert [e.payload["result"]["status"] for e in events[5:7]] == ["RUNNING", "COMPLETED"]
    assert len((await run.state()).completions) == 1
