"""What must hold of every run: checked on its stored history alone, and against the witness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.run_state import RunState
from tests.simulation.scripts import COUNTERS, FlowScript, MethodScript
from tests.simulation.witness import Witness

ENDS = ("step_completed", "step_failed", "step_cancelled")


def problems_of(state: RunState, events: Sequence[Event], script: FlowScript) -> list[str]:
    """Give what is wrong with a run."""
    history = History(events, script)
    found = [
        *history.problems,
        *_bookkeeping(state, events),
        *_counters(state, history, script),
        *_values(state, events),
    ]
    return [f"{state.flow_id}: {problem}" for problem in found]


class History:
    """Goes through a run's events and keeps its own account of Steps and locks."""

    def __init__(self, events: Sequence[Event], script: FlowScript) -> None:
        """Look at every event."""
        self._scripts = {step.name: step for step in script.steps}
        self.problems: list[str] = []
        self.wrote: list[tuple[str, str, int, bool]] = []
        self.rpcs: Counter[str] = Counter()
        self._open: dict[str, str] = {}
        self.done: set[str] = set()
        self._locks: dict[str, str] = {}
        for event in events:
            self._look(event)

    def _look(self, event: Event) -> None:
        key, kind = event.step_execution_id, event.kind
        if key and kind != "step_scheduled" and key not in self._open:
            self.problems.append(f"{kind} of {key}, which is not active (event {event.seq})")
            return
        if kind == "step_scheduled":
            if key in self.done or key in self._open:
                self.problems.append(f"{key} was scheduled twice")
            plan = event.payload.get("plan") or {}
            self._open[key] = "wait_for" if plan.get("wait_for") else "execute"
        elif kind == "locks_taken":
            for name in self._script(key).adds:
                self._lock(name, key)
        elif kind in ("wait_started", "wait_failed", *ENDS):
            self._unlock(key)
            self._method_ended(event, key)
        elif kind == "wait_ended":
            self._open[key] = "execute"
        elif kind.startswith("rpc_"):
            self._rpc(event)

    def _rpc(self, event: Event) -> None:
        request = event.payload["request_id"]
        if event.kind == "rpc_started":
            for name in event.payload["locks"]:
                self._lock(name, request)
            return
        self._unlock(request)
        if event.kind == "rpc_completed":
            self.rpcs[event.payload["name"]] += 1

    def _method_ended(self, event: Event, key: str) -> None:
        if event.kind in ("wait_started", "step_completed"):
            self.wrote.append((key, self._open[key], event.attempt, "writes" in event.payload))
            most = self._script(key).attempts if key.startswith("Step") else 0
            if most and event.attempt > most:
                self.problems.append(f"{key} ended well in attempt {event.attempt} of {most}")
        if event.kind == "wait_failed":
            self._open[key] = "execute"
        if event.kind in ENDS:
            del self._open[key]
            self.done.add(key)

    def _script(self, key: str) -> MethodScript:
        step = self._scripts[key.rpartition("-")[0]]
        return step.waiting if self._open[key] == "wait_for" else step.execute

    def _lock(self, name: str, holder: str) -> None:
        other = self._locks.setdefault(name, holder)
        if other != holder:
            self.problems.append(f"{holder} took {name}, which {other} holds")

    def _unlock(self, holder: str) -> None:
        self._locks = {name: other for name, other in self._locks.items() if other != holder}


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


def _counters(state: RunState, history: History, script: FlowScript) -> Iterator[str]:
    scripts = {step.name: step for step in script.steps}
    wanted: Counter[str] = Counter({COUNTERS[0]: history.rpcs["add"]})
    for key, method, attempt, _ in history.wrote:
        step = scripts.get(key.rpartition("-")[0])
        if step is None:
            continue
        wanted.update((step.waiting if method == "wait_for" else step.execute).adds)
        kept = state.attributes.get(f"Done/{method}%3A{key}")
        if kept != attempt:
            yield f"{method} of {key} was completed by attempt {attempt} and kept that of {kept}"
    for name in COUNTERS:
        if state.attributes.get(name, 0) != wanted[name]:
            yield f"{name} is {state.attributes.get(name)}, {wanted[name]} turns added to it"
    if state.attributes.get("Tally", 0) != history.rpcs["tally"]:
        yield f"Tally is {state.attributes.get('Tally')} after {history.rpcs['tally']} calls"
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


def missing_values(run_id: str, events: Sequence[Event], witness: Witness) -> Iterator[str]:
    """Look in an open run with nothing left to do for what callers have sent it."""
    arrived = set(_published(events))
    for value, receiver in witness.accepted.items():
        if receiver == run_id and value not in arrived:
            yield f"{value} was accepted by {run_id} and never arrived"


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
