"""What scripts answer, as the contract's values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dexnb.errors import DocumentError, ProviderError
from dexnb.model.event import Event
from dexnb.model.json_text import from_text
from dexnb.providers.items import (
    NewWorkItem,
    OrchestrationItem,
    QueuedMessage,
    RunRecord,
    StreamRecord,
    TelemetryChunk,
    WorkItem,
)
from dexnb.providers.redis.encoding import text, unpacked


def to_turn(answer: Sequence[Any]) -> OrchestrationItem:
    """Give a locked run."""
    token, run_id, flow_id, flow_type, state, version, *messages = answer
    pairs = zip(messages[::2], messages[1::2], strict=True)
    return OrchestrationItem(
        token=text(token),
        run_id=text(run_id),
        flow_id=text(flow_id),
        flow_type=text(flow_type),
        state=text(state),
        version=version,
        messages=tuple(QueuedMessage(text(message), tries) for message, tries in pairs),
    )


def to_work(answer: Sequence[Any]) -> WorkItem:
    """Give a locked work item."""
    token, run_id, flow_id, flow_type, step_type, step, payload, attempt, *rest = answer
    deliveries, checkpoint, first_attempt_at = rest
    item = NewWorkItem(
        run_id=text(run_id),
        flow_id=text(flow_id),
        flow_type=text(flow_type),
        step_type=text(step_type),
        step_execution_id=text(step),
        payload=text(payload),
        attempt=int(attempt) + deliveries - 1,
        checkpoint=None if checkpoint is None else text(checkpoint),
        first_attempt_at=float(first_attempt_at),
    )
    return WorkItem(text(token), item, deliveries)


def to_run(answer: Sequence[Any]) -> RunRecord:
    """Give a run."""
    run_id, flow_id, flow_type, status, state, version = answer
    return RunRecord(
        run_id=text(run_id),
        flow_id=text(flow_id),
        flow_type=text(flow_type),
        status=text(status),
        version=version,
        state=text(state),
    )


def to_events(run_id: str, answer: Sequence[bytes]) -> tuple[Event, ...]:
    """Give a run's events.

    Raises:
        ProviderError: Not retryable when a stored event cannot be decoded: none is left out.
    """
    try:
        return tuple(Event.from_json(from_text(text(event), "event")) for event in answer)
    except DocumentError as error:
        message = f"run {run_id}: {error}"
        raise ProviderError("read_events", message, retryable=False) from error


def to_stream_record(flow_type: str, stream: str, answer: bytes) -> StreamRecord:
    """Give a Stream message.

    Raises:
        DocumentError: It cannot be decoded.
    """
    position, _, record = answer.split(b":", 2)
    what = f"message {text(position)} of Stream {flow_type}.{stream}"
    flow_id, run_id, source, wall, payload = unpacked(record, 5, what)
    return StreamRecord(
        position=int(position),
        flow_type=flow_type,
        stream=stream,
        flow_id=flow_id,
        run_id=run_id,
        source=source,
        payload=payload,
        wall=float(wall),
    )


def to_chunk(run_id: str, answer: bytes) -> TelemetryChunk:
    """Give a chunk of telemetry.

    Raises:
        DocumentError: It cannot be decoded.
    """
    _, _, record = answer.partition(b":")
    first, last, content = unpacked(record, 3, f"telemetry of run {run_id}")
    return TelemetryChunk(run_id, first, last, content)
