"""Which run is a parent's SubFlow: its own, or that of a run it was time-travelled from."""

from __future__ import annotations

from typing import Any

from dexnb import (
    Flow,
    StepExecutionId,
    StepList,
    StopFlowOptions,
    StopType,
    TimeTravelOptions,
    TimeTravelType,
)
from dexnb.engine import AsyncClient, AsyncRun, FlowResult, Runtime
from dexnb.engine.subflow_start import begin_or_join
from dexnb.model.message import ParentAdded
from dexnb.model.run_state import RunState
from tests.engine.flows import finished, history
from tests.engine.orders import on_each_store
from tests.engine.test_subflows import CHILD, Both, Parent, child_id

BEGINNING = TimeTravelOptions(TimeTravelType.BEGINNING)
TERMINATE = StopFlowOptions(StopType.TERMINATE)


async def left_behind(runtime: Runtime, client: AsyncClient) -> tuple[AsyncRun, list[str]]:
    """Start a parent of three: one has completed, one runs, one was cancelled; give their ids."""
    runtime.register(CHILD)
    ids = [child_id("parent", "Both", index) for index in range(3)]
    parent = await runtime.start(Parent(), "parent", [1, 20, 30])
    for number in (1, 2, 3):
        execution = StepExecutionId("sys:subflow", number)
        await client.wait_for_step_completion("parent", execution)
    await client.wait_for_flow(ids[0])
    await client.stop_flow(ids[2])
    return parent, ids


async def runs_of(runtime: Runtime, ids: list[str]) -> list[str]:
    """Give the newest run of each flow id."""
    return [(await runtime.get(each)).run_id for each in ids]


async def state_of(runtime: Runtime, run_id: str) -> RunState:
    """Give how a run stands that need not be the newest of its id."""
    record = await runtime.engine.record(run_id=run_id)
    assert record is not None
    return RunState.from_text(record.state)


def values(result: FlowResult) -> list[Any]:
    """Give what each SubFlow has given."""
    return [each[2] for each in result.output]


@on_each_store
async def test_a_parent_run_again_starts_subflows_of_its_own(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Whatever an earlier run of its id has left behind: a result, a run with an old input."""
    parent, ids = await left_behind(runtime, client)
    before = await runs_of(runtime, ids)
    await client.stop_flow("parent", TERMINATE)
    second = await runtime.start(Parent(), "parent", [7, 8, 9])
    assert values(await finished(second)) == [b"7 up", b"8 up", b"9 up"]
    after = await runs_of(runtime, ids)
    assert not set(before) & set(after)
    for run_id in after:
        state = await state_of(runtime, run_id)
        assert [each["run_id"] for each in state.parents] == [second.run_id]
    open_one = await state_of(runtime, before[1])
    assert (open_one.status, open_one.parents[0]["run_id"]) == ("TERMINATED", parent.run_id)
    assert open_one.error_message == (
        f"Both-1 of flow id parent (run {second.run_id}) starts a SubFlow of its own under "
        "this flow id, and every run that waited for this one has ended"
    )


@on_each_store
async def test_a_completed_parent_run_again_gets_no_old_result(
    runtime: Runtime, client: AsyncClient
) -> None:
    """A start of a closed flow id with another input gives what that input gives."""
    runtime.register(CHILD)
    assert values(await finished(await runtime.start(Parent(), "parent", [1]))) == [b"1 up"]
    assert values(await finished(await runtime.start(Parent(), "parent", [2]))) == [b"2 up"]


@on_each_store
async def test_time_travel_restarts_only_what_ended_abnormally(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Of the run it comes from: what completed is taken as it is, an open one joined."""
    parent, ids = await left_behind(runtime, client)
    before = await runs_of(runtime, ids)
    new = await client.time_travel("parent", BEGINNING)
    output = values(await client.wait_for_flow("parent"))
    assert output == [b"1 up", b"20 up", b"30 up"]
    after = await runs_of(runtime, ids)
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, True, False]
    joined = (await (await runtime.get(ids[1])).state()).parents
    assert [each["run_id"] for each in joined] == [parent.run_id, new]
    assert (await (await runtime.get("parent")).state()).origins == [parent.run_id]


@on_each_store
async def test_time_travel_twice_still_knows_the_first_run(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Also where the second cut lies before the first journey."""
    parent, ids = await left_behind(runtime, client)
    before = await runs_of(runtime, ids)
    second = await client.time_travel("parent", BEGINNING)
    await client.time_travel("parent", BEGINNING)
    await client.wait_for_flow("parent")
    run = await runtime.get("parent")
    assert (await run.state()).origins == [parent.run_id, second]
    assert (await runs_of(runtime, ids))[:2] == before[:2]
    await history(run)


@on_each_store
async def test_an_open_run_whose_parents_nobody_knows_is_replaced(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Its parent is in no store, so nobody waits for what it was started with."""
    runtime.register(CHILD)
    parent = await runtime.start(Parent(), "parent", [50])
    await client.wait_for_step_completion("parent", StepExecutionId("sys:subflow", 1))
    wait = (await parent.state()).active["Both-1"].wait
    assert wait is not None
    document = {**wait["conditions"][0], "condition": 0, "flow_id": "SubFlow:lost-Both-1-0"}
    lost = {"run_id": "lost", "step_execution_id": "Both-1", "condition": 0}
    first = await begin_or_join(runtime.engine, document, lost)
    again = await begin_or_join(runtime.engine, document, lost)
    assert again["run_id"] == first["run_id"]
    own = {**lost, "run_id": parent.run_id}
    other = await begin_or_join(runtime.engine, document, own)
    assert (other["status"], other["run_id"] == first["run_id"]) == ("RUNNING", False)
    assert (await state_of(runtime, first["run_id"])).status == "TERMINATED"
    assert (await begin_or_join(runtime.engine, document, own))["run_id"] == other["run_id"]


class Dashed(Both):
    """Has a type that ends like another Flow's id and Step together."""

    def get_step_type(self) -> str:
        """Give it."""
        return "x-Both"


class Other(Flow[list[int]]):
    """Has this Step."""

    def get_steps(self) -> StepList[list[int]]:
        """Give it."""
        return StepList.start_step(Dashed())


@on_each_store
async def test_the_open_subflow_of_another_open_parent_is_left_alone(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Dashes can make two ids one: the later one is refused, by both names and the fix."""
    runtime.register(CHILD)
    first = await runtime.start(Parent(), "flow-x", [20])
    await client.wait_for_step_completion("flow-x", StepExecutionId("sys:subflow", 1))
    second = await runtime.start(Other(), "flow", [3])
    result = await finished(second)
    assert (result.status, result.error_type) == ("FAILED", "WORKER_API_FAILED")
    for text in (
        "SubFlow:flow-x-Both-1-0",
        f"Both-1 of flow id flow-x (run {first.run_id})",
        f"x-Both-1 of flow id flow (run {second.run_id})",
        "give one of them another flow id or Step type",
    ):
        assert text in result.error_message
    assert values(await finished(first)) == [b"20 up"]
    assert values(await finished(await runtime.start(Other(), "flow", [3]))) == [b"3 up"]


@on_each_store
async def test_a_subflow_that_was_joined_by_another_is_not_taken_from_it(
    runtime: Runtime, client: AsyncClient
) -> None:
    """One open run among those that wait for it is enough, whichever came first."""
    _, ids = await left_behind(runtime, client)
    await client.stop_flow("parent", TERMINATE)
    waiting = await runtime.start(Parent(), "waiting", [30])
    await client.wait_for_step_completion("waiting", StepExecutionId("sys:subflow", 1))
    joined = ParentAdded({"run_id": waiting.run_id, "step_execution_id": "Both-1", "condition": 0})
    child = await runtime.get(ids[1])
    await runtime.engine.send(child.run_id, joined)
    result = await finished(await runtime.start(Parent(), "parent", [7, 8, 9]))
    assert result.status == "FAILED"
    assert f"Both-1 of flow id waiting (run {waiting.run_id})" in result.error_message
    assert await child.status() == "RUNNING"
