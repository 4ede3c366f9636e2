"""`RunView`: what a page shows of a run: the fold of its whole log, bounded in size.

The same fold exists in TypeScript; both are checked on the same logs. It is plain JSON throughout,
so that a snapshot of it can be sent as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from dexnb.model.attempt_marks import begin_phase, end_phase
from dexnb.model.data_view import apply_data, new_data, new_step_data
from dexnb.model.event import Event

MOST_BEATS = 600
MOST_ROWS = 500
"""Stream messages, log lines and notes kept, each."""

MOST_ENDED = 200
"""Executions kept that have ended; those that have not are all kept, `executions` counts all."""

MOST_ATTEMPTS = 100
"""Attempts kept of an execution: the first one and the newest."""

View = dict[str, Any]

_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


def new_view() -> View:
    """Give the view of a run of which nothing is known yet."""
    return {
        "flow_id": "",
        "run_id": "",
        "flow_type": "",
        "status": "WAITING",
        "error_type": "",
        "error_message": "",
        "started_at": None,
        "closed_at": None,
        "time": 0.0,
        "wall_offset": 0.0,
        "overrides": {},
        "steps": {},
        "ended": [],
        "executions": {},
        "taken": [],
        "messages": [],
        "message_count": 0,
        "log": [],
        "log_count": 0,
        "notes": [],
        **new_data(),
    }


def view_of(events: Iterable[Event]) -> View:
    """Fold a whole log."""
    view = new_view()
    for event in events:
        apply(view, event)
    return view


def apply(view: View, event: Event) -> None:
    """Fold one event of the run's log in; kinds that show nothing change only the time."""
    view["time"] = max(view["time"], event.time)
    view["wall_offset"] = event.wall - event.time
    change = _CHANGES.get(event.kind)
    if change is not None:
        change(view, event)
    note = apply_data(view, event)
    if note:
        _add_note(view, event, note)


def _flow_started(view: View, event: Event) -> None:
    view.update(
        flow_id=event.flow_id,
        run_id=event.run_id,
        flow_type=event.payload["flow_type"],
        overrides=event.payload["overrides"],
        status="RUNNING",
        started_at=event.time,
    )


def _step(view: View, event: Event) -> View:
    """Give an execution's entry; telemetry may come before the event that schedules it.

    What an execution that is no longer kept still tells goes nowhere.
    """
    key = event.step_execution_id
    found: View | None = view["steps"].get(key)
    if found is not None:
        return found
    step_type, _, number = key.rpartition("-")
    made: View = {
        "step_type": step_type,
        "from": "",
        "scheduled_at": event.time,
        "ended_at": None,
        "outcome": "",
        "recovery_error": None,
        "retry_at": None,
        "attempts": [],
        **new_step_data(),
    }
    # Executions of a Step are numbered as they are scheduled.
    known = view["executions"].get(step_type, 0)
    if not (_NUMBER.fullmatch(number) and int(number) <= known):
        view["steps"][key] = made
    return made


def _step_scheduled(view: View, event: Event) -> None:
    step = _step(view, event)
    payload = event.payload
    step["step_type"] = payload["step_type"]
    step["from"] = payload["from_step_execution_id"]
    step["scheduled_at"] = event.time
    step["recovery_error"] = payload["recovery_error"]
    counts = view["executions"]
    counts[step["step_type"]] = counts.get(step["step_type"], 0) + 1
    kind = "transition" if payload["recovery_error"] is None else "failure_transition"
    origin = view["steps"].get(step["from"])
    if origin is not None:
        edge = [origin["step_type"], step["step_type"], kind]
        if edge not in view["taken"]:
            view["taken"].append(edge)


def _step_completed(view: View, event: Event) -> None:
    _end_step(view, event, event.payload["decision"]["kind"])


def _step_failed(view: View, event: Event) -> None:
    _end_step(view, event, "failed")


def _step_cancelled(view: View, event: Event) -> None:
    _end_step(view, event, "cancelled")


def _wait_started(view: View, event: Event) -> None:
    _close_attempts(view, event, "wait")


def _wait_failed(view: View, event: Event) -> None:
    _close_attempts(view, event, "failed")


def _close_attempts(view: View, event: Event, outcome: str) -> View:
    step = _step(view, event)
    step["retry_at"] = None
    for attempt in step["attempts"]:
        if attempt["ended_at"] is None:
            _close_attempt(attempt, event.time, outcome)
    return step


def _end_step(view: View, event: Event, outcome: str) -> None:
    step = _close_attempts(view, event, outcome)
    step["ended_at"] = event.time
    step["outcome"] = outcome
    view["ended"].append(event.step_execution_id)
    if len(view["ended"]) > MOST_ENDED:
        view["steps"].pop(view["ended"].pop(0), None)


def _knobs_changed(view: View, event: Event) -> None:
    view["overrides"] = {**view["overrides"], **event.payload["overrides"]}


def _flow_closed(view: View, event: Event) -> None:
    view["status"] = event.payload["status"]
    view["error_type"] = event.payload["error_type"]
    view["error_message"] = event.payload["error_message"]
    view["closed_at"] = event.time
    view["locks"] = {}


def _attempt_started(view: View, event: Event) -> None:
    step = _step(view, event)
    for attempt in step["attempts"]:
        if attempt["ended_at"] is None:
            # The engine that ran it is gone and could not say so.
            _close_attempt(attempt, max(attempt["last_sign"], attempt["started_at"]), "lost")
    step["retry_at"] = None
    attempt = _new_attempt(step, event)
    attempt["limits"] = {
        name: event.payload[name]
        for name in (
            "execute_method_timeout",
            "heartbeat_timeout",
            "maximum_attempts",
            "total_duration",
        )
    }
    attempt["first_attempt_at"] = event.payload["first_attempt_at"]
    attempt["resumed_from"] = event.payload["checkpoint"]
    attempt["checkpoint"] = event.payload["checkpoint"]


def _attempt(view: View, event: Event) -> View:
    step = _step(view, event)
    for attempt in reversed(step["attempts"]):
        if attempt["attempt"] == event.attempt:
            found: View = attempt
            return found
    return _new_attempt(step, event)


def _new_attempt(step: View, event: Event) -> View:
    made: View = {
        "attempt": event.attempt,
        "method": event.payload.get("method", "execute"),
        "started_at": event.time,
        "ended_at": None,
        "outcome": "",
        "failure": None,
        "limits": None,
        "first_attempt_at": None,
        "resumed_from": None,
        "rounds": 0,
        "sleeps": 0,
        "phase": "",
        "phase_since": event.time,
        "phase_line": 0,
        "phase_what": "",
        "marks": [],
        "beats": [],
        "beat_count": 0,
        "last_sign": event.time,
        "longest_silence": 0.0,
        "checkpoint": None,
        "checkpoint_at": None,
        "late_writes": 0,
    }
    step["attempts"].append(made)
    if len(step["attempts"]) > MOST_ATTEMPTS:
        del step["attempts"][1]
    return made


def _limits_changed(view: View, event: Event) -> None:
    _attempt(view, event)["limits"] = event.payload


def _attempt_ended(view: View, event: Event) -> None:
    attempt = _attempt(view, event)
    payload = event.payload
    failure = payload.get("failure")
    attempt["failure"] = failure
    outcome = "failed" if failure else payload.get("decision") or payload.get("reason", "")
    _close_attempt(attempt, event.time, outcome)


def _close_attempt(attempt: View, time: float, outcome: str) -> None:
    end_phase(attempt, time)
    attempt["phase"] = ""
    attempt["ended_at"] = time
    attempt["outcome"] = outcome
    attempt["longest_silence"] = max(attempt["longest_silence"], time - attempt["last_sign"])


def _retry_scheduled(view: View, event: Event) -> None:
    step = _step(view, event)
    newest = step["attempts"][-1]["attempt"] if step["attempts"] else 0
    # An attempt that was replaced, or whose Step has ended, may tell of a retry that never comes.
    if step["ended_at"] is None and newest <= event.attempt:
        step["retry_at"] = event.time + event.payload["delay"]


def _round_call(view: View, event: Event) -> None:
    attempt = _attempt(view, event)
    attempt["rounds"] += 1
    begin_phase(attempt, event, "call")


def _round_sleep(view: View, event: Event) -> None:
    attempt = _attempt(view, event)
    attempt["sleeps"] += 1
    begin_phase(attempt, event, "sleep")


def _heartbeat(view: View, event: Event) -> None:
    attempt = _attempt(view, event)
    _sign(attempt, event.time)
    attempt["beat_count"] += 1
    attempt["beats"].append(event.time)
    if len(attempt["beats"]) > MOST_BEATS:
        # Every second one of the older half goes: the picture thins out, its span stays.
        half = MOST_BEATS // 2
        attempt["beats"] = attempt["beats"][:half:2] + attempt["beats"][half:]
    attempt["checkpoint"] = event.payload["checkpoint"]
    attempt["checkpoint_at"] = event.time


def _sign(attempt: View, time: float) -> None:
    attempt["longest_silence"] = max(attempt["longest_silence"], time - attempt["last_sign"])
    attempt["last_sign"] = time


def _stream_message(view: View, event: Event) -> None:
    _sign(_attempt(view, event), event.time)
    view["message_count"] += 1
    _row(view, "messages", event, stream=event.payload["stream"], value=event.payload["value"])


def _late_write(view: View, event: Event) -> None:
    if event.step_execution_id and event.attempt:
        _attempt(view, event)["late_writes"] += 1
    _add_note(view, event, f"{event.payload['what']} refused: {event.payload['reason']}")


def _stop_requested(view: View, event: Event) -> None:
    kind, reason = event.payload["type"], event.payload["reason"]
    _add_note(view, event, f"{kind}: {reason}" if reason else kind)


def _log(view: View, event: Event) -> None:
    view["log_count"] += 1
    _row(view, "log", event, source=event.payload["source"], line=event.payload["line"])


def _note(view: View, event: Event) -> None:
    payload = event.payload
    text = payload.get("error", "")
    if "seconds" in payload:
        place = f" in {payload['step']} line {payload['line']}" if "line" in payload else ""
        text = f"{payload['seconds']:.1f} s{place}"
    _add_note(view, event, text)


def _add_note(view: View, event: Event, text: str) -> None:
    # What was written shows elsewhere, and may be large.
    payload = {name: value for name, value in event.payload.items() if name != "writes"}
    _row(view, "notes", event, kind=event.kind, text=text, payload=payload)


def _row(view: View, name: str, event: Event, **values: Any) -> None:
    rows = view[name]
    rows.append(
        {
            "time": event.time,
            "step": event.step_execution_id,
            "attempt": event.attempt,
            **values,
        }
    )
    if len(rows) > MOST_ROWS:
        del rows[0]


_CHANGES: dict[str, Any] = {
    "flow_started": _flow_started,
    "step_scheduled": _step_scheduled,
    "wait_started": _wait_started,
    "wait_failed": _wait_failed,
    "step_completed": _step_completed,
    "step_failed": _step_failed,
    "step_cancelled": _step_cancelled,
    "stop_requested": _stop_requested,
    "knobs_changed": _knobs_changed,
    "flow_closed": _flow_closed,
    "attempt_started": _attempt_started,
    "attempt_ended": _attempt_ended,
    "limits_changed": _limits_changed,
    "retry_scheduled": _retry_scheduled,
    "round_call": _round_call,
    "round_sleep": _round_sleep,
    "heartbeat": _heartbeat,
    "stream_message": _stream_message,
    "late_write": _late_write,
    "log": _log,
    "stall": _note,
    "suspended": _note,
    "engine_error": _note,
}
