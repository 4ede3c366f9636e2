"""`turn`: what each message does to a run, and what the store is told."""

from __future__ import annotations

import pytest

from dexnb.engine.turn import poisoned
from dexnb.model.decision import Decision, Failure, Movement
from dexnb.model.message import Message, Start, StepFailed, Stop, StopKind
from dexnb.model.run_state import RunState
from tests.engine.histories import FAILURE, OPTIONS, History, done, goes_to, payload


def test_start_schedules_the_start_step() -> None:
    """The first turn names the Flow, keeps the knob values and enqueues one attempt.

    The values go with the number of the newest event that they come from.
    """
    run = History()

    assert run.kinds == ["flow_started", "step_scheduled"]
    assert (run.state.status, run.state.flow_type, run.state.started_at) == ("RUNNING", "F", 1.0)
    (item,) = run.commit.work_items
    assert (item.step_execution_id, item.handler, item.attempt) == ("A-1", "F/A", 1)
    assert payload(run.commit) == {
        "input": {"n": 1},
        "options": None,
        "from_step_execution_id": "",
        "recovery_error": None,
        "overrides": {"knob": 2},
        "last_error": None,
        "overrides_at": {"knob": 2},
    }


def test_a_second_start_changes_nothing() -> None:
    """A start that arrives at a started run is stale."""
    run = History()

    assert run.take(Start("flow", "F", None, Movement("A"))).events == ()
    assert run.commit.work_items == ()


def test_go_to_schedules_the_next_step_and_names_where_it_came_from() -> None:
    """The next Step's input, options and origin reach its attempt."""
    run = History()
    movement = Movement("B", "input", OPTIONS)

    commit = run.take(done("A-1", Decision("next", (movement,))))

    assert run.kinds == ["step_completed", "step_scheduled"]
    assert list(run.state.active) == ["B-1"]
    assert payload(commit)["from_step_execution_id"] == "A-1"
    assert payload(commit)["options"] == OPTIONS
    assert payload(commit)["overrides"] == {"knob": 2}


def test_each_execution_of_a_step_has_its_own_number() -> None:
    """Going to the same Step again counts on."""
    run = History()

    for number in range(1, 4):
        run.take(done(f"A-{number}", goes_to("A")))

    assert list(run.state.active) == ["A-4"]
    assert run.state.numbers == {"A": 4}


def test_graceful_complete_waits_for_other_branches() -> None:
    """The Flow completes when nothing is active any more; all outputs are kept in order."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))

    run.take(done("C-1", Decision("graceful_complete", output=7, has_output=True)))
    assert not run.state.closed
    run.take(done("B-1", Decision("graceful_complete", output=None, has_output=True)))

    assert run.state.status == "COMPLETED"
    assert run.kinds == ["step_completed", "flow_closed"]
    assert run.state.completions == [
        {"step_type": "C", "step_execution_id": "C-1", "output": 7},
        {"step_type": "B", "step_execution_id": "B-1", "output": None},
    ]


def test_an_output_left_out_differs_from_null() -> None:
    """Completing without an output leaves none."""
    run = History()

    run.take(done("A-1", Decision("graceful_complete")))

    assert run.state.status == "COMPLETED"
    assert run.state.completions == [{"step_type": "A", "step_execution_id": "A-1"}]


def test_force_complete_cancels_other_branches() -> None:
    """The Flow completes now; what others would still do is taken away from the store."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))

    commit = run.take(done("B-1", Decision("force_complete", output=1, has_output=True)))

    assert run.kinds == ["step_completed", "step_cancelled", "flow_closed"]
    assert commit.cancelled == ("C-1",)
    assert (commit.status, commit.closes) == ("COMPLETED", True)
    assert run.state.active == {}


def test_force_fail_fails_the_flow_with_its_reason() -> None:
    """The reason is the error's message, the type says that a Step decided it."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))

    commit = run.take(done("B-1", Decision("force_fail", reason="enough")))

    state = run.state
    assert (state.status, state.error_type) == ("FAILED", "STEP_DECISION_FAILED")
    assert (state.error_message, state.closed_at) == ("enough", 2.0)
    assert commit.cancelled == ("C-1",)


def test_dead_end_ends_its_branch_alone() -> None:
    """With nothing active and no completion the Flow stays open."""
    run = History()

    run.take(done("A-1", Decision("dead_end")))

    assert run.kinds == ["step_completed"]
    assert run.state.status == "RUNNING"
    assert run.state.active == {}


def test_dead_end_of_the_last_branch_lets_the_flow_complete() -> None:
    """Where another branch has completed before, nothing is left to wait for."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))
    run.take(done("B-1", Decision("graceful_complete", output=1, has_output=True)))

    run.take(done("C-1", Decision("dead_end")))

    assert run.state.status == "COMPLETED"
    assert [end["step_type"] for end in run.state.completions] == ["B"]


def test_a_failed_step_fails_the_flow() -> None:
    """Without recovery the error's text is the Flow's, and other branches are cancelled."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))

    commit = run.take(StepFailed("B-1", 3, FAILURE))

    assert run.kinds == ["step_failed", "step_cancelled", "flow_closed"]
    assert (run.state.error_type, run.state.error_message) == ("WORKER_API_FAILED", "boom")
    assert run.commit.events[0].attempt == 3
    assert commit.cancelled == ("C-1",)


def test_recovery_gets_the_same_input_and_the_failure() -> None:
    """The failed execution is closed; the recovery Step learns what led to it."""
    run = History()
    chained = Failure("Heartbeat", "silent", FAILURE)

    commit = run.take(StepFailed("A-1", 2, chained, Movement("R", None, OPTIONS)))

    assert run.kinds == ["step_failed", "step_scheduled"]
    assert list(run.state.active) == ["R-1"]
    carried = payload(commit)
    assert carried["input"] == {"n": 1}
    assert carried["options"] == OPTIONS
    assert carried["from_step_execution_id"] == "A-1"
    assert carried["recovery_error"]["error_type"] == "Heartbeat"
    assert carried["recovery_error"]["last_error"]["detail"] == "boom"


@pytest.mark.parametrize(
    ("kind", "status", "error_type"),
    [
        ("CANCEL", "CANCELED", ""),
        ("TERMINATE", "TERMINATED", ""),
        ("FAIL", "FAILED", "CLIENT_API_FAILED"),
    ],
)
def test_stop_ends_the_run_by_its_kind(kind: StopKind, status: str, error_type: str) -> None:
    """Every active Step is cancelled, and the reason is kept."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))

    commit = run.take(Stop(kind, "by hand"))

    assert run.kinds == ["stop_requested", "step_cancelled", "step_cancelled", "flow_closed"]
    state = run.state
    assert (state.status, state.error_type, state.error_message) == (status, error_type, "by hand")
    assert set(commit.cancelled) == {"B-1", "C-1"}


@pytest.mark.parametrize(
    "stale",
    [
        done("A-1", Decision("force_fail", reason="late")),
        StepFailed("A-1", 1, FAILURE),
        done("Z-9", goes_to("B")),
        StepFailed("Z-9", 1, FAILURE, Movement("R")),
    ],
)
def test_a_message_about_a_step_that_is_not_active_changes_nothing(stale: Message) -> None:
    """An execution that has ended, or never was, cannot decide any more."""
    run = History()
    run.take(done("A-1", goes_to("B")))
    before = run.commit.state

    commit = run.take(stale)

    assert (commit.events, commit.work_items, commit.state) == ((), (), before)


def test_what_follows_the_end_changes_nothing() -> None:
    """Messages behind the end, in its own turn or a later one, are stale."""
    run = History()
    run.take(Stop("CANCEL"), done("A-1", goes_to("B")), Stop("FAIL", "again"))
    assert run.state.status == "CANCELED"

    assert run.take(Stop("TERMINATE")).events == ()


def test_a_step_that_is_scheduled_and_cancelled_in_one_turn_is_not_enqueued() -> None:
    """The store must not be given an attempt that nobody may run."""
    run = History()

    commit = run.take(done("A-1", goes_to("B")), Stop("CANCEL"))

    assert commit.work_items == ()
    assert commit.cancelled == ("B-1",)


def test_messages_of_one_turn_are_taken_in_order() -> None:
    """Two ends in one turn: the first decides."""
    run = History()
    run.take(done("A-1", goes_to("B", "C")))

    run.take(
        done("C-1", Decision("force_fail", reason="first")),
        done("B-1", Decision("force_complete")),
    )

    assert run.state.error_message == "first"


def test_poison_closes_a_run_behind_its_last_event() -> None:
    """The closing event's number goes on from what the store has, whatever the state was."""
    state = RunState("flow", "run", "F", events=7)

    commit = poisoned(state, "Poison: cannot be read", time=3.0, wall=30.0)

    (event,) = commit.events
    assert (event.seq, event.kind, commit.status) == (8, "flow_closed", "FAILED")
    assert event.payload["error_type"] == "INTERNAL"
