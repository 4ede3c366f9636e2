"""What ends a wait, said once more and simply: `accounts` compares it with what histories say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from dexnb.model.event import Event
from dexnb.model.run_state import RunState

_FIRST = ("timer", "channel", "subflow")
"""Which of several conditions that hold counts, where one is enough."""

Pending = Mapping[str, Sequence[Any]]


def consumed(
    wait: dict[str, Any], fired: Collection[int], closed: Collection[int], pending: Pending
) -> dict[str, int] | None:
    """Give how many messages a wait takes from each Channel, if it is over; None if it goes on.

    Args:
        wait: What was waited for.
        fired: Places of the Timers that have fired.
        closed: Places of the SubFlows that have ended.
        pending: The messages of each Channel.
    """
    conditions = list(enumerate(wait["conditions"]))
    for places in _enough(wait["kind"], conditions, wait["combinations"]):
        chosen = [conditions[place] for place in places]
        if not all(
            place in (fired if each["kind"] == "timer" else closed)
            for place, each in chosen
            if each["kind"] != "channel"
        ):
            continue
        taken = _share([each for _, each in chosen if each["kind"] == "channel"], pending)
        if taken is not None:
            return {channel: count for channel, count in taken.items() if count}
    return None


def _enough(
    kind: str, conditions: list[tuple[int, dict[str, Any]]], combinations: list[list[int]]
) -> Iterator[list[int]]:
    match kind:
        case "skip":
            yield []
        case "all_of":
            yield [place for place, _ in conditions]
        case "any_of":
            for first in _FIRST:
                yield from ([place] for place, each in conditions if each["kind"] == first)
        case _:
            yield from combinations


def _share(wanted: list[dict[str, Any]], pending: Pending) -> dict[str, int] | None:
    """Give each condition its least, then as many more as it may have, in order."""
    taken: dict[str, int] = {}
    for each in wanted:
        taken[each["channel"]] = taken.get(each["channel"], 0) + each["at_least"]
    if any(count > len(pending.get(channel, ())) for channel, count in taken.items()):
        return None
    for each in wanted:
        channel = each["channel"]
        left = len(pending.get(channel, ())) - taken[channel]
        most = each["at_most"]
        taken[channel] += left if most is None else min(left, most - each["at_least"])
    return taken


class Waits:
    """Goes through a run's events and keeps its own account of messages, waits and queues.

    Args:
        events: All of them.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        """Look at every event."""
        self.problems: list[str] = []
        self._published = 0
        self._pending: dict[str, list[list[Any]]] = {}
        self._plans: dict[str, dict[str, Any] | None] = {}
        self._waits: dict[str, dict[str, Any]] = {}
        self._fired: dict[str, set[int]] = {}
        self._closed: dict[str, set[int]] = {}
        self._queued: dict[str, list[str]] = {}
        looks: dict[str, Callable[[Event], None]] = {
            "step_scheduled": self._scheduled,
            "delay_over": self._begun,
            "locks_taken": self._locked,
            "wait_started": self._wait_began,
            "timer_fired": self._timer,
            "subflow_changed": self._subflow,
            "wait_ended": self._wait_ended,
            "wait_failed": self._wait_failed,
            "step_completed": self._step_ended,
            "step_failed": self._step_ended,
            "step_cancelled": self._step_ended,
            "channel_published": self._message,
            "rpc_completed": self._write,
        }
        for event in events:
            if event.kind in looks:
                looks[event.kind](event)

    def _problem(self, event: Event, text: str) -> None:
        self.problems.append(f"{event.kind} of {event.step_execution_id} ({event.seq}): {text}")

    def _scheduled(self, event: Event) -> None:
        self._plans[event.step_execution_id] = event.payload.get("plan")
        if not event.payload.get("delay"):
            self._begun(event)

    def _begun(self, event: Event) -> None:
        plan = self._plans[event.step_execution_id]
        if plan is not None:
            self._queue(event, "wait_for" if plan["wait_for"] else "execute")

    def _queue(self, event: Event, method: str) -> None:
        plan = self._plans[event.step_execution_id]
        if plan is not None and plan["locks"].get(method):
            self._queued[event.step_execution_id] = plan["locks"][method]

    def _locked(self, event: Event) -> None:
        """Nobody is overtaken by who came later and wants one of the same."""
        key = event.step_execution_id
        locks = self._queued.pop(key, [])
        if event.payload["locks"] != locks:
            self._problem(event, f"took {event.payload['locks']}, needs {locks}")
        for older in list(self._plans)[: list(self._plans).index(key)]:
            if not set(self._queued.get(older, ())).isdisjoint(locks):
                self._problem(event, f"has overtaken {older}")

    def _wait_began(self, event: Event) -> None:
        key = event.step_execution_id
        self._waits[key] = event.payload["wait"]
        self._fired[key], self._closed[key] = set(), set()
        self._write(event)

    def _timer(self, event: Event) -> None:
        fired, place = self._fired[event.step_execution_id], event.payload["condition"]
        if place in fired:
            self._problem(event, f"the Timer {place} had fired")
        fired.add(place)

    def _subflow(self, event: Event) -> None:
        if event.payload["result"]["status"] != "RUNNING":
            self._closed[event.step_execution_id].add(event.payload["condition"])

    def _wait_ended(self, event: Event) -> None:
        key = event.step_execution_id
        wait, fired, closed = self._waits.pop(key), self._fired[key], self._closed[key]
        counts, results = consumed(wait, fired, closed, self._pending), event.payload["results"]
        taken = {
            channel: self._pending[channel][:count] for channel, count in (counts or {}).items()
        }
        if counts is None or results["messages"] != taken:
            self._problem(event, f"took {results['messages']}, not {counts} of {self._pending}")
        kinds = [condition["kind"] for condition in wait["conditions"]]
        timers = [place in fired for place, kind in enumerate(kinds) if kind == "timer"]
        if results["timers"] != timers:
            self._problem(event, f"Timers are {timers}, and it was told {results['timers']}")
        for channel, messages in results["messages"].items():
            self._drop(channel, {identity for identity, _ in messages})
        self._queue(event, "execute")

    def _wait_failed(self, event: Event) -> None:
        plan = self._plans[event.step_execution_id]
        if plan is None or plan["wait_for_failure"] != "PROCEED":
            self._problem(event, "goes on though it says that it must not")
        self._queue(event, "execute")

    def _step_ended(self, event: Event) -> None:
        self._write(event)
        for kept in (self._plans, self._waits, self._queued):
            kept.pop(event.step_execution_id, None)

    def _message(self, event: Event) -> None:
        for value in event.payload["values"]:
            self._publish(event.payload["channel"], value)

    def _write(self, event: Event) -> None:
        writes = event.payload.get("writes", {})
        for channel, value in writes.get("published", ()):
            self._publish(channel, value)
        for channel, identity in writes.get("removed", ()):
            self._drop(channel, {identity})

    def _publish(self, channel: str, value: Any) -> None:
        self._published += 1
        self._pending.setdefault(channel, []).append([str(self._published), value])

    def _drop(self, channel: str, identities: set[str]) -> None:
        messages = self._pending.get(channel, [])
        messages[:] = [each for each in messages if each[0] not in identities]


def unsettled(state: RunState) -> Iterator[str]:
    """Look behind a turn for what could have gone on with it and did not."""
    for key, step in state.waiting:
        closed = [int(p) for p, each in step.subflows.items() if each["status"] != "RUNNING"]
        if step.wait and consumed(step.wait, step.fired, closed, state.channels) is not None:
            yield f"{key} waits though it need not: {step}"
    kept: set[str] = set()
    for key, step in state.active.items():
        if step.phase == "queued":
            if kept.isdisjoint(step.locks) and state.locks.keys().isdisjoint(step.locks):
                yield f"{key} is queued though nobody holds {step.locks}"
            kept.update(step.locks)
    for name, holder in state.locks.items():
        if holder in state.active and state.active[holder].phase != "running":
            yield f"{name} is held by {holder}, which does not run"
    if not state.closed and not state.active and state.completions:
        yield "has nothing left to do and is open"
