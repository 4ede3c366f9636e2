"""What look-ups give, row by row."""

from __future__ import annotations

from collections.abc import Iterable

from dexnb.errors import DocumentError, ProviderError
from dexnb.model.event import Event
from dexnb.model.json_text import from_text
from dexnb.providers.items import RunRecord, StreamRecord, TelemetryChunk
from dexnb.providers.postgres.encoding import text
from dexnb.providers.postgres.link import Row


def run_record(row: Row) -> RunRecord:
    """Give a run without its history."""
    run_id, flow_id, flow_type, status, version, state = row
    return RunRecord(
        run_id=text(run_id),
        flow_id=text(flow_id),
        flow_type=text(flow_type),
        status=text(status),
        version=version,
        state=text(state),
    )


def events(run_id: str, rows: Iterable[Row]) -> tuple[Event, ...]:
    """Give a run's events.

    Raises:
        ProviderError: Not retryable when a stored event cannot be decoded: none is left out.
    """
    try:
        return tuple(Event.from_json(from_text(text(stored), "event")) for (stored,) in rows)
    except (DocumentError, UnicodeDecodeError) as error:
        message = f"run {run_id}: {error}"
        raise ProviderError("read_events", message, retryable=False) from error


def stream_record(row: Row) -> StreamRecord:
    """Give a Stream message."""
    position, *texts, wall = row
    flow_type, stream, flow_id, run_id, source, payload = map(text, texts)
    return StreamRecord(position, flow_type, stream, flow_id, run_id, source, payload, wall)


def chunk(row: Row) -> TelemetryChunk:
    """Give a chunk of telemetry."""
    run_id, first_seq, last_seq, stored = row
    return TelemetryChunk(text(run_id), first_seq, last_seq, text(stored))
