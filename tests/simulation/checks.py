"""What must hold of every run: checked on its stored history alone, and against the witness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.run_state import RunState
from tests.simulation.accounts import History
from tests.simulation.scripts import FlowScript
from tests.simulation.steps import PACE
from tests.simulation.waits import Waits
from tests.simulation.witness import Witness

FAILED_TRIES = 11
"""Turns of a run that can be read which have failed, before an engine gives it up."""

Histories = dict[str, Sequence[Event]]
"""The events of each run."""

BEGINS = ("step_scheduled", "delay_over", "locks_taken", "wait_ended", "wait_failed")
"""Kinds of events with which a method comes up."""


def problems_of(
    state: RunState, events: Sequence[Event], script: FlowScript, origins: Sequence[Event] = ()
) -> list[str]:
    """Give what is wrong with a run; `origins` are the events of those it goes on from."""
    repeated = {event.payload.get("request_id", "") for event in origins} - {""}
    history = History(events, script, repeated)
    found = [
        *history.problems,
        *Waits(events).problems,
        *_bookkeeping(state, events),
        *_writes(state, history),
        *_values(state, events),
        *_kept(events, origins),
    ]
    return [f"{state.flow_id}: {problem}" for problem in found]


def _bookkeeping(state: RunState, events: Sequence[Event]) -> Iterator[str]:
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        yield f"the events are numbered {[event.seq for event in events]}"
    if fold(events) != state:
        yield "the events do not add up to the state"
    if not state.closed:
        yield f"is still open: {state.active}"
        return
    kinds = [event.kind for event in events]
    if kinds.index("flow_closed") != len(kinds) - 1:
        yield f"went on behind its end: {kinds}"
    if state.active or state.locks:
        yield f"ended with {state.active} active and {state.locks} locked"


def _writes(state: RunState, history: History) -> Iterator[str]:
    for key, method, attempt in history.wrote:
        kept = state.attributes.get(f"Done/{method}%3A{key}")
        if kept != attempt:
            yield f"{method} of {key} was completed by attempt {attempt} and kept that of {kept}"
    for name, count in history.counted.items():
        if state.attributes.get(name, 0) != count:
            yield f"{name} is {state.attributes.get(name)} where {count} was written"
    if "Spoilt" in state.attributes:
        yield "an attempt that failed has left a write"


def _values(state: RunState, events: Sequence[Event]) -> Iterator[str]:
    arrived = list(_published(events))
    left = [value for pending in state.channels.values() for _, value in pending]
    taken = [
        value
        for event in events
        if event.kind == "wait_ended"
        for messages in event.payload["results"].get("messages", {}).values()
        for _, value in messages
    ]
    removed = {
        identity
        for event in events
        for _, identity in event.payload.get("writes", {}).get("removed", ())
    }
    for value, times in Counter(arrived).items():
        if times > 1:
            yield f"{value} arrived {times} times"
    for value, times in Counter([*taken, *left]).items():
        if times > 1:
            yield f"{value} was taken or left {times} times"
    gone = Counter(arrived) - Counter([*taken, *left])
    if gone.total() > len(removed):
        yield f"{sorted(gone)} were lost, {len(removed)} messages were deleted"


def _kept(events: Sequence[Event], origins: Sequence[Event]) -> Iterator[str]:
    """A run that goes on from another's past has that past."""
    travels = [event for event in events if event.kind == "time_travelled"]
    if not travels:
        return
    origin, cut = travels[-1].payload["from_run_id"], travels[-1].payload["events"]
    old = [event for event in origins if event.run_id == origin][:cut]
    if [(e.kind, e.payload) for e in old] != [(e.kind, e.payload) for e in events[:cut]]:
        yield f"does not begin as {origin}, from which it goes on"


def missing(run_id: str, events: Sequence[Event], witness: Witness) -> Iterator[str]:
    """Look in an open run with nothing left to do for what callers have sent it."""
    if run_id in witness.corrupted:
        # It only seems to rest: its messages wait until it is given up.
        return
    arrived = set(_published(events))
    for value, receiver in witness.accepted.items():
        if receiver == run_id and value not in arrived:
            yield f"{value} was accepted by {run_id} and never arrived"
    knobs = [event.payload["overrides"] for event in events if event.kind == "knobs_changed"]
    for receiver, name, number in witness.turns:
        if receiver == run_id and {name: number} not in knobs:
            yield f"{name} of {run_id} was turned to {number} and is not"


def _published(events: Sequence[Event]) -> Iterator[Any]:
    for event in events:
        if event.kind == "channel_published":
            yield from event.payload["values"]
        for _, value in event.payload.get("writes", {}).get("published", ()):
            yield value


def repeated_attempts(witness: Witness) -> Iterator[str]:
    """Look for an attempt that began twice; only one that was handed back may."""
    for execution, attempts in witness.attempts.items():
        if len(attempts) - len(set(attempts)) > witness.stops:
            yield f"attempts of {execution} came as {attempts}"


def old_paces(histories: Histories, witness: Witness) -> Iterator[str]:
    """Look for executions that found a knob as it was before they came up."""
    for run_id, key, pace in witness.paces:
        seen, newest = [PACE], PACE
        for event in histories.get(run_id, ()):
            if event.kind == "knobs_changed" and "PACE" in event.payload["overrides"]:
                newest = event.payload["overrides"]["PACE"]
                seen.append(newest)
            if event.step_execution_id == key and event.kind in BEGINS:
                known = newest
        # What is live before its turn, or whose turn never came, is newer than all.
        fresh = pace not in seen and pace in witness.turned[run_id]
        if not fresh and pace not in seen[seen.index(known) :]:
            yield f"{key} of {run_id} found the pace {pace} behind {known}"


def given_up(states: Sequence[RunState], errors: Sequence[str]) -> Iterator[str]:
    """Look for runs that were closed though they can be read, before enough tries had failed."""
    for state in states:
        readable = "message cannot be read" not in state.error_message
        failed = sum(f"turn of {state.flow_id}:" in error for error in errors)
        if state.error_type == "INTERNAL" and readable and failed < FAILED_TRIES:
            yield f"{state.flow_id} was closed after {failed} failed tries: {state.error_message}"


def untold(states: Sequence[RunState], histories: Histories) -> Iterator[str]:
    """Look for ends of SubFlows that are not as their parents were told."""
    ends = {state.run_id: (state.status, state.completions) for state in states}
    for run_id, events in histories.items():
        for event in events:
            if event.kind == "subflow_changed" and event.payload["result"]["status"] != "RUNNING":
                result = event.payload["result"]
                if ends.get(result["run_id"]) != (result["status"], result["completions"]):
                    yield f"{run_id} was told of {result}, which is not so"


def starts(histories: Histories) -> Iterator[str]:
    """Look for runs that were started more often than once.

    A run may follow another of its flow id by a time travel, or as the SubFlow of another parent.
    """
    first = Counter[tuple[str, str]]()
    for events in histories.values():
        if all(event.kind != "time_travelled" for event in events):
            first[events[0].flow_id, repr(events[0].payload.get("parent"))] += 1
    for (flow_id, parent), times in first.items():
        if times > 1:
            yield f"{flow_id} was started {times} times for {parent}"


def broken_promises(histories: Histories, witness: Witness) -> Iterator[str]:
    """Look for answers that the histories do not bear out."""
    by_flow: dict[str, list[Event]] = {}
    for events in histories.values():
        by_flow.setdefault(events[0].flow_id, []).extend(events)
    for promise in witness.promises:
        if not promise.holds(by_flow.get(promise.flow_id, ())):
            yield f"a caller was told of {promise.flow_id} that {promise.text}, which is not so"
