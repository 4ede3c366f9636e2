"""`Journal`: logs what an engine does: starts and ends of runs, stalls, poison, takeovers, errors.

Failed attempts are told by the engine itself, on the logger `dexnb`. No inputs, outputs,
checkpoints or messages are logged: they are in the run's own log.
"""

from __future__ import annotations

import logging
from typing import Any

from dexnb.cli.worker.log_lines import tell
from dexnb.clock import monotonic
from dexnb.engine.attempt import Attempt
from dexnb.engine.counts import Counts, is_poison
from dexnb.engine.observer import Observer
from dexnb.model.event import Event, TelemetryKind
from dexnb.providers import Commit

QUIET_SECONDS = 10.0
"""How long the same error is not told again."""

MOST_ERRORS = 100

_REASONS = {"handed_back": logging.INFO, "cancelled": logging.INFO, "lost": logging.WARNING}


class Journal(Observer):
    """Writes the log of one engine.

    Args:
        counts: The engine's.
    """

    def __init__(self, counts: Counts) -> None:
        """Start with nothing told."""
        self._counts = counts
        self._failing: set[str] = set()
        self._told: dict[str, float] = {}

    def attempt(self, attempt: Attempt, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Tell what matters of an attempt; each of them at level debug."""
        match kind:
            case "attempt_started":
                self._begun(attempt, payload)
            case "attempt_ended" if "reason" in payload:
                level = _REASONS.get(payload["reason"], logging.INFO)
                tell(level, f"attempt_{payload['reason']}", **attempt.names)
            case "attempt_ended" if "decision" in payload:
                tell(logging.DEBUG, "attempt_completed", **attempt.names)
            case "stall":
                fix = "await instead, or make the Step a plain def"
                where = {"seconds": round(payload["seconds"], 3), "line": payload["line"]}
                tell(logging.WARNING, "stall", **attempt.names, **where, fix=fix)
            case "late_write":
                tell(logging.WARNING, "late_write", **attempt.names, reason=payload["reason"])
            case "suspended":
                tell(logging.WARNING, "suspended", **attempt.names, seconds=payload["seconds"])
            case "engine_error":
                self._error(payload["error"], attempt.names)

    def engine(self, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Tell of errors of the store, of their end, and of what the machine did."""
        match kind:
            case "dispatcher_cycle":
                self._cycle(payload["queue"], payload["result"], payload["error"])
            case "engine_error":
                self._error(payload["error"], {})
            case "suspended" | "clock_stepped":
                tell(logging.WARNING, kind, seconds=round(payload["seconds"], 3))

    def committed(self, commit: Commit) -> None:
        """Tell of ended runs and of poison."""
        for event in commit.events:
            if is_poison(event):
                names = _names(commit, event)
                tell(logging.ERROR, "poison", **names, fix="read the run's log; its item was kept")
            if event.kind == "flow_closed":
                good = commit.status in ("COMPLETED", "CANCELED", "TERMINATED")
                level = logging.INFO if good else logging.ERROR
                error = event.payload["error_type"] or None
                names = _names(commit, event)
                tell(level, "run_ended", **names, status=commit.status, error=error)

    def _begun(self, attempt: Attempt, payload: dict[str, Any]) -> None:
        if self._counts.begins_run(attempt):
            names = {**attempt.names, "step": None, "attempt": None}
            tell(logging.INFO, "run_started", **names)
        if payload["deliveries"] > 1:
            tell(logging.WARNING, "attempt_taken_over", **attempt.names)
        tell(logging.DEBUG, "attempt_started", **attempt.names)

    def _cycle(self, queue: str, result: str, error: str) -> None:
        if result == "error" and queue not in self._failing:
            self._failing.add(queue)
            tell(logging.ERROR, "fetch_failed", queue=queue, detail=error)
        elif result != "error" and queue in self._failing:
            self._failing.discard(queue)
            tell(logging.INFO, "fetch_works_again", queue=queue)

    def _error(self, text: str, names: dict[str, Any]) -> None:
        now = monotonic()
        if now - self._told.get(text, -QUIET_SECONDS) < QUIET_SECONDS:
            return
        if len(self._told) >= MOST_ERRORS:
            self._told.clear()
        self._told[text] = now
        tell(logging.ERROR, "engine_error", **names, detail=text)


def _names(commit: Commit, event: Event) -> dict[str, Any]:
    return {
        "flow": commit.flow_id,
        "flow_type": commit.flow_type,
        "run": commit.run_id,
        "step": event.step_execution_id or None,
        "attempt": event.attempt or None,
    }
