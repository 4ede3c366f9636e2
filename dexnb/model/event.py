"""`Event`: one thing that happened in a run, and the log files that hold them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, get_args

from dexnb.errors import DocumentError
from dexnb.model.json_text import NUMBER, Fields, check_fields, from_text, to_text
from dexnb.model.shown import shown

DurableKind = Literal[
    "flow_started",
    "step_scheduled",
    "delay_over",
    "locks_taken",
    "wait_started",
    "timer_fired",
    "subflow_changed",
    "wait_ended",
    "wait_failed",
    "step_completed",
    "step_failed",
    "step_cancelled",
    "channel_published",
    "rpc_started",
    "rpc_completed",
    "rpc_refused",
    "parent_added",
    "config_changed",
    "flow_timed_out",
    "time_travelled",
    "stop_requested",
    "knobs_changed",
    "flow_closed",
]
TelemetryKind = Literal[
    "attempt_started",
    "attempt_ended",
    "limits_changed",
    "retry_scheduled",
    "round_call",
    "round_sleep",
    "heartbeat",
    "stream_message",
    "late_write",
    "lock_renewed",
    "dispatcher_cycle",
    "stall",
    "suspended",
    "clock_stepped",
    "engine_error",
    "log",
]
EventKind = DurableKind | TelemetryKind

DURABLE_KINDS: frozenset[str] = frozenset(get_args(DurableKind))
TELEMETRY_KINDS: frozenset[str] = frozenset(get_args(TelemetryKind))


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a run's log.

    Durable events are the Flow's history: `fold` of them gives the state. Telemetry events feed
    the views and never decide anything.

    Args:
        seq: Position within the run, counted from 1, durable and telemetry apart.
        flow_id: The Flow's id; empty for events of the engine itself.
        run_id: The run; empty for events of the engine itself.
        wall: Seconds since the epoch on the wall clock: a stamp, never used for durations.
        time: Seconds on the store's clock, which no wall clock step moves.
        kind: What happened.
        step_execution_id: `StepType-N`, or empty.
        attempt: Counted from 1; 0 where no attempt is meant.
        payload: Plain JSON values, by kind.
    """

    seq: int
    flow_id: str
    run_id: str
    wall: float
    time: float
    kind: EventKind
    step_execution_id: str = ""
    attempt: int = 0
    payload: dict[str, Any] = field(default_factory=dict)

    @property
    def durable(self) -> bool:
        """Tell whether this event is part of the Flow's history."""
        return self.kind in DURABLE_KINDS

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form that Python and TypeScript share."""
        return dict(zip(_FIELDS, _values(self), strict=True))

    @classmethod
    def from_json(cls, document: Any) -> Event:
        """Read the plain JSON form.

        Raises:
            DocumentError: A field is missing or of another type, or the kind is unknown.
        """
        check_fields(document, _TYPES, "event")
        values = {name: document[name] for name in _FIELDS}
        if values["kind"] not in DURABLE_KINDS and values["kind"] not in TELEMETRY_KINDS:
            message = f"event kind {shown(values['kind'])} is unknown"
            raise DocumentError(message)
        return cls(**values)


_FIELDS = tuple(Event.__dataclass_fields__)
_values = attrgetter(*_FIELDS)
_TYPES: Fields = {
    "seq": int,
    "flow_id": str,
    "run_id": str,
    "wall": NUMBER,
    "time": NUMBER,
    "kind": str,
    "step_execution_id": str,
    "attempt": int,
    "payload": dict,
}


def merge(durable: Iterable[Event], telemetry: Iterable[Event]) -> list[Event]:
    """Put both parts of a run's log in one order: by the store's clock, history first on a tie.

    History keeps its own order whatever the clock said, so that it can be folded again.
    """

    def by_time(event: Event) -> float:
        return event.time

    return list(heapq.merge(durable, sorted(telemetry, key=by_time), key=by_time))


def save_log(events: Iterable[Event], path: str | Path) -> None:
    """Write events as JSON Lines, one event a line."""
    with Path(path).open("w", encoding="ascii", newline="\n") as file:
        file.writelines(to_text(event.to_json()) + "\n" for event in events)


def load_log(path: str | Path) -> Iterator[Event]:
    """Read what `save_log` wrote, an event at a time; no code of the log is run.

    Raises:
        DocumentError: A line is no event; the text names its number.
    """
    # Bytes, because text mode would fail on a whole block where one line is no UTF-8.
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield Event.from_json(from_text(line.decode()))
            except (DocumentError, UnicodeDecodeError) as error:
                message = f"{Path(path).name} line {number}: {error}"
                raise DocumentError(message) from error
