"""Time travel: going on from a point in a run's past, as a new run."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dexnb import (
    AttributeMatch,
    StartFlowOptions,
    StepExecutionId,
    TimeTravelOptions,
    TimeTravelStepMethod,
    TimeTravelType,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.engine.time_travel import cut_at, travelled
from dexnb.errors import DefinitionError, FlowNotFoundError
from dexnb.model.decision import Decision, Movement
from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.message import (
    DelayOver,
    FlowTimeout,
    Published,
    RpcBegin,
    RpcDone,
    Stop,
    SubFlowClosed,
    TimerFired,
    WaitDone,
    decode_message,
)
from dexnb.model.run_state import RunState
from dexnb.providers import Commit
from tests.engine.flows import history
from tests.engine.histories import History, done, goes_to
from tests.engine.orders import COUNT, PAID, STATE, AwaitPaid, Order, on_each_store, open_order

BEGINNING = TimeTravelOptions(TimeTravelType.BEGINNING)
WAIT_FOR, EXECUTE = TimeTravelStepMethod.WAIT_FOR, TimeTravelStepMethod.EXECUTE


def plan(*, waits: bool = True, locks: list[str] | None = None) -> dict[str, Any]:
    """Make a Plan."""
    return {
        "wait_for": waits,
        "wait_for_failure": "FAIL_FLOW",
        "locks": {"wait_for": [], "execute": locks or []},
        "loads": {"wait_for": {}, "execute": {}},
    }


def to_step(step_type: str, method: TimeTravelStepMethod | None = None) -> TimeTravelOptions:
    """Go back to the first execution of a Step."""
    return TimeTravelOptions(TimeTravelType.STEP_TYPE, step_type=step_type, step_method=method)


def to_execution(step_type: str, number: int) -> TimeTravelOptions:
    """Go back to an execution of a Step."""
    execution = StepExecutionId(step_type, number)
    return TimeTravelOptions(TimeTravelType.STEP_EXECUTION_ID, step_execution_id=execution)


def to_time(seconds: float) -> TimeTravelOptions:
    """Go back to a time."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return TimeTravelOptions(TimeTravelType.HISTORY_EVENT_TIME, history_event_time=moment)


def go_back(events: list[Event], options: TimeTravelOptions, **more: Any) -> Commit:
    """Take the pure part; the new run's state must be the fold of its events."""
    cut = cut_at(events, options)
    commit = travelled(events, cut, "new", time=50.0, wall=500.0, now=50.0, **more)
    assert [event.seq for event in commit.events] == list(range(1, len(commit.events) + 1))
    assert {event.run_id for event in commit.events} == {"new"}
    assert fold(commit.events) == RunState.from_text(commit.state)
    assert (commit.run_id, commit.flow_id, commit.flow_type) == ("new", "flow", "F")
    travel = commit.events[cut]
    assert travel.kind == "time_travelled"
    assert (travel.payload["from_run_id"], travel.payload["events"]) == ("run", cut)
    return commit


def active(commit: Commit) -> list[str]:
    """Name the executions that go on."""
    return list(RunState.from_text(commit.state).active)


def work(commit: Commit) -> list[str]:
    """Name the executions in the work queue."""
    return [item.step_execution_id for item in commit.work_items]


def sent(commit: Commit) -> list[tuple[float, Any]]:
    """Give what is sent, and when it is due."""
    return [(each.visible_at, decode_message(each.text)) for each in commit.messages]


def two_steps() -> History:
    """A goes to B and C, these to A again, which ends the run."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))
    run.take(done("B-1", goes_to("A")), done("C-1", Decision("dead_end")))
    run.take(done("A-2", Decision("graceful_complete")))
    assert run.state.closed
    return run


def test_beginning_is_the_run_before_its_first_step() -> None:
    """The start Step is put to work again, with what the start gave it."""
    commit = go_back(two_steps().events, BEGINNING, reason="again")
    assert [event.kind for event in commit.events] == [
        "flow_started",
        "step_scheduled",
        "time_travelled",
    ]
    assert work(commit) == ["A-1"]
    assert commit.events[-1].payload["reason"] == "again"


def test_step_type_is_its_first_execution_with_all_that_came_beside_it() -> None:
    """Going back to B keeps C, which the same decision had scheduled."""
    events = two_steps().events
    for step_type in ("B", "C"):
        commit = go_back(events, to_step(step_type))
        assert active(commit) == work(commit) == ["B-1", "C-1"]
    assert work(go_back(events, to_step("A"))) == ["A-1"]


def test_step_execution_id_is_that_execution() -> None:
    """The second of its Step, and its number is counted on."""
    commit = go_back(two_steps().events, to_execution("A", 2))
    assert "A-2" in work(commit)
    assert RunState.from_text(commit.state).numbers == {"A": 2, "B": 1, "C": 1}


def test_history_event_time_keeps_what_had_happened_by_then() -> None:
    """The stamp of an event itself finds it; a time before the start finds nothing."""
    events = two_steps().events
    assert work(go_back(events, to_time(10.0))) == ["A-1"]
    assert work(go_back(events, to_time(19.9))) == ["A-1"]
    with pytest.raises(DefinitionError, match="the run had ended by then: give an earlier point"):
        cut_at(events, to_time(20.0))
    with pytest.raises(DefinitionError, match="give a time behind the run's start"):
        cut_at(events, to_time(9.9))


def test_a_point_that_is_none_names_what_there_is() -> None:
    """Steps that never came, methods that they do not have."""
    events = two_steps().events
    with pytest.raises(DefinitionError, match="never had D-1; its executions: A-1, B-1, C-1, A-2"):
        cut_at(events, to_step("D"))
    with pytest.raises(DefinitionError, match="never had A-3"):
        cut_at(events, to_execution("A", 3))
    with pytest.raises(DefinitionError, match="B-1 has no wait_for"):
        cut_at(events, to_step("B", WAIT_FOR))
    assert work(go_back(events, to_step("B", EXECUTE))) == ["B-1", "C-1"]
    waiting = waits_for(timer(5.0))
    with pytest.raises(DefinitionError, match="A-1 never came to its execute: give WAIT_FOR"):
        cut_at(waiting.events, to_step("A", EXECUTE))


def timer(seconds: float) -> dict[str, Any]:
    """Make a Timer's condition."""
    return {"kind": "timer", "id": "", "seconds": seconds}


def channel(name: str) -> dict[str, Any]:
    """Make a Channel's condition."""
    return {"kind": "channel", "id": "", "channel": name, "at_least": 1, "at_most": 1}


def subflow() -> dict[str, Any]:
    """Make a SubFlow's condition."""
    return {"kind": "subflow", "id": "", "start": {}, "reuse_policy": "R"}


def waits_for(*conditions: dict[str, Any], **more: Any) -> History:
    """Start a run whose one Step waits for all of these, from time 2 on."""
    run = History(Movement("A", None, None, plan()), **more)
    wait = {"kind": "all_of", "conditions": list(conditions), "combinations": []}
    run.take(WaitDone("A-1", 1, wait))
    return run


def test_step_method_chooses_between_wait_for_and_execute() -> None:
    """Before execute, what the wait has given is there; before wait_for it is not."""
    run = waits_for(channel("c"))
    run.take(Published("c", ["x"], "client", "r"))
    run.take(done("A-1", goes_to("B")))
    before = RunState.from_text(go_back(run.events, to_step("A", WAIT_FOR), reapply=False).state)
    assert (before.active["A-1"].method, before.active["A-1"].results) == ("wait_for", None)
    commit = go_back(run.events, to_step("A", EXECUTE))
    step = RunState.from_text(commit.state).active["A-1"]
    assert step.method == "execute"
    assert step.results is not None
    assert step.results["messages"] == {"c": [["1", "x"]]}
    assert work(commit) == ["A-1"]


def test_open_timers_are_set_for_what_was_left_of_them() -> None:
    """One that had fired stays so; the time since the old run does not count."""
    run = waits_for(timer(30.0), timer(7.0), channel("c"))
    run.take(TimerFired("A-1", 1))
    last = run.events[-1]
    events = [*run.events[:-1], Event(**{**last.to_json(), "time": 9.0, "wall": 90.0})]
    commit = go_back(events, to_time(90.0))
    assert sent(commit) == [(50.0 + 30.0 - 7.0, TimerFired("A-1", 0))]
    assert work(commit) == []


def test_a_delayed_start_is_delayed_for_what_was_left_of_it() -> None:
    """It begins as it would have begun, even if nothing had happened before the cut."""
    run = History(start_delay=30.0)
    run.take(Published("c", ["v"]))
    commit = go_back(run.events, to_time(25.0))
    assert commit.work_items == ()
    assert sent(commit) == [(50.0 + 29.0, DelayOver("A-1"))]


def test_the_timeout_is_set_for_what_was_left_of_it() -> None:
    """And not again where it was over before the cut."""
    run = waits_for(channel("c"), timeout=100.0, timeout_policy="HANDLER")
    assert sent(go_back(run.events, to_time(20.0))) == [(50.0 + 100.0 - 1.0, FlowTimeout())]
    handled = History(timeout=100.0, timeout_policy="HANDLER", timeout_handler=Movement("H"))
    handled.take(FlowTimeout())
    assert sent(go_back(handled.events, to_step("H"))) == []


def test_subflows_that_had_not_ended_are_sought_again() -> None:
    """By the internal Step; one whose end was known is not."""
    run = waits_for(subflow(), subflow(), channel("c"))
    for key, place in (("sys:subflow-1", 0), ("sys:subflow-2", 1)):
        running = {"status": "RUNNING", "run_id": f"child-{place}"}
        run.take(done(key, Decision("dead_end", output=running, has_output=True)))
    run.take(SubFlowClosed("A-1", 1, {"status": "FAILED"}))
    commit = go_back(run.events, to_time(20.0))
    assert work(commit) == ["sys:subflow-3"]
    step = RunState.from_text(commit.state).active["sys:subflow-3"]
    assert (step.movement.input["condition"], step.from_step_execution_id) == (0, "A-1")


def test_a_subflow_that_was_just_being_started_is_not_sought_twice() -> None:
    """Its internal Step is put to work like any other."""
    run = waits_for(subflow())
    assert work(go_back(run.events, to_time(20.0))) == ["sys:subflow-1"]


def test_writes_from_outside_behind_the_cut_are_applied_again() -> None:
    """Messages and RPCs' writes, in their order, unless that is not wanted."""
    run = History()
    run.take(Published("c", ["before"], "client", "r1"))
    run.take(done("A-1", goes_to("B")))
    run.take(Published("c", ["behind"], "client", "r2"))
    writes = {"attributes": {"a": 1}, "removed": [["c", "1"], ["c", "2"]]}
    run.take(RpcDone("r3", "call", writes, (Movement("D"),)))
    commit = go_back(run.events, to_step("B"))
    state = RunState.from_text(commit.state)
    assert (state.attributes, state.channels) == ({"a": 1}, {})
    assert work(commit) == ["B-1"], "the Steps that an RPC started do not come again"
    left_out = RunState.from_text(go_back(run.events, to_step("B"), reapply=False).state)
    assert (left_out.attributes, left_out.channels) == ({}, {"c": [["1", "before"]]})


def test_a_write_that_is_applied_again_ends_a_wait() -> None:
    """The Step that waits for the message has it."""
    run = waits_for(channel("c"))
    run.take(Stop("TERMINATE"))
    waiting = waits_for(channel("c"))
    waiting.take(Published("c", ["x"], "client", "r"))
    cut = len(run.events) - 3
    commit = travelled(waiting.events, cut, "new", time=50.0, wall=500.0, now=50.0)
    assert [event.kind for event in commit.events[cut:]] == [
        "time_travelled",
        "channel_published",
        "wait_ended",
    ]
    assert work(commit) == ["A-1"]


def test_locks_of_rpcs_that_were_under_way_are_free() -> None:
    """Nobody in the new run would end them, and a Step that queued for them goes on."""
    run = History()
    run.take(RpcBegin("r", ["a"], 100.0))
    run.take(
        done("A-1", Decision("next", (Movement("B", None, None, plan(waits=False, locks=["a"])),)))
    )
    assert run.state.active["B-1"].phase == "queued"
    commit = go_back(run.events, to_step("B"))
    assert RunState.from_text(commit.state).locks == {"a": "B-1"}
    assert work(commit) == ["B-1"]


# With an engine.


@on_each_store
async def test_an_open_run_is_terminated_and_another_goes_on(
    runtime: Runtime, client: AsyncClient
) -> None:
    """The new run is the newest of its flow id, and has what the old one had by then."""
    old = await client.start_flow(
        Order(), "order", "a", StartFlowOptions().with_attribute(COUNT, 1)
    )
    await client.wait_for_attribute_match("order", STATE, AttributeMatch.equal_to("waiting"))
    options = TimeTravelOptions(
        TimeTravelType.STEP_TYPE, step_type=AwaitPaid, step_method=WAIT_FOR, reason="try again"
    )
    new = await client.time_travel("order", options)
    assert new != old
    before = (await client.search_flows(f"run_id = '{old}'", 1)).entries[0]
    assert before.status == "TERMINATED"
    run = await runtime.get("order")
    assert (run.run_id, await run.attribute(COUNT)) == (new, 1)
    await client.publish("order", PAID, 3)
    assert (await client.wait_for_flow("order")).output == {"paid": [3], "state": "paid"}
    events = await history(run)
    assert events[2].payload["from_run_id"] == old
    assert events[2].payload["reason"] == "try again"


@on_each_store
async def test_a_run_that_has_ended_can_be_gone_into(runtime: Runtime, client: AsyncClient) -> None:
    """What it was paid stays paid; the Step behind runs once more."""
    await open_order(client)
    await client.publish("order", PAID, 3)
    first = await client.wait_for_flow("order")
    finish = TimeTravelOptions(TimeTravelType.STEP_TYPE, step_type="Finish")
    new = await client.time_travel("order", finish)
    second = await client.wait_for_flow("order")
    assert (second.run_id, second.output) == (new, first.output)
    await history(await runtime.get("order"))


@on_each_store
async def test_a_payment_from_outside_comes_again_or_not(
    runtime: Runtime, client: AsyncClient
) -> None:
    """From the beginning with it the order ends by itself; without it, by its Timer."""
    await open_order(client)
    await client.publish("order", PAID, 3)
    await client.wait_for_flow("order")
    await client.time_travel("order", BEGINNING)
    assert (await client.wait_for_flow("order")).output == {"paid": [3], "state": "paid"}
    began = asyncio.get_running_loop().time()
    without = TimeTravelOptions(TimeTravelType.BEGINNING, skip_writes_reapply=True)
    await client.time_travel("order", without)
    assert (await client.wait_for_flow("order")).output == {"paid": [], "state": "late"}
    assert asyncio.get_running_loop().time() - began == pytest.approx(3601)


@on_each_store
async def test_a_timer_goes_on_where_it_was(runtime: Runtime, client: AsyncClient) -> None:
    """Of an hour, ten minutes had passed when an event was recorded; fifty are left."""
    await open_order(client)
    await asyncio.sleep(600)
    await client.invoke_rpc(Order.add, "order", 1)
    wall = (await history(await runtime.get("order")))[-1].wall
    await asyncio.sleep(60)
    began = asyncio.get_running_loop().time()
    await client.time_travel("order", to_time(wall))
    assert (await client.wait_for_flow("order")).output["state"] == "late"
    passed = asyncio.get_running_loop().time() - began
    assert passed == pytest.approx(timedelta(minutes=50).total_seconds() + 1, abs=0.01)


@on_each_store
async def test_time_travel_needs_a_run_and_a_point(runtime: Runtime, client: AsyncClient) -> None:
    """A refusal leaves an open run alone."""
    with pytest.raises(FlowNotFoundError):
        await client.time_travel("order", BEGINNING)
    await open_order(client)
    with pytest.raises(DefinitionError, match="never had Finish-1; its executions: AwaitPaid-1"):
        await client.time_travel("order", to_step("Finish"))
    wrong: Any = TimeTravelType.BEGINNING
    with pytest.raises(DefinitionError, match="give TimeTravelOptions"):
        await client.time_travel("order", wrong)
    assert (await client.describe_flow("order")).status == "RUNNING"
