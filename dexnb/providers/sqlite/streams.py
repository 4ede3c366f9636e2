"""What a batch writes for Streams and telemetry, within their byte budgets."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

from dexnb.providers.items import StreamWrite
from dexnb.providers.sqlite.batch import Batch, StreamName
from dexnb.providers.sqlite.operations import AppendTelemetry, WriteStream
from dexnb.providers.sqlite.rows import answer, size_of, stamp, stored

LARGEST_STREAM_MESSAGE = 100 * 1024
STREAM_MESSAGE_OVERHEAD = 512
TELEMETRY_OF_A_RUN = 512_000


@dataclass(slots=True)
class _Stream:
    """A Stream in bytes ever taken: `head` by all messages, `first` before the oldest kept.

    `starts` are the places of this batch's messages, and of the stored ones once looked up.
    """

    name: StreamName
    head: int
    first: int
    starts: list[int] = field(default_factory=list)
    looked_up: bool = False

    def add(self, size: int) -> int:
        """Append a message; give where it starts."""
        start = self.head
        self.head += size
        self.starts.append(start)
        return start

    def trim(self, batch: Batch, capacity: int) -> None:
        """Move `first` so that 80 % of the budget is kept, and the newest message always."""
        if not self.looked_up:
            self._look_up(batch)
        index = bisect_left(self.starts, self.head * 10 - capacity * 8, key=lambda s: s * 10)
        self.starts = self.starts[min(index, len(self.starts) - 1) :]
        self.first = self.starts[0]

    def _look_up(self, batch: Batch) -> None:
        flow_type, stream = map(stored, self.name)
        (text,) = batch.read("stream_starts", flow_type=flow_type, stream=stream)
        self.starts = [*answer(text), *self.starts]
        self.looked_up = True


class _Streams:
    """The Streams of a batch, opened when they are first written."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._streams: dict[StreamName, _Stream] = {}
        self.rows: list[list[Any]] = []

    def write(self, message: StreamWrite) -> bool:
        """Append a message; tell whether it was kept."""
        size = size_of(message.payload)
        cost = size + STREAM_MESSAGE_OVERHEAD
        live = message.token is None or message.token in self._batch.admitted.work
        if not live or size > LARGEST_STREAM_MESSAGE or cost > message.capacity:
            return False
        stream = self._open((message.flow_type, message.stream))
        start = stream.add(cost)
        self.rows.append(_row(message, start, cost))
        if (stream.head - stream.first) * 10 > message.capacity * 9:
            stream.trim(self._batch, message.capacity)
        return True

    def trims(self) -> list[list[Any]]:
        """Give the Streams that lose messages, and where the oldest kept one starts."""
        first_before = self._batch.admitted.streams
        return [
            [*map(stored, stream.name), stream.first]
            for stream in self._streams.values()
            if stream.first > first_before[stream.name][1]
        ]

    def _open(self, name: StreamName) -> _Stream:
        if name not in self._streams:
            self._streams[name] = _Stream(name, *self._batch.admitted.streams[name])
        return self._streams[name]


def write_streams(batch: Batch) -> None:
    """Append the messages that are admitted and fit, and trim the Streams that grew too far."""
    streams = _Streams(batch)
    for operation in batch.of(WriteStream):
        operation.result = tuple(map(streams.write, operation.writes))
    batch.write_rows("insert_stream_messages", streams.rows)
    batch.write_rows("trim_streams", streams.trims())


def _row(message: StreamWrite, start: int, cost: int) -> list[Any]:
    return [
        stored(message.flow_type),
        stored(message.stream),
        stored(message.flow_id),
        stored(message.run_id),
        stored(message.source),
        stamp(message.wall),
        start,
        cost,
        stored(message.payload),
    ]


def write_telemetry(batch: Batch) -> None:
    """Append chunks, and trim the runs that have too many."""
    heads = dict(batch.admitted.telemetry)
    rows: list[list[Any]] = []
    for operation in batch.of(AppendTelemetry):
        for run_id, first_seq, last_seq, size, text in operation.rows:
            rows.append([run_id, first_seq, last_seq, heads[run_id], size, text])
            heads[run_id] += size
    batch.write_rows("insert_telemetry", rows)
    trims: list[list[Any]] = [[run_id, head - TELEMETRY_OF_A_RUN] for run_id, head in heads.items()]
    batch.write_rows("trim_telemetry", [trim for trim in trims if trim[1] > 0])
