"""The arguments that turns, messages and work items become for a script."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from dexnb.errors import ProviderError
from dexnb.model.event import Event
from dexnb.model.json_text import to_text
from dexnb.providers.items import Commit, NewMessage, NewWorkItem, StreamWrite
from dexnb.providers.redis.encoding import listed, micros, optional, packed, raw, stamp

LARGEST_STREAM_MESSAGE = 100 * 1024
STREAM_MESSAGE_OVERHEAD = 512


def turn_arguments(operation: str, commit: Commit) -> list[Any]:
    """Give a commit as `take_turn` reads it.

    Raises:
        ProviderError: Not retryable: the events are not numbered without a gap.
        DocumentError: An event is not plain JSON.
    """
    return [
        raw(commit.run_id),
        raw(commit.state),
        raw(commit.status),
        _first_seq(operation, commit.events),
        *listed(to_text(event.to_json()) for event in commit.events),
        *_each(work_arguments(item) for item in commit.work_items),
        *listed(map(raw, commit.cancelled)),
        *_each(message_arguments(message) for message in commit.messages),
    ]


def message_arguments(message: NewMessage) -> list[Any]:
    """Give a message as `take_message` reads it."""
    return [raw(message.run_id), micros(message.visible_at), raw(message.text)]


def work_arguments(item: NewWorkItem) -> list[Any]:
    """Give a work item as `take_work` reads it."""
    fields: dict[str, Any] = {
        "flow_id": raw(item.flow_id),
        "flow_type": raw(item.flow_type),
        "step_type": raw(item.step_type),
        "payload": raw(item.payload),
        "attempt": int(item.attempt),
        "deliveries": 0,
    }
    if item.checkpoint is not None:
        fields["checkpoint"] = raw(item.checkpoint)
    if item.first_attempt_at is not None:
        fields["first_attempt_at"] = stamp(item.first_attempt_at)
    return [
        raw(item.run_id),
        raw(item.step_execution_id),
        micros(item.visible_at),
        raw(item.handler),
        *listed(chain.from_iterable(fields.items())),
    ]


def one(arguments: list[Any] | None) -> list[Any]:
    """Give something as a list of one, or nothing as a list of none."""
    return [0] if arguments is None else [1, *arguments]


def stream_arguments(write: StreamWrite) -> list[Any]:
    """Give a Stream message as `write_stream` reads it."""
    size = len(raw(write.payload))
    cost = size + STREAM_MESSAGE_OVERHEAD
    fits = size <= LARGEST_STREAM_MESSAGE and cost <= write.capacity
    record = packed(write.flow_id, write.run_id, write.source, stamp(write.wall), write.payload)
    return [
        stream_name(write.flow_type, write.stream),
        int(write.capacity),
        cost,
        record,
        *optional(write.token),
        int(fits),
    ]


def stream_name(flow_type: str, stream: str) -> bytes:
    """Name a Stream's key; the length keeps apart what would read alike."""
    owner = raw(flow_type)
    return b"stream:%d:%s:%s" % (len(owner), owner, raw(stream))


def _each(arguments: Any) -> list[Any]:
    items = list(arguments)
    return [len(items), *chain.from_iterable(items)]


def _first_seq(operation: str, events: Sequence[Event]) -> int:
    """Give the number of the first event, or 0 without events."""
    first = events[0].seq if events else 0
    for place, event in enumerate(events):
        if event.seq != first + place:
            given = [event.seq for event in events[:20]]
            message = f"events are numbered {given}; number them one by one without a gap"
            raise ProviderError(operation, message, retryable=False)
    return first
