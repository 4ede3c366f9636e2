"""What the memory store keeps within byte budgets: Stream messages and telemetry."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from dexnb.providers.items import StreamRecord, StreamWrite, TelemetryChunk

LARGEST_STREAM_MESSAGE = 100 * 1024
STREAM_MESSAGE_OVERHEAD = 512
TELEMETRY_OF_A_RUN = 512_000
TELEMETRY_OF_A_STORE = 64_000_000


def size_of(text: str) -> int:
    """Count the bytes of a stored text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class _Stream:
    records: list[StreamRecord] = field(default_factory=list)
    size: int = 0


class Streams:
    """Stream messages by flow type and Stream, oldest first out."""

    def __init__(self) -> None:
        """Start empty."""
        self._streams: dict[tuple[str, str], _Stream] = {}
        self._position = 0

    def write(self, message: StreamWrite) -> bool:
        """Append a message; tell whether it was kept."""
        size = size_of(message.payload)
        cost = size + STREAM_MESSAGE_OVERHEAD
        if size > LARGEST_STREAM_MESSAGE or cost > message.capacity:
            return False
        stream = self._streams.setdefault((message.flow_type, message.stream), _Stream())
        self._position += 1
        stream.records.append(
            StreamRecord(
                position=self._position,
                flow_type=message.flow_type,
                stream=message.stream,
                flow_id=message.flow_id,
                run_id=message.run_id,
                source=message.source,
                payload=message.payload,
                wall=message.wall,
            )
        )
        stream.size += cost
        if stream.size * 10 > message.capacity * 9:
            _trim(stream, message.capacity)
        return True

    def read(
        self, flow_type: str, stream: str, flow_id: str, after: int, limit: int
    ) -> tuple[StreamRecord, ...]:
        """Give kept messages behind a position; of all flow ids where it is empty."""
        kept = self._streams.get((flow_type, stream), _Stream()).records
        first = bisect_right(kept, after, key=lambda record: record.position)
        behind = islice(kept, first, None)
        found = (record for record in behind if not flow_id or record.flow_id == flow_id)
        return tuple(islice(found, limit))


def _trim(stream: _Stream, capacity: int) -> None:
    # The newest stays in any case: it fits, and its writer was told that it was kept.
    count = 0
    for record in islice(stream.records, len(stream.records) - 1):
        if stream.size * 10 <= capacity * 8:
            break
        stream.size -= size_of(record.payload) + STREAM_MESSAGE_OVERHEAD
        count += 1
    del stream.records[:count]


@dataclass(slots=True)
class _Log:
    chunks: deque[TelemetryChunk] = field(default_factory=deque)
    size: int = 0


class Telemetry:
    """Chunks of telemetry by run, within a budget for each run and one for all of them."""

    def __init__(self) -> None:
        """Start empty."""
        self._logs: OrderedDict[str, _Log] = OrderedDict()
        self._size = 0

    def append(self, chunks: Iterable[TelemetryChunk]) -> None:
        """Keep chunks; oldest first out."""
        for chunk in chunks:
            log = self._logs.setdefault(chunk.run_id, _Log())
            self._logs.move_to_end(chunk.run_id)
            log.chunks.append(chunk)
            self._grow(log, size_of(chunk.text))
            while log.size > TELEMETRY_OF_A_RUN:
                self._shrink(log)
            while self._size > TELEMETRY_OF_A_STORE:
                self._forget()

    def read(self, run_id: str) -> tuple[TelemetryChunk, ...]:
        """Give a run's kept chunks in order."""
        log = self._logs.get(run_id)
        return () if log is None else tuple(log.chunks)

    def _forget(self) -> None:
        """Drop the oldest chunk of the run that was silent longest."""
        run_id = next(iter(self._logs))
        self._shrink(self._logs[run_id])
        if not self._logs[run_id].chunks:
            del self._logs[run_id]

    def _shrink(self, log: _Log) -> None:
        self._grow(log, -size_of(log.chunks.popleft().text))

    def _grow(self, log: _Log, size: int) -> None:
        log.size += size
        self._size += size
