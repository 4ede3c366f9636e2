"""Decisions as turns follow them: completions, cancelling, conditional closes, RPCs, timeouts."""

from __future__ import annotations

import pytest

from dexnb.model.decision import Decision, Movement
from dexnb.model.message import (
    ConfigChanged,
    FlowTimeout,
    Published,
    RpcBegin,
    RpcDone,
    RpcExpired,
    Stop,
    TimeoutPolicy,
    WaitDone,
)
from tests.engine.histories import History, done, goes_to
from tests.engine.test_waiting import channel, locking, plan, wait

COMPLETE = Decision("graceful_complete", output=1, has_output=True)


def test_graceful_completion_waits_for_all_branches() -> None:
    """All outputs are kept; a dead end adds none."""
    run = History()
    run.take(done("A-1", goes_to("B", "C", "D")))
    run.take(done("B-1", COMPLETE))
    run.take(done("D-1", Decision("dead_end")))
    assert run.commit.status == "RUNNING"
    run.take(done("C-1", COMPLETE))
    assert run.commit.status == "COMPLETED"
    assert [each["step_execution_id"] for each in run.state.completions] == ["B-1", "C-1"]


@pytest.mark.rule("2.7/global", "2.7/others", "2.7/number", "2.7/no-event")
def test_cancelling_steps_cancels_every_execution_of_the_type_before_moving_on() -> None:
    """The decision's own next Step of that type stays."""
    run = History()
    run.take(done("A-1", goes_to("B", "B", "C")))
    again = Decision("next", (Movement("B"),), canceling_steps=("B",))
    run.take(done("C-1", again))
    assert run.kinds == ["step_completed", "step_cancelled", "step_cancelled", "step_scheduled"]
    assert list(run.state.active) == ["B-3"]
    assert run.commit.cancelled == ("B-1", "B-2")


@pytest.mark.rule("2.7/sibling")
def test_cancelling_siblings_leaves_those_of_another_origin() -> None:
    """Siblings share the execution that led to them."""
    run = History()
    run.take(done("A-1", goes_to("B", "C", "D")))
    run.take(done("D-1", goes_to("B")))
    run.take(done("C-1", Decision("dead_end", canceling_sibling_steps=("B",))))
    assert list(run.state.active) == ["B-2"]


@pytest.mark.rule("2.10/conditional", "2.10/conditional-fallback")
def test_a_conditional_completion_closes_only_over_empty_channels() -> None:
    """Own writes count first; otherwise the fallback runs, and nothing is completed."""
    decision = Decision(
        "force_complete_if_channels_empty",
        output=9,
        has_output=True,
        empty_channels=("c",),
        fallback=Movement("F"),
    )
    run = History()
    run.take(done("A-1", decision))
    assert (run.state.status, run.state.completions[0]["output"]) == ("COMPLETED", 9)
    run = History()
    run.take(Published("c", ["left"]))
    run.take(done("A-1", decision))
    assert list(run.state.active) == ["F-1"]
    assert run.state.completions == []


@pytest.mark.rule("2.10/conditional-handled")
def test_a_message_that_another_execute_handles_keeps_its_channel_filled() -> None:
    """The deciding Step's own message does not."""
    decision = Decision(
        "force_complete_if_channels_empty", empty_channels=("c",), fallback=Movement("F")
    )
    run = History()
    waiter = Movement("W", None, None, plan())
    run.take(done("A-1", Decision("next", (waiter, waiter))))
    for key in ("W-1", "W-2"):
        run.take(WaitDone(key, 1, wait("all_of", channel())))
    run.take(Published("c", ["one", "two"]))
    run.take(done("W-1", decision))
    assert list(run.state.active) == ["W-2", "F-1"]
    run.take(done("W-2", decision))
    assert run.commit.status == "COMPLETED"


def test_a_decisions_writes_are_applied_with_it() -> None:
    """Attributes set and deleted, messages published and removed, in one event."""
    run = History(attributes={"old": 1})
    run.take(Published("c", ["a", "b"]))
    writes = {
        "attributes": {"x": 2},
        "deleted": ["old"],
        "published": [["d", "v"]],
        "removed": [["c", "1"]],
        "recorded": {"seen": True},
    }
    message = done("A-1", Decision("dead_end"))
    run.take(type(message)("A-1", 1, message.decision, writes))
    assert run.state.attributes == {"x": 2}
    assert run.state.channels == {"c": [["2", "b"]], "d": [["3", "v"]]}
    assert run.events[-1].payload["writes"]["recorded"] == {"seen": True}


@pytest.mark.rule("2.11/timer")
@pytest.mark.parametrize(
    ("policy", "status"), [("FAIL", "FAILED"), ("CANCEL", "CANCELED"), ("HANDLER", "RUNNING")]
)
def test_a_flows_timeout_does_what_its_policy_says(policy: TimeoutPolicy, status: str) -> None:
    """A durable timer from the start; a handler is a Step of its own."""
    handler = Movement("sys:timeout_handler")
    run = History(timeout=60.0, timeout_policy=policy, timeout_handler=handler)
    assert run.sent == [("run", 61.0, FlowTimeout())]
    run.take(FlowTimeout())
    assert run.state.status == status
    if policy == "HANDLER":
        assert list(run.state.active) == ["A-1", "sys:timeout_handler-1"]
    else:
        assert run.state.error_type == "FLOW_TIMEOUT"


@pytest.mark.rule("2.9/rpc-once")
def test_an_rpc_tries_its_locks_once() -> None:
    """Taken ones refuse it; free ones are its own until it is done or expired."""
    run = History()
    run.take(done("A-1", Decision("next", (locking("x"),))))
    run.take(RpcBegin("r1", ["x"], 5.0))
    assert run.kinds == ["rpc_refused"]
    run.take(RpcBegin("r2", ["y"], 5.0))
    assert run.kinds == ["rpc_started"]
    assert run.sent == [("run", 5.0, RpcExpired("r2", until=5.0))]
    run.take(done("Lx-1", Decision("next", (locking("y"),))))
    assert run.work == []
    run.take(RpcDone("r2", "set", {"attributes": {"y": 1}}, locked=True))
    assert run.kinds == ["rpc_completed", "locks_taken"]
    assert run.state.attributes == {"y": 1}
    run.take(RpcExpired("r2"))
    assert run.kinds == []


def test_an_rpc_that_comes_back_too_late_changes_nothing() -> None:
    """Its locks are others' by then."""
    run = History()
    run.take(RpcBegin("r", ["y"], 5.0))
    run.take(RpcExpired("r"))
    assert run.state.locks == {}
    run.take(RpcDone("r", "set", {"attributes": {"y": 1}}, locked=True))
    assert run.state.attributes == {}


def test_an_rpc_renews_its_locks_while_it_holds_them() -> None:
    """An expiry from before the renewal ends nothing; one that comes after its end does."""
    run = History()
    run.take(RpcBegin("r", ["y"], 5.0))
    run.take(RpcBegin("r", ["y"], 5.0))
    assert run.kinds == []
    run.take(RpcBegin("r", ["y"], 9.0, renews=True))
    assert run.kinds == ["rpc_started"]
    assert run.sent == [("run", 9.0, RpcExpired("r", until=9.0))]
    run.take(RpcBegin("r", ["y"], 9.0, renews=True), RpcExpired("r", until=5.0))
    assert (run.kinds, run.state.locks) == ([], {"y": "r"})
    run.take(RpcExpired("r", until=9.0))
    assert (run.kinds, run.state.locks, run.state.rpc_until) == (["rpc_refused"], {}, {})
    run.take(RpcBegin("r", ["y"], 20.0, renews=True), RpcBegin("s", ["y"], 20.0, renews=True))
    assert (run.kinds, run.state.locks) == ([], {})


def test_an_rpc_that_gives_up_ends_its_locks_whatever_was_renewed() -> None:
    """Its own word needs no time; the end of the run takes all."""
    run = History()
    run.take(RpcBegin("r", ["y"], 5.0), RpcBegin("r", ["y"], 9.0, renews=True))
    run.take(RpcExpired("r"))
    assert (run.state.locks, run.state.rpc_until) == ({}, {})
    run.take(RpcBegin("s", ["y"], 5.0), RpcBegin("s", ["y"], 9.0, renews=True), Stop())
    assert (run.state.locks, run.state.rpc_until) == ({}, {})


def test_an_rpc_that_must_have_seen_everything_is_refused_when_the_run_went_on() -> None:
    """It is for the caller to try again."""
    run = History()
    seen = run.state.events
    run.take(RpcDone("r1", "add", {"attributes": {"n": 1}}, version=seen))
    assert run.state.attributes == {"n": 1}
    run.take(RpcDone("r2", "add", {"attributes": {"n": 1}}, version=seen))
    assert run.kinds == ["rpc_refused"]


def test_a_repeated_rpc_or_publish_changes_nothing() -> None:
    """A store whose answer was lost is asked again."""
    run = History()
    for message in (RpcDone("r", "go", {}, (Movement("B"),)), Published("c", ["v"], "", "q")):
        run.take(message)
        assert run.kinds
        run.take(message)
        assert run.kinds == []
    assert list(run.state.active) == ["A-1", "B-1"]


def test_an_rpc_starts_and_cancels_steps() -> None:
    """It cannot close the Flow, but the last branch that it cancels may have been the last."""
    run = History()
    run.take(RpcDone("r", "swap", {}, (Movement("B"),), ["A"]))
    assert list(run.state.active) == ["B-1"]
    assert run.state.active["B-1"].from_step_execution_id == "sys:rpc"


def test_a_flow_with_nothing_active_stays_open_until_an_rpc_adds_a_step() -> None:
    """A dead end ends the branch alone."""
    run = History()
    run.take(done("A-1", Decision("dead_end")))
    assert run.commit.status == "RUNNING"
    run.take(RpcDone("r", "go", {}, (Movement("B"),)))
    run.take(done("B-1", COMPLETE))
    assert run.commit.status == "COMPLETED"


def test_a_runs_config_is_changed_while_it_is_open() -> None:
    """Attempts that are scheduled later carry it."""
    run = History(config={"step_durability": "SYNC"})
    run.take(ConfigChanged({"step_durability": "ASYNC"}))
    assert run.state.config == {"step_durability": "ASYNC"}


def test_a_neighbour_that_the_decision_cancels_handles_nothing_any_more() -> None:
    """What counts for the close and what counts for the output is one look."""
    run = History()
    waiter = Movement("W", None, None, plan())
    run.take(done("A-1", Decision("next", (waiter, Movement("B")))))
    run.take(WaitDone("W-1", 1, wait("all_of", channel())))
    run.take(Published("c", ["one"]))
    decision = Decision(
        "force_complete_if_channels_empty",
        output=9,
        has_output=True,
        empty_channels=("c",),
        fallback=Movement("F"),
        canceling_steps=("W",),
    )
    run.take(done("B-1", decision))
    assert run.state.status == "COMPLETED"
    assert [each["output"] for each in run.state.completions] == [9]
