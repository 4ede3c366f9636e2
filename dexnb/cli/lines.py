"""`PlainLines`: a line for each notable event, for pipes, CI and terminals that do no more."""

from __future__ import annotations

from collections.abc import Callable

from dexnb.cli import words
from dexnb.cli.text import duration, message, printable
from dexnb.cli.watched import Watched
from dexnb.model.event import Event


class PlainLines:
    """Turns the events of one run, in order, into lines; unchanged rounds say nothing."""

    def __init__(self) -> None:
        """Start with no checkpoint told."""
        self._checkpoints: dict[str, str | None] = {}
        self._methods: dict[str, str] = {}

    def line(self, event: Event, started_at: float) -> str | None:
        """Give an event's line, or None for one that is not notable.

        Args:
            event: The event.
            started_at: When the run started: where the time in front counts from.
        """
        text = self._text(event)
        if text is None:
            return None
        return _line(event.time - started_at, event.step_execution_id or "Flow", text)

    def _text(self, event: Event) -> str | None:
        if event.kind == "attempt_started":
            self._checkpoints[event.step_execution_id] = event.payload["checkpoint"]
            self._methods[event.step_execution_id] = event.payload.get("method", "execute")
        if event.kind == "heartbeat":
            return self._new_checkpoint(event)
        if event.kind in words.ENDINGS:
            self._checkpoints.pop(event.step_execution_id, None)
            self._methods.pop(event.step_execution_id, None)
            return words.outcome(event)
        if (attempted := _ATTEMPTS.get(event.kind)) is not None:
            return attempted(event, self._methods.get(event.step_execution_id, "execute"))
        if (tell := _TEXTS.get(event.kind)) is not None:
            return tell(event)
        return None

    def _new_checkpoint(self, event: Event) -> str | None:
        checkpoint = event.payload["checkpoint"]
        if self._checkpoints.get(event.step_execution_id) == checkpoint:
            return None
        self._checkpoints[event.step_execution_id] = checkpoint
        shown = "cleared" if checkpoint is None else printable(checkpoint)
        return f"heartbeat, checkpoint {shown}"


def waiting(run: Watched, now: float) -> str:
    """Give the line that says which code a run waits for."""
    return _line(now - run.started_at, "Flow", printable(run.waiting_for_code))


def _line(seconds: float, who: str, text: str) -> str:
    return f"{seconds:8.2f} s  {printable(who, 60)}  {text}"


def _flow_started(event: Event) -> str:
    flow = f"{printable(event.payload['flow_type'])} {printable(event.flow_id)}"
    return f"{flow} started, run {printable(event.run_id)}"


def _flow_closed(event: Event) -> str:
    payload = event.payload
    error = f": {printable(payload['error_message'])}" if payload["error_message"] else ""
    return f"{printable(payload['status'])}{error}"


def _scheduled(event: Event) -> str | None:
    error = event.payload["recovery_error"]
    return None if error is None else f"recovers from {words.failure(error)}"


def _attempt_started(event: Event, method: str) -> str:
    payload = event.payload
    number = words.attempt(event.attempt, payload["maximum_attempts"], method)
    checkpoint = payload["checkpoint"]
    if checkpoint is not None:
        return f"{number} begins from checkpoint {printable(checkpoint)}"
    return f"{number} begins" + (" without a checkpoint" if event.attempt > 1 else "")


def _attempt_ended(event: Event, method: str) -> str | None:
    number = words.attempt(event.attempt, method=method)
    if "failure" in event.payload:
        return f"{number} failed: {words.failure(event.payload['failure'])}"
    if "reason" in event.payload:
        reason = str(event.payload["reason"]).replace("_", " ")
        return f"{number} was {printable(reason)}"
    return None


def _retry(event: Event, method: str) -> str:
    number = words.attempt(event.payload["attempt"], method=method)
    return f"{number} follows in {duration(event.payload['delay'])}"


def _stream_message(event: Event) -> str:
    return f"{printable(event.payload['stream'], 60)}: {message(event.payload['value'])}"


def _note(event: Event) -> str:
    return words.note(event.kind, event.payload)


_ATTEMPTS: dict[str, Callable[[Event, str], str | None]] = {
    "attempt_started": _attempt_started,
    "attempt_ended": _attempt_ended,
    "retry_scheduled": _retry,
}
_TEXTS: dict[str, Callable[[Event], str | None]] = {
    "flow_started": _flow_started,
    "flow_closed": _flow_closed,
    "step_scheduled": _scheduled,
    "stream_message": _stream_message,
    "engine_error": _note,
    "late_write": _note,
    "log": _note,
    "stall": _note,
    "stop_requested": _note,
    "suspended": _note,
}
