"""`turn` under any sequence of messages: the fold holds, and no execution is lost or doubled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dexnb.engine import turn
from dexnb.model.decision import Decision, Failure, Movement
from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.message import (
    Message,
    Start,
    StepDone,
    StepFailed,
    Stop,
    decode_message,
    encode_message,
)
from dexnb.model.run_state import RunState

NAMES = ("A", "B", "C")
names = st.sampled_from(NAMES)
values = st.none() | st.integers(-3, 3) | st.text(max_size=3) | st.lists(st.booleans(), max_size=2)
movements = st.builds(Movement, names, values)
decisions = st.one_of(
    st.builds(Decision, st.just("next"), st.lists(movements, min_size=1, max_size=3).map(tuple)),
    st.builds(
        Decision,
        st.sampled_from(["graceful_complete", "force_complete"]),
        output=values,
        has_output=st.booleans(),
    ),
    st.builds(Decision, st.just("force_fail"), reason=st.text(max_size=5)),
    st.just(Decision("dead_end")),
)
keys = st.builds("{}-{}".format, names, st.integers(1, 4))
failures = st.builds(Failure, st.just("builtins.ValueError"), st.text(max_size=5))
messages = st.one_of(
    st.builds(StepDone, keys, st.integers(1, 3), decisions),
    st.builds(StepFailed, keys, st.integers(1, 3), failures, st.none() | movements),
    st.builds(Stop, st.sampled_from(["CANCEL", "TERMINATE", "FAIL"]), st.text(max_size=5)),
)
turns = st.lists(st.lists(messages, max_size=4), max_size=8)


@given(turns, st.booleans())
def test_after_every_turn_the_state_is_the_fold_of_all_events(
    batches: list[list[Message]], with_start: bool
) -> None:
    """Whatever arrives in whatever order, history and stored state tell the same."""
    start = Start("flow", "F", None, Movement("A") if with_start else None)
    commit = turn(RunState(start.flow_id, "run"), [start], time=0.0, wall=0.0)
    events: list[Event] = list(commit.events)
    queued = {item.step_execution_id for item in commit.work_items}

    for number, batch in enumerate(batches):
        state = RunState.from_text(commit.state)
        was_closed = state.closed
        sent = [decode_message(encode_message(message)) for message in batch]
        assert sent == batch
        commit = turn(state, sent, time=float(number), wall=float(number))
        events += commit.events
        new = [item.step_execution_id for item in commit.work_items]
        assert len(set(new)) == len(new)
        assert not queued & set(new), "an execution was enqueued twice"
        queued |= set(new)

        assert fold(events) == RunState.from_text(commit.state)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert not (was_closed and commit.events)
        if commit.closes:
            assert fold(events).active == {}
        assert set(fold(events).active) <= queued


@given(st.lists(messages, max_size=12))
def test_how_messages_are_cut_into_turns_makes_no_difference(sent: list[Message]) -> None:
    """One turn of all messages gives the state that one turn for each gives."""
    start = Start("flow", "F", None, Movement("A"))
    first = turn(RunState(start.flow_id, "run"), [start], time=0.0, wall=0.0).state

    at_once = turn(RunState.from_text(first), sent, time=1.0, wall=1.0)
    text = first
    for message in sent:
        text = turn(RunState.from_text(text), [message], time=1.0, wall=1.0).state

    assert text == at_once.state
