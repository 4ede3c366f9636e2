"""What an event says, in words: shared by the live view and the plain lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dexnb.cli.text import duration, message, printable
from dexnb.engine.user_traceback import TRACEBACK, raised_at
from dexnb.model.event import Event
from dexnb.model.json_text import to_text

ENDINGS = frozenset({"step_completed", "step_failed", "step_cancelled"})
"""Events that end an execution of a Step."""


def failure(document: dict[str, Any]) -> str:
    """Give a failure's type and text, and the Step's own last error beside a timeout's."""
    text = f"{document['error_type']}: {document['detail']}"
    if (last := document.get("last_error")) is not None:
        text += f" (last error: {last['error_type']}: {last['detail']})"
    return printable(text)


def outcome(event: Event) -> str:
    """Say how an execution of a Step ended and what follows."""
    if event.kind == "step_cancelled":
        return "cancelled"
    if event.kind == "step_failed":
        recovery = event.payload["recovery"]
        follows = f", recovers in {printable(recovery)}" if recovery else ""
        return f"failed for good{follows}: {failure(event.payload['failure'])}"
    decision = event.payload["decision"]
    targets = [printable(movement["step_type"]) for movement in decision["movements"]]
    if targets:
        return printable(f"go_to {', '.join(targets)}")
    kind = printable(decision["kind"])
    if decision["has_output"]:
        return f"{kind}: {message(to_text(decision['output']))}"
    return f"{kind}: {printable(decision['reason'])}" if decision["reason"] else kind


def attempt(number: int, maximum: int = 0, method: str = "execute") -> str:
    """Count an attempt against its limit, where it has one; wait_for has attempts of its own."""
    of = f" of {maximum}" if maximum else ""
    return f"{'' if method == 'execute' else f'{method} '}attempt {number}{of}"


def note(kind: str, payload: dict[str, Any]) -> str:
    """Say what a notable event tells: a log line, a stall, a refused write."""
    return _NOTES[kind](payload)


def _log(payload: dict[str, Any]) -> str:
    source, line = payload["source"], payload["line"]
    if source == TRACEBACK:
        # All of it stands in the run's log, and would take the whole screen.
        line = raised_at(line) or line
    return f"{printable(source)}: {printable(line)}"


def _stop(payload: dict[str, Any]) -> str:
    reason = f": {printable(payload['reason'])}" if payload["reason"] else ""
    return f"stop requested ({printable(payload['type'])}){reason}"


def _late_write(payload: dict[str, Any]) -> str:
    what, reason = printable(payload["what"]), printable(payload["reason"])
    return f"{what} came after the attempt was over and was refused ({reason})"


def _stall(payload: dict[str, Any]) -> str:
    where = f" at line {payload['line']}" if payload["line"] else ""
    fix = "await instead, or make the Step a plain def"
    return f"blocked its event loop for {duration(payload['seconds'])}{where}; {fix}"


_NOTES: dict[str, Callable[[dict[str, Any]], str]] = {
    "engine_error": lambda payload: f"engine: {printable(payload['error'])}",
    "late_write": _late_write,
    "log": _log,
    "stall": _stall,
    "stop_requested": _stop,
    "suspended": lambda payload: f"the machine slept for {duration(payload['seconds'])}",
}
