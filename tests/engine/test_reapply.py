"""What outsiders wrote behind the point of a time travel, written once more."""

from __future__ import annotations

from typing import Any

from dexnb.engine.time_travel import travelled
from dexnb.model.decision import Decision, Movement
from dexnb.model.history import fold
from dexnb.model.message import ParentAdded, Published, RpcDone, StepDone, Stop, WaitDone
from dexnb.model.run_state import RunState
from tests.engine.histories import History, done, goes_to
from tests.engine.test_time_travel import channel, plan, waits_for

PARENT = {"run_id": "p", "step_execution_id": "A-1", "condition": 0}


def removes(request_id: str, *identities: str, **more: Any) -> RpcDone:
    """Make what an RPC that removes messages of `c` leads to."""
    return RpcDone(request_id, "clean", {"removed": [["c", each] for each in identities], **more})


def publishes(key: str, values: list[Any]) -> StepDone:
    """Make the end of a Step that publishes to `c` and goes to B."""
    return StepDone(key, 1, goes_to("B"), {"published": [["c", value] for value in values]})


def taken_back(run: History, cut: int, **more: Any) -> RunState:
    """Give the state of the new run."""
    commit = travelled(run.events, cut, "new", time=50.0, wall=500.0, now=50.0, **more)
    state = RunState.from_text(commit.state)
    assert fold(commit.events) == state
    return state


def pending(state: RunState) -> list[Any]:
    """Give what waits in `c`."""
    return [value for _, value in state.channels.get("c", [])]


def test_a_removal_finds_its_message_under_the_id_that_this_has_now() -> None:
    """What a Step published between does not come again, so all later ids are others."""
    run = History()
    cut = len(run.events)
    run.take(publishes("A-1", ["of a Step", "of a Step too"]))
    run.take(Published("c", ["kept", "deleted"], "client", "r1"))
    run.take(removes("r2", "4", published=[["c", "of an RPC"]]))
    run.take(Published("c", ["deleted later"], "client", "r3"))
    run.take(removes("r4", "6"))
    assert pending(run.state) == ["of a Step", "of a Step too", "kept", "of an RPC"]
    assert pending(taken_back(run, cut)) == ["kept", "of an RPC"]


def test_a_removal_of_what_a_step_published_waits_for_nothing() -> None:
    """Nobody knows the message in the new run, and another with that id stays."""
    run = History()
    cut = len(run.events)
    run.take(publishes("A-1", ["of a Step"]))
    run.take(Published("c", ["kept"], "client", "r1"))
    run.take(removes("r2", "1"))
    assert pending(run.state) == ["kept"]
    state = taken_back(run, cut)
    assert state.channels == {"c": [["1", "kept"]]}


def test_a_removal_of_a_message_before_the_cut_comes_again() -> None:
    """It has the same id in both runs."""
    run = History()
    run.take(Published("c", ["before", "deleted"], "client", "r1"))
    cut = len(run.events)
    run.take(publishes("A-1", ["of a Step"]))
    run.take(removes("r2", "2"))
    assert pending(taken_back(run, cut)) == ["before"]
    assert pending(taken_back(run, cut, reapply=False)) == ["before", "deleted"]


def test_a_removal_that_came_too_late_does_not_win_now() -> None:
    """The message had been consumed: the RPC removed nothing, and the wait gets it again."""
    run = waits_for(channel("c"))
    cut = len(run.events)
    run.take(Published("c", ["x"], "client", "r1"))
    run.take(removes("r2", "1"))
    results = taken_back(run, cut).active["A-1"].results
    assert results is not None
    assert results["messages"] == {"c": [["1", "x"]]}


def test_what_a_wait_published_takes_ids_too() -> None:
    """It does not come again either."""
    run = History(Movement("A", None, None, plan()))
    cut = len(run.events)
    skip: dict[str, Any] = {"kind": "skip", "conditions": [], "combinations": []}
    run.take(WaitDone("A-1", 1, skip, {"published": [["c", "of a wait"]]}))
    run.take(Published("c", ["kept", "deleted"], "client", "r1"))
    run.take(removes("r2", "3"))
    assert pending(run.state) == ["of a wait", "kept"]
    assert pending(taken_back(run, cut)) == ["kept"]


def test_whoever_joined_behind_the_cut_waits_for_the_new_run_too() -> None:
    """Also where no writes come again, and once however often it is taken back."""
    run = History(parent={**PARENT, "run_id": "first"})
    cut = len(run.events)
    run.take(ParentAdded(PARENT))
    run.take(done("A-1", Decision("graceful_complete")))
    for reapply in (True, False):
        parents = taken_back(run, cut, reapply=reapply).parents
        assert [each["run_id"] for each in parents] == ["first", "p"]
    assert len(taken_back(run, cut + 1).parents) == 2


def test_a_run_that_makes_way_tells_no_parent() -> None:
    """The new run will; every other stop does."""
    for stop, told in ((Stop("TERMINATE", makes_way=True), []), (Stop("TERMINATE"), ["p"])):
        run = History(parent=PARENT)
        run.take(stop)
        assert run.state.status == "TERMINATED"
        assert [run_id for run_id, _, _ in run.sent] == told
