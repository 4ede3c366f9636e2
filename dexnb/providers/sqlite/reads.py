"""What look-ups give, from the one row that their statement aggregated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dexnb.errors import DocumentError, ProviderError
from dexnb.model.event import Event
from dexnb.model.json_text import from_text
from dexnb.providers.items import QueueDepths, RunRecord, StreamRecord, TelemetryChunk
from dexnb.providers.sqlite.rows import restored


def to_run(row: Any) -> RunRecord | None:
    """Give the run, if there is one."""
    if row is None:
        return None
    run_id, flow_id, flow_type, status, version, state = row
    return RunRecord(
        run_id=restored(run_id),
        flow_id=restored(flow_id),
        flow_type=restored(flow_type),
        status=restored(status),
        version=version,
        state=restored(state),
    )


def to_runs(rows: Any) -> tuple[RunRecord, ...]:
    """Give the runs in order."""
    return tuple(run for run in map(to_run, rows) if run is not None)


def to_events(run_id: str) -> Callable[[Any], tuple[Event, ...]]:
    """Give what decodes a run's events.

    It raises:
        ProviderError: Not retryable when a stored event cannot be decoded: none is left out.
    """

    def decode(rows: Any) -> tuple[Event, ...]:
        try:
            return tuple(Event.from_json(from_text(text, "event")) for text in rows)
        except DocumentError as error:
            message = f"run {run_id}: {error}"
            raise ProviderError("read_events", message, retryable=False) from error

    return decode


def to_stream_records(rows: Any) -> tuple[StreamRecord, ...]:
    """Give Stream messages in order."""
    return tuple(
        StreamRecord(
            position=position,
            flow_type=restored(flow_type),
            stream=restored(stream),
            flow_id=restored(flow_id),
            run_id=restored(run_id),
            source=restored(source),
            payload=restored(payload),
            wall=float(wall),
        )
        for position, flow_type, stream, flow_id, run_id, source, payload, wall in rows
    )


def to_chunks(rows: Any) -> tuple[TelemetryChunk, ...]:
    """Give telemetry chunks in order."""
    return tuple(
        TelemetryChunk(restored(run_id), first, last, restored(text))
        for run_id, first, last, text in rows
    )


def to_depths(row: Any) -> QueueDepths:
    """Give how much waits."""
    messages, items, leased = row
    return QueueDepths(messages, items - leased, leased)
