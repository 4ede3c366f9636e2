"""What a batch writes for Streams and telemetry, within their byte budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dexnb.providers.items import StreamWrite
from dexnb.providers.postgres.batch import Batch, StreamName, stream_name
from dexnb.providers.postgres.encoding import data
from dexnb.providers.postgres.link import Step
from dexnb.providers.postgres.operations import AppendTelemetry, WriteStream
from dexnb.providers.postgres.writing import Rows, steps

LARGEST_STREAM_MESSAGE = 100 * 1024
STREAM_MESSAGE_OVERHEAD = 512
TELEMETRY_OF_A_RUN = 512_000


@dataclass(slots=True)
class _Stream:
    """A Stream in bytes ever taken, and where its newest message starts."""

    head: int
    first: int
    newest: int = 0
    capacity: int = 0

    def add(self, size: int, capacity: int) -> int:
        """Append a message; give where it starts."""
        self.newest, self.capacity = self.head, capacity
        self.head += size
        return self.newest

    def cut(self) -> int | None:
        """Give where the oldest message starts that may stay, if the Stream has grown too far.

        Over 90 % of the budget is cut to 80 %, but for the newest message, which always stays.
        """
        if (self.head - self.first) * 10 <= self.capacity * 9:
            return None
        return min(self.newest, -((self.capacity * 8 - self.head * 10) // 10))


def stream_writes(batch: Batch) -> list[Step]:
    """Give the statements that append the messages which are admitted and fit."""
    streams = {name: _Stream(*edges) for name, edges in batch.streams.items()}
    rows: Rows = []
    grown: dict[StreamName, _Stream] = {}
    for operation in batch.of(WriteStream):
        kept = []
        for write, payload in operation.writes:
            cost = len(payload) + STREAM_MESSAGE_OVERHEAD
            kept.append(_is_kept(batch, write, len(payload), cost))
            if kept[-1]:
                name = stream_name(write)
                stream = grown[name] = streams[name]
                rows.append(_row(write, stream.add(cost, write.capacity), payload))
        operation.result = tuple(kept)
    cuts = [(name, stream.cut()) for name, stream in grown.items()]
    return steps(
        [
            ("insert_stream_messages", rows),
            ("trim_streams", [(*name, start) for name, start in cuts if start is not None]),
            ("note_streams", [(*name, stream.head) for name, stream in grown.items()]),
        ]
    )


def _is_kept(batch: Batch, write: StreamWrite, size: int, cost: int) -> bool:
    live = write.token is None or write.token in batch.work
    return live and size <= LARGEST_STREAM_MESSAGE and cost <= write.capacity


def _row(write: StreamWrite, start: int, payload: bytes) -> Sequence[Any]:
    owner = (data(write.flow_type), data(write.stream), data(write.flow_id), data(write.run_id))
    return (*owner, data(write.source), float(write.wall), start, payload)


def telemetry_writes(batch: Batch) -> list[Step]:
    """Give the statements that append chunks and trim the runs that have too many."""
    chunks = [chunk for operation in batch.of(AppendTelemetry) for chunk in operation.chunks]
    starts = dict(batch.telemetry)
    for run_id, _, _, text in chunks:
        starts[run_id] -= len(text)
    rows: Rows = []
    for run_id, first_seq, last_seq, text in chunks:
        rows.append((run_id, first_seq, last_seq, starts[run_id], text))
        starts[run_id] += len(text)
    trims: Rows = [
        (run_id, head - TELEMETRY_OF_A_RUN)
        for run_id, head in starts.items()
        if head > TELEMETRY_OF_A_RUN
    ]
    return steps([("insert_telemetry", rows), ("trim_telemetry", trims)])
