"""Waits as turns see them: conditions, who gets which message, timers, SubFlows, locks."""

from __future__ import annotations

from typing import Any

import pytest

from dexnb.model.decision import Decision, Failure, Movement
from dexnb.model.message import (
    DelayOver,
    ParentAdded,
    Published,
    RpcDone,
    Start,
    StepDone,
    StepFailed,
    Stop,
    SubFlowClosed,
    TimerFired,
    WaitDone,
)
from tests.engine.histories import History, done, goes_to, payload

DONE = Decision("graceful_complete")


def plan(
    *, waits: bool = True, on_failure: str = "FAIL_FLOW", locks: Any = (), **loads: list[str]
) -> dict[str, Any]:
    """Make what a turn knows of a Step."""
    return {
        "wait_for": waits,
        "wait_for_failure": on_failure,
        "locks": {"wait_for": [], "execute": list(locks)},
        "loads": {"wait_for": {}, "execute": loads},
    }


def timer(seconds: float = 5.0) -> dict[str, Any]:
    """Make a timer's condition."""
    return {"kind": "timer", "id": "", "seconds": seconds}


def channel(name: str = "c", at_least: int = 1, at_most: int | None = 1) -> dict[str, Any]:
    """Make a Channel's condition."""
    return {
        "kind": "channel",
        "id": "",
        "channel": name,
        "at_least": at_least,
        "at_most": at_most,
    }


def subflow() -> dict[str, Any]:
    """Make a SubFlow's condition."""
    return {"kind": "subflow", "id": "", "start": {"flow_type": "Child"}, "reuse_policy": "R"}


def wait(kind: str, *conditions: dict[str, Any], combinations: Any = ()) -> dict[str, Any]:
    """Make what a wait_for method gives."""
    return {"kind": kind, "conditions": list(conditions), "combinations": list(combinations)}


class Waiting(History):
    """A run whose start Step `A` waits for what is given."""

    def __init__(self, given: dict[str, Any], **start: Any) -> None:
        """Start it and let its wait_for end."""
        super().__init__(Movement("A", 1, None, start.pop("plan", None) or plan()), **start)
        assert payload(self.commit)["method"] == "wait_for"
        self.take(WaitDone("A-1", 1, given))

    def publish(self, *values: Any, to: str = "c") -> None:
        """Send values to a Channel, in a turn."""
        self.take(Published(to, list(values)))

    @property
    def results(self) -> Any:
        """Give what execute is told, or None while it waits."""
        return payload(self.commit)["results"] if "A-1" in self.work else None

    @property
    def consumed(self) -> dict[str, list[Any]]:
        """Give the values that the wait consumed."""
        messages: dict[str, list[list[Any]]] = self.results["messages"]
        return {name: [value for _, value in pairs] for name, pairs in messages.items()}


def test_a_wait_that_skips_runs_execute_at_once() -> None:
    """In the turn that took it."""
    run = Waiting(wait("skip"))
    assert run.kinds == ["wait_started", "wait_ended"]
    assert run.work == ["A-1"]
    assert "method" not in payload(run.commit)
    assert run.results["wait_failed"] is False


@pytest.mark.rule("2.8/kept")
def test_a_message_published_before_the_wait_is_kept_for_it() -> None:
    """Channels are durable queues."""
    run = History(Movement("A", 1, None, plan()))
    run.take(Published("c", ["early"]))
    run.take(WaitDone("A-1", 1, wait("all_of", channel())))
    assert payload(run.commit)["results"]["messages"] == {"c": [["1", "early"]]}
    assert run.state.channels == {}


@pytest.mark.rule("2.8/one-consumer", "2.8/fifo")
def test_each_message_goes_to_one_consumer_first_in_first_out() -> None:
    """The Step that came first takes the oldest; the second waits for the next."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))
    two = Decision("next", tuple(Movement(name, None, None, plan()) for name in ("W", "X")))
    run.take(done("B-1", two))
    given = wait("all_of", channel())
    run.take(WaitDone("X-1", 1, given))
    run.take(WaitDone("W-1", 1, given))
    run.take(Published("c", ["first"]))
    assert run.work == ["W-1"]
    run.take(Published("c", ["second"]))
    assert run.work == ["X-1"]
    assert payload(run.commit)["results"]["messages"] == {"c": [["2", "second"]]}


@pytest.mark.rule("2.8/minimum-first", "2.8/for-n", "2.8/at-most")
@pytest.mark.parametrize(
    ("at_least", "at_most", "pending", "taken"),
    [
        (1, 1, 3, 1),
        (2, 2, 1, None),
        (2, 2, 3, 2),
        (2, None, 5, 5),
        (0, 3, 0, 0),
        (0, 3, 5, 3),
        (1, 3, 2, 2),
    ],
)
def test_a_channel_gives_its_minimum_then_extras_up_to_its_maximum(
    at_least: int, at_most: int | None, pending: int, taken: int | None
) -> None:
    """for_n takes exactly n; one with a maximum only is ready at once."""
    run = History(Movement("A", 1, None, plan()))
    run.take(Published("c", list(range(pending))))
    run.take(WaitDone("A-1", 1, wait("all_of", channel("c", at_least, at_most))))
    if taken is None:
        assert run.work == []
    else:
        messages = payload(run.commit)["results"]["messages"].get("c", [])
        assert [value for _, value in messages] == list(range(taken))
        assert len(run.state.channels.get("c", [])) == pending - taken


@pytest.mark.rule("2.8/any-wins", "2.8/order-declared")
def test_of_any_the_first_ready_wins_and_only_it_consumes() -> None:
    """Timers before Channels, Channels in the order of declaration."""
    run = History(Movement("A", 1, None, plan()))
    run.take(Published("d", ["other"]), Published("c", ["mine"]))
    run.take(WaitDone("A-1", 1, wait("any_of", channel("c"), channel("d"), timer())))
    assert list(payload(run.commit)["results"]["messages"]) == ["c"]
    assert list(run.state.channels) == ["d"]


@pytest.mark.rule("2.8/order-kinds")
def test_a_timer_that_is_due_wins_over_a_message() -> None:
    """In one turn: readiness goes by kind, not by arrival."""
    run = Waiting(wait("any_of", channel(), timer()))
    run.take(TimerFired("A-1", 1), Published("c", ["late"]))
    assert run.results["timers"] == [True]
    assert run.results["messages"] == {}
    assert run.state.channels == {"c": [["1", "late"]]}


def test_all_conditions_on_one_channel_share_its_messages() -> None:
    """Every minimum first; one message is never counted twice."""
    run = Waiting(wait("all_of", channel("c", 1, 1), channel("c", 1, None)))
    run.publish("one")
    assert run.work == []
    run.publish("two", "three")
    assert run.consumed == {"c": ["one", "two", "three"]}


@pytest.mark.rule("2.8/combinations")
def test_combinations_are_tried_in_their_declared_order() -> None:
    """The first whose conditions all hold wins and consumes."""
    conditions = (channel("a"), channel("b"), timer())
    run = Waiting(wait("any_combination_of", *conditions, combinations=[[0, 1], [2]]))
    run.publish("x", to="a")
    assert run.work == []
    run.take(TimerFired("A-1", 2))
    assert run.results["timers"] == [True]
    assert run.consumed == {}
    assert run.state.channels == {"a": [["1", "x"]]}


@pytest.mark.rule("2.8/timer")
def test_a_timer_is_a_message_that_comes_when_it_is_due() -> None:
    """Counted from the turn that began the wait; nobody polls."""
    run = Waiting(wait("all_of", timer(7.5)))
    assert run.sent == [("run", 2.0 + 7.5, TimerFired("A-1", 0))]
    run.take(TimerFired("A-1", 0))
    assert run.kinds == ["timer_fired", "wait_ended"]
    assert run.results["timers"] == [True]


@pytest.mark.rule("2.8/timer-skip")
def test_a_skipped_timer_counts_as_fired_and_fires_once() -> None:
    """The message that comes later changes nothing."""
    run = Waiting(wait("all_of", timer(), channel()))
    run.take(TimerFired("A-1", 0, skipped=True))
    run.take(TimerFired("A-1", 0))
    assert run.kinds == []
    run.publish("go")
    assert run.results["timers"] == [True]


def test_a_timer_of_a_wait_that_is_over_changes_nothing() -> None:
    """The loser of any_of may still come due."""
    run = Waiting(wait("any_of", timer(), channel()))
    run.publish("go")
    run.take(TimerFired("A-1", 0))
    assert run.kinds == []


def test_writes_of_wait_for_are_applied_with_the_wait() -> None:
    """Attributes, publishes and locals in one commit; execute gets the locals."""
    run = History(Movement("A", 1, None, plan()))
    writes = {"attributes": {"x": 1}, "published": [["c", "own"]], "locals": {"k": "v"}}
    run.take(WaitDone("A-1", 1, wait("all_of", channel()), writes))
    given = payload(run.commit)
    assert given["local_values"] == {"k": "v"}
    assert given["snapshot"]["attributes"] == {"x": 1}
    assert given["results"]["messages"] == {"c": [["1", "own"]]}


def test_a_failed_wait_fails_the_flow_or_goes_on_as_the_policy_says() -> None:
    """With PROCEED execute is told."""
    failed = StepFailed("A-1", 3, Failure("E", "boom"), None, "wait_for")
    run = History(Movement("A", 1, None, plan()))
    run.take(failed)
    assert (run.state.status, run.state.error_type) == ("FAILED", "WORKER_API_FAILED")
    run = History(Movement("A", 1, None, plan(on_failure="PROCEED")))
    run.take(failed)
    assert run.kinds == ["wait_failed"]
    given = payload(run.commit)
    assert given["results"] == {"wait_failed": True}
    assert given["recovery_error"]["detail"] == "boom"


def test_a_subflow_is_started_by_a_step_of_the_engine() -> None:
    """Under an id made of the parent's; the wait ends with the child."""
    run = Waiting(wait("all_of", timer(0), subflow()))
    assert run.work == ["sys:subflow-1"]
    given = payload(run.commit)["input"]
    assert (given["flow_id"], given["condition"]) == ("SubFlow:flow-A-1-0", 1)
    running = {"flow_id": given["flow_id"], "run_id": "r2", "status": "RUNNING"}
    run.take(StepDone("sys:subflow-1", 1, Decision("dead_end", (), running, has_output=True)))
    run.take(TimerFired("A-1", 0))
    assert run.work == []
    closed = {**running, "status": "COMPLETED", "completions": []}
    run.take(SubFlowClosed("A-1", 1, closed))
    assert run.results["subflows"] == [closed]


def test_a_child_that_ends_before_its_starter_has_come_back_is_not_forgotten() -> None:
    """The starter's word that it runs comes too late to count."""
    run = Waiting(wait("all_of", subflow(), channel()))
    run.take(SubFlowClosed("A-1", 0, {"status": "FAILED"}))
    late = Decision("dead_end", (), {"status": "RUNNING"}, has_output=True)
    run.take(StepDone("sys:subflow-1", 1, late))
    run.publish("go")
    assert run.results["subflows"] == [{"status": "FAILED"}]


@pytest.mark.rule("2.8/subflow-running")
def test_a_subflow_that_lost_is_reported_as_running() -> None:
    """It goes on by itself."""
    run = Waiting(wait("any_of", subflow(), channel()))
    running = {"status": "RUNNING", "run_id": "r2"}
    run.take(StepDone("sys:subflow-1", 1, Decision("dead_end", (), running, has_output=True)))
    run.publish("go")
    assert run.results["subflows"] == [running]


def test_a_run_that_ends_tells_its_parents() -> None:
    """Those of its start and those added; also one that came with the end."""
    parent = {"run_id": "p", "step_execution_id": "W-1", "condition": 2}
    other = {**parent, "run_id": "q"}
    third = {**parent, "run_id": "s"}
    run = History(parent=parent)
    run.take(ParentAdded(other))
    run.take(done("A-1", Decision("force_complete", output=7, has_output=True)), ParentAdded(third))
    assert [to for to, _, _ in run.sent] == ["p", "q", "s"]
    told = run.sent[0][2]
    assert isinstance(told, SubFlowClosed)
    assert (told.step_execution_id, told.condition) == ("W-1", 2)
    assert told.result["status"] == "COMPLETED"
    assert told.result["completions"][0]["output"] == 7


def test_a_run_is_stopped_while_it_waits() -> None:
    """The wait is cancelled; its timer finds nobody."""
    run = Waiting(wait("all_of", timer()))
    run.take(Stop())
    assert run.kinds == ["stop_requested", "step_cancelled", "flow_closed"]
    run.take(TimerFired("A-1", 0))
    assert run.kinds == []


def locking(*names: str) -> Movement:
    """Make a Step that executes under locks."""
    return Movement(f"L{''.join(names)}", None, None, plan(waits=False, locks=names))


@pytest.mark.rule("2.9/together", "2.9/released")
def test_locks_are_taken_together_and_released_at_the_methods_end() -> None:
    """A Step whose locks are taken waits for them; it runs when they are free."""
    run = History()
    run.take(done("A-1", Decision("next", (locking("x", "y"), locking("y")))))
    assert run.work == ["Lxy-1"]
    assert run.state.locks == {"x": "Lxy-1", "y": "Lxy-1"}
    run.take(done("Lxy-1", Decision("dead_end")))
    assert run.kinds == ["step_completed", "locks_taken"]
    assert run.work == ["Ly-1"]
    run.take(StepFailed("Ly-1", 1, Failure("E", "d"), Movement("R")))
    assert run.state.locks == {}


@pytest.mark.rule("2.9/steps-wait")
def test_nobody_is_overtaken_for_ever_in_the_queue_for_locks() -> None:
    """What an earlier Step waits for is kept for it."""
    run = History()
    run.take(done("A-1", Decision("next", (locking("x"), locking("x", "y"), locking("y")))))
    assert run.work == ["Lx-1"]
    run.take(done("Lx-1", Decision("dead_end")))
    assert run.work == ["Lxy-1"]
    run.take(done("Lxy-1", Decision("dead_end")))
    assert run.work == ["Ly-1"]


def test_a_cancelled_step_gives_its_locks_back() -> None:
    """And the next one goes on, in the same turn."""
    run = History()
    run.take(done("A-1", Decision("next", (locking("x"), Movement("B"), locking("x")))))
    cancels = Decision("dead_end", canceling_steps=("Lx",))
    run.take(done("B-1", cancels))
    assert run.kinds == ["step_completed", "step_cancelled", "step_cancelled"]
    assert run.state.locks == {}


def test_a_start_can_be_delayed() -> None:
    """Nothing is queued, locked or seen before that; then the Step begins as any other."""
    run = History(locking("x"), start_delay=30.0)
    assert (run.work, run.state.locks) == ([], {})
    assert run.sent == [("run", 31.0, DelayOver("Lx-1"))]
    run.take(RpcDone("r", "set", {"attributes": {"x": 1}}))
    run.take(DelayOver("Lx-1"))
    assert run.kinds == ["delay_over", "locks_taken"]
    assert payload(run.commit)["snapshot"]["attributes"] == {"x": 1}
    run.take(DelayOver("Lx-1"))
    assert run.kinds == []


def test_a_delayed_start_can_be_stopped() -> None:
    """The word that its delay is over comes to nobody."""
    run = History(start_delay=30.0)
    run.take(Stop())
    assert run.kinds == ["stop_requested", "step_cancelled", "flow_closed"]
    run.take(DelayOver("A-1"))
    assert run.kinds == []


@pytest.mark.rule("2.9/plain-loaded", "2.9/maps-declared")
def test_a_snapshot_has_plain_attributes_and_what_was_loaded() -> None:
    """Maps and pending messages only as declared, sizes always; the start can set Attributes."""
    loads = plan(waits=False, attributes=["m/", "n/b"], channels=["c"])
    held = {"x": 1, "m/a": 2, "n/a": 3, "n/b": 4, "mm/a": 5}
    run = History(attributes=held)
    run.take(Published("c", ["v"]), Published("d", ["w"]))
    run.take(done("A-1", Decision("next", (Movement("B", None, None, loads),))))
    snapshot = payload(run.commit)["snapshot"]
    assert snapshot["attributes"] == {"x": 1, "m/a": 2, "n/b": 4}
    assert snapshot["sizes"] == {"c": 1, "d": 1}
    assert snapshot["messages"] == {"c": [["1", "v"]]}


def test_a_start_that_comes_twice_changes_nothing() -> None:
    """A repeated message is no second beginning."""
    run = History()
    run.take(Start("flow", "F", None, Movement("A")))
    assert run.kinds == []
