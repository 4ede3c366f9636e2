"""The state of a run is the fold of its history, and survives a store as it is."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any, get_args

import pytest

from dexnb.engine.time_travel import travelled
from dexnb.engine.turn import turn
from dexnb.errors import DocumentError
from dexnb.model.decision import Decision, Failure, Movement
from dexnb.model.event import TELEMETRY_KINDS, DurableKind, Event
from dexnb.model.history import apply, fold
from dexnb.model.message import (
    ConfigChanged,
    DelayOver,
    FlowTimeout,
    KnobsChanged,
    Message,
    ParentAdded,
    Published,
    RpcBegin,
    RpcDone,
    Start,
    StepDone,
    StepFailed,
    Stop,
    SubFlowClosed,
    TimerFired,
    WaitDone,
)
from dexnb.model.run_state import RunState
from dexnb.model.settings import StepSettings
from tests.model.test_message import PARENT, PLAN, WAIT, WRITTEN, WRONG, places, spoiled

OPTIONS = StepSettings(recovery="R").to_json()
NEXT = Decision("next", (Movement("B", {"x": 1}), Movement("B", None, OPTIONS)))
DONE = Decision("graceful_complete", output=[1], has_output=True)
FAILED = StepFailed("A-1", 3, Failure("E", "d", Failure("X", "y")), Movement("R", None, OPTIONS))
CALLED = {name: value for name, value in WRITTEN.items() if name != "locals"}
PUBLISHED = Published("c", [1, None], "client", "q")
BEGUN = Start(
    "f",
    "F",
    "in",
    Movement("W", "in", None, PLAN),
    timeout=60.0,
    timeout_policy="HANDLER",
    timeout_handler=Movement("sys:timeout_handler"),
    attributes={"a": 1},
    request_id="s",
    parent=PARENT,
    config={"step_durability": "SYNC"},
)

HISTORIES: dict[str, list[Message]] = {
    "started": [Start("f", "F", "in", Movement("A", "in"), {"K": 1})],
    "branched": [StepDone("A-1", 1, NEXT)],
    "half done": [StepDone("A-1", 1, NEXT), StepDone("B-1", 1, DONE)],
    "completed": [
        StepDone("A-1", 1, NEXT),
        StepDone("B-1", 1, DONE),
        StepDone("B-2", 1, Decision("graceful_complete")),
    ],
    "dead end": [StepDone("A-1", 1, Decision("dead_end"))],
    "forced": [StepDone("A-1", 1, NEXT), StepDone("B-2", 1, replace(DONE, kind="force_complete"))],
    "force failed": [StepDone("A-1", 1, Decision("force_fail", reason="no"))],
    "recovering": [FAILED],
    "failed": [replace(FAILED, recovery=None)],
    "cancelled": [Stop()],
    "failed from outside": [KnobsChanged({"K": 2}), Stop("FAIL", "enough")],
    "late": [Stop("TERMINATE"), StepDone("A-1", 1, DONE)],
    "waiting": [BEGUN, WaitDone("W-1", 1, WAIT, WRITTEN), PUBLISHED],
    "waited": [BEGUN, WaitDone("W-1", 1, WAIT), TimerFired("W-1", 0), PUBLISHED],
    "with a SubFlow": [
        BEGUN,
        WaitDone("W-1", 1, WAIT),
        SubFlowClosed("W-1", 2, {"flow_id": "s", "status": "RUNNING"}),
    ],
    "without its wait": [BEGUN, StepFailed("W-1", 1, Failure("E", "d"), None, "wait_for")],
    "delayed": [replace(BEGUN, start_delay=5.0)],
    "begun later": [replace(BEGUN, start_delay=5.0), DelayOver("W-1")],
    "called": [BEGUN, RpcDone("q", "add", CALLED, (Movement("B"),)), ParentAdded(PARENT)],
    "locked": [Start("f", "F", "in", Movement("A")), RpcBegin("q", ["a"], 9.0)],
    "renewed": [
        Start("f", "F", "in", Movement("A")),
        RpcBegin("q", ["a"], 9.0),
        RpcBegin("q", ["a"], 19.0, renews=True),
    ],
    "refused": [BEGUN, RpcBegin("q", ["a"], 9.0)],
    "timed out": [BEGUN, ConfigChanged({"step_durability": "ASYNC"}), FlowTimeout()],
    "written": [
        StepDone("A-1", 1, NEXT, {"attributes": {"b": 1}, "published": [["c", 1], ["c", 2]]}),
        StepDone("B-1", 1, DONE, {"deleted": ["b"], "removed": [["c", "1"]], "locals": {"k": 1}}),
    ],
}


NAMES = [*HISTORIES, "taken back", "taken back twice"]


def history(name: str) -> tuple[list[Event], RunState]:
    """Give the events that the engine's turns made of the messages, and the state they left."""
    state = RunState(flow_id="f", run_id="r")
    messages = HISTORIES.get(name, HISTORIES["waiting"])
    start = [] if isinstance(messages[0], Start) else HISTORIES["started"]
    events: list[Event] = []
    for time, message in enumerate([*start, *messages], 1):
        events += turn(state, [message], time=time / 2, wall=time + 100.0).events
    for number in range({"taken back": 1, "taken back twice": 2}.get(name, 0)):
        run_id = f"r{number}"
        commit = travelled(events, 5, run_id, reason="bug", time=50.0, wall=150.0, now=50.0)
        events, state = list(commit.events), RunState.from_text(commit.state)
    return events, state


@pytest.mark.parametrize("name", NAMES)
def test_the_fold_of_a_history_is_the_state_that_the_engine_kept(name: str) -> None:
    """In memory, and after both went through text."""
    events, state = history(name)
    assert fold(events).to_json() == json.loads(state.to_text())
    stored = [Event.from_json(json.loads(json.dumps(event.to_json()))) for event in events]
    assert fold(stored).to_json() == fold(events).to_json()
    assert fold(stored).events == len(events) == events[-1].seq


@pytest.mark.parametrize("name", NAMES)
def test_a_state_comes_back_from_a_store(name: str) -> None:
    """At every point of its history, and then goes on as if it had never left."""
    events, _ = history(name)
    state = RunState()
    for event in events:
        apply(state, event)
        read = RunState.from_text(state.to_text())
        assert read.to_text() == state.to_text()
        assert read.active == state.active
        state = read
    assert state.closed is (state.status != "RUNNING") is (state.closed_at is not None)


def test_ends_of_branches_tell_no_output_from_null() -> None:
    """In the order in which they came."""
    state = fold(history("completed")[0])
    assert state.completions == [
        {"step_type": "B", "step_execution_id": "B-1", "output": [1]},
        {"step_type": "B", "step_execution_id": "B-2"},
    ]
    assert (state.status, state.numbers, state.active) == ("COMPLETED", {"A": 1, "B": 2}, {})


def test_a_recovery_step_carries_the_whole_error_and_the_same_input() -> None:
    """Behind the execution that failed."""
    step = fold(history("recovering")[0]).active["R-1"]
    assert step.movement == Movement("R", "in", OPTIONS)
    assert step.recovery_error == Failure("E", "d", Failure("X", "y"))
    assert step.from_step_execution_id == "A-1"


@pytest.mark.parametrize("kind", sorted(TELEMETRY_KINDS))
def test_telemetry_is_not_folded(kind: Any) -> None:
    """It never decides anything."""
    event = replace(history("started")[0][0], kind=kind)
    state = RunState()
    with pytest.raises(DocumentError, match=f"^{kind} is no durable event$"):
        apply(state, event)
    assert state == RunState()


def test_every_durable_kind_is_folded() -> None:
    """The histories here hold each of them."""
    kinds = {event.kind for name in NAMES for event in history(name)[0]}
    assert kinds == set(get_args(DurableKind))


@pytest.mark.parametrize("name", NAMES)
def test_a_history_with_any_payload_spoiled_is_folded_or_refused(name: str) -> None:
    """Nothing but a DocumentError comes out, and the text says which event it was."""
    events, _ = history(name)
    for index, event in enumerate(events):
        document = json.loads(json.dumps(event.payload))
        for way in places(document):
            for value in [*WRONG, None]:
                payload = spoiled(document, way, value)
                log = [*events[:index], replace(event, payload=payload), *events[index + 1 :]]
                try:
                    fold(log)
                except DocumentError as error:
                    assert len(str(error)) < 300  # noqa: PT017 - it need not come


def test_the_end_of_a_step_that_is_not_active_is_refused() -> None:
    """A log with a line missing or twice does not fold to a wrong state in silence."""
    started, completed, *_ = (event for event in history("branched")[0] if event.seq in (2, 3))
    assert (started.kind, completed.kind) == ("step_scheduled", "step_completed")
    text = r"^event 3 \(step_completed\) is about 'A-1', which is not active$"
    for log in ([completed], [started, completed, completed]):
        with pytest.raises(DocumentError, match=text):
            fold(log)


STORED = json.loads(fold(history("recovering")[0]).to_text())


@pytest.mark.parametrize("name", ["recovering", "waiting", "with a SubFlow", "called", "locked"])
def test_a_stored_state_with_any_field_spoiled_is_read_or_refused(name: str) -> None:
    """What is read can be stored again."""
    stored = json.loads(fold(history(name)[0]).to_text())
    ways = places(stored)
    assert len(ways) > (30 if name != "locked" else 20)
    for way in ways:
        for value in [*WRONG, None]:
            text = json.dumps(spoiled(stored, way, value))
            try:
                state = RunState.from_text(text)
            except DocumentError as error:
                assert len(str(error)) < 300  # noqa: PT017 - it need not come
                continue
            assert RunState.from_text(state.to_text()) == state


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", '"state"', "NaN", "[" * 100_000, '{"status":"RUNNING"}']
)
def test_text_that_is_no_state_is_refused(text: str) -> None:
    """Whatever stands in a store."""
    with pytest.raises(DocumentError, match="run state"):
        RunState.from_text(text)


def test_an_error_chain_without_end_in_a_state_is_refused() -> None:
    """Or read, where the stack is deep enough; never a RecursionError."""
    chain = '{"error_type":"","detail":"","last_error":' * 900 + "null" + "}" * 900
    step = json.dumps(STORED["active"]["R-1"] | {"recovery_error": "CHAIN"})
    text = json.dumps(STORED | {"active": {"R-1": "STEP"}})
    text = text.replace('"STEP"', step.replace('"CHAIN"', chain))
    with pytest.raises(DocumentError):
        RunState.from_text(text)


def test_a_failure_is_the_same_in_both_forms() -> None:
    """`asdict` is what the engine hands on."""
    state = fold(history("recovering")[0])
    error = state.active["R-1"].recovery_error
    assert error is not None
    assert asdict(error) == STORED["active"]["R-1"]["recovery_error"]
