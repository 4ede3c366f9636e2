"""`Counts`: what one engine has done since its start, in numbers that only grow."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from dexnb.engine.attempt import Attempt
from dexnb.engine.durations import Durations
from dexnb.engine.observer import Observer
from dexnb.model.event import Event, TelemetryKind
from dexnb.providers import Commit, Provider

FRESH_SECONDS = 5.0
"""Behind this time after its first delivery, an attempt that begins was handed back before."""

POISON = "Poison"

_COUNTED = frozenset({"heartbeat", "attempt_started", "attempt_ended", "stall"})


class Counts(Observer):
    """The numbers of one engine, by Flow type and never by id.

    The engine alone changes them, any thread may read them. Several engines may share the work of
    one store, so only the sum over all of them tells how the store fares.

    Args:
        provider: The store; it is asked for nothing but the time, once it is open.
    """

    def __init__(self, provider: Provider) -> None:
        """Start with nothing done."""
        self._provider = provider
        self._lock = threading.Lock()
        self.flows_started: Counter[str] = Counter()
        """Runs whose start Step was begun here for the first time, by Flow type."""
        self.flows_ended: Counter[tuple[str, str]] = Counter()
        """Runs whose last turn was applied here, by Flow type and status."""
        self.attempts: Counter[tuple[str, str]] = Counter()
        """Ended attempts by Flow type and outcome: completed, failed, cancelled, lost (its lease)
        or handed_back."""
        self.takeovers: Counter[str] = Counter()
        """Attempts that were begun again here after an engine was lost, by Flow type."""
        self.heartbeats: Counter[str] = Counter()
        """Heartbeats of Steps, by Flow type; Stream messages are not counted."""
        self.poison: Counter[str] = Counter()
        """Steps and runs that ended because something stored cannot be decoded, by Flow type."""
        self.stalls: Counter[str] = Counter()
        """Times that a Step blocked its loop, by Flow type."""
        self.fetches: Counter[tuple[str, str]] = Counter()
        """Fetches by queue and result: hit, empty or error."""
        self.fetched: dict[str, tuple[float, str]] = {}
        """When the last fetch of each queue has ended, in store time, and its result."""
        self.commits = 0
        """Turns that were applied here."""
        self.beat_lag = Durations()
        """Seconds from the oldest waiting checkpoint of a batch until the store has it."""

    def attempt(self, attempt: Attempt, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Count what happened in an attempt."""
        if kind not in _COUNTED:
            return
        flow_type = attempt.item.flow_type
        with self._lock:
            if kind == "heartbeat":
                self.heartbeats[flow_type] += 1
            elif kind == "attempt_started":
                self.flows_started[flow_type] += self.begins_run(attempt)
                self.takeovers[flow_type] += payload["deliveries"] > 1
            elif kind == "attempt_ended":
                self.attempts[flow_type, outcome(payload)] += 1
            elif kind == "stall":
                self.stalls[flow_type] += 1

    def engine(self, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Count a dispatcher's cycle."""
        if kind == "dispatcher_cycle":
            queue, result = payload["queue"], payload["result"]
            self.fetches[queue, result] += 1
            self.fetched[queue] = (self._provider.clock.now(), result)

    def committed(self, commit: Commit) -> None:
        """Count a turn, and what it ends."""
        self.commits += 1
        if commit.closes:
            self.flows_ended[commit.flow_type, commit.status] += 1
        if poison := sum(map(is_poison, commit.events)):
            self.poison[commit.flow_type] += poison

    def begins_run(self, attempt: Attempt) -> bool:
        """Tell whether an attempt is the first of all of its run."""
        item, payload = attempt.item, attempt.payload
        first = item.attempt == 1 and not payload.from_step_execution_id
        if not first or item.checkpoint is not None or payload.recovery_error is not None:
            return False
        if attempt.step.wait_for is not None and payload.method != "wait_for":
            return False
        return self._provider.clock.now() - (item.first_attempt_at or 0.0) < FRESH_SECONDS


def outcome(payload: dict[str, Any]) -> str:
    """Give the outcome that an `attempt_ended` event tells of."""
    if "failure" in payload:
        return "failed"
    return "completed" if "decision" in payload else str(payload["reason"])


def is_poison(event: Event) -> bool:
    """Tell whether a durable event ends a Step or a run because of poison."""
    payload = event.payload
    if event.kind == "step_failed":
        return bool(payload["failure"]["error_type"] == POISON)
    return event.kind == "flow_closed" and payload["error_message"].startswith(f"{POISON}: ")
