"""`Telemetry`: what happens inside attempts and dispatchers, kept in memory within one budget.

It feeds the views and never decides anything. Entries are plain tuples until somebody looks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from dexnb.model.event import Event, TelemetryKind
from dexnb.model.json_text import to_text
from dexnb.providers import TelemetryChunk

ENTRY_BYTES = 200
"""What an entry is taken to weigh beside the text that it names itself."""

CHUNK_EVENTS = 200
CHUNK_BYTES = 64_000
FLUSH_EVENTS = 4000
"""Events written in one go at most; the rest waits, so that encoding never holds up the engine."""

MOST_GONE = 1000
"""Dropped entries for which a log keeps room at most, so that dropping one moves few others."""

_Entry = tuple[float, float, TelemetryKind, str, int, dict[str, Any], int]
_NOTHING: dict[str, Any] = {}
_DROPPED: _Entry = (0.0, 0.0, "log", "", 0, _NOTHING, 0)


class RunLog:
    """One run's entries, oldest first; their numbers have no gap, so none of them keeps its own."""

    __slots__ = ("_entries", "_gone", "flow_id", "run_id", "saved", "seq")

    def __init__(self, run_id: str, flow_id: str, seq: int) -> None:
        """Count on from `seq`."""
        self.run_id = run_id
        self.flow_id = flow_id
        self.seq = seq
        self.saved = seq
        # A list, because an empty deque weighs as much as a whole attempt.
        self._entries: list[_Entry] = []
        self._gone = 0

    def __len__(self) -> int:
        """Count the entries."""
        return len(self._entries) - self._gone

    def add(self, entry: _Entry) -> None:
        """Add the newest one."""
        self.seq += 1
        self._entries.append(entry)

    def drop(self) -> _Entry:
        """Drop the oldest one."""
        entry, self._entries[self._gone] = self._entries[self._gone], _DROPPED
        self._gone += 1
        if self._gone == len(self._entries) or self._gone >= MOST_GONE:
            del self._entries[: self._gone]
            self._gone = 0
        return entry

    def behind(self, seq: int) -> tuple[int, list[_Entry]]:
        """Give the entries behind a number, and the number of the first of them."""
        count = min(max(self.seq - seq, 0), len(self))
        return self.seq - count + 1, self._entries[len(self._entries) - count :]


class Telemetry:
    """The engine's telemetry; `record` may be called from any thread.

    Args:
        now: Store time, cheap.
        wall_offset: Gives the seconds to add to store time for a wall-clock stamp.
        budget: Bytes for all runs together; the oldest entries of all go first.
        after: Number behind which every run's entries count on.
        observed: Told of each entry that is of no attempt.
    """

    def __init__(
        self,
        now: Callable[[], float],
        wall_offset: Callable[[], float],
        budget: int,
        after: int = 0,
        observed: Callable[[TelemetryKind, dict[str, Any]], None] = lambda *_: None,
    ) -> None:
        """Start empty."""
        self._now = now
        self._wall_offset = wall_offset
        self._budget = budget
        self._observed = observed
        self._lock = threading.Lock()
        self._logs: dict[str, RunLog] = {}
        self._order: deque[RunLog] = deque()
        self._dirty: dict[str, RunLog] = {}
        self._highest_dropped = after
        self.bytes = 0
        self.recorded = 0
        self.look_at_wall_clock()

    def look_at_wall_clock(self) -> None:
        """Stamp later entries by the wall clock as it is set now; earlier ones keep their stamp."""
        self._offset = self._wall_offset()

    def record(
        self,
        run_id: str,
        flow_id: str,
        kind: TelemetryKind,
        step_execution_id: str = "",
        attempt: int = 0,
        payload: dict[str, Any] = _NOTHING,
        size: int = 0,
    ) -> None:
        """Keep one entry; the payload must not be changed afterwards.

        `size` is the length of text in the payload that comes from outside.
        """
        time = self._now()
        weight = ENTRY_BYTES + size
        with self._lock:
            log = self._logs.get(run_id)
            if log is None:
                # Microseconds of store time: a later engine on the same store counts on from there.
                seq = max(int(time * 1e6), self._highest_dropped)
                log = self._logs[run_id] = RunLog(run_id, flow_id, seq)
            log.add((time, self._offset, kind, step_execution_id, attempt, payload, weight))
            self._order.append(log)
            self._dirty[run_id] = log
            self.recorded += 1
            self.bytes += weight
            while self.bytes > self._budget:
                self._drop_oldest()
        if not attempt:
            self._observed(kind, payload)

    def _drop_oldest(self) -> None:
        log = self._order.popleft()
        self.bytes -= log.drop()[-1]
        if not len(log):
            self._highest_dropped = max(self._highest_dropped, log.seq)
            self._logs.pop(log.run_id, None)
            self._dirty.pop(log.run_id, None)

    def events(self, run_id: str, after: int = 0) -> list[Event]:
        """Give a run's entries in memory behind `seq` `after`; the engine's own for an empty id."""
        with self._lock:
            log = self._logs.get(run_id)
            if log is None:
                return []
            first, entries = log.behind(after)
        return [_event(log, seq, entry) for seq, entry in enumerate(entries, first)]

    @property
    def dirty(self) -> bool:
        """Tell whether anything waits to be written to the store."""
        return bool(self._dirty)

    def take_chunks(self) -> list[TelemetryChunk]:
        """Take what is to be written to the store, at most `FLUSH_EVENTS` events."""
        left = FLUSH_EVENTS
        chunks: list[TelemetryChunk] = []
        while left > 0 and self._dirty:
            log, first, entries = self._take_one(left)
            left -= len(entries)
            chunks += _chunks(log, first, entries)
        return chunks

    def _take_one(self, limit: int) -> tuple[RunLog, int, list[_Entry]]:
        with self._lock:
            run_id, log = next(iter(self._dirty.items()))
            # The engine's own entries belong to no run and stay in memory.
            first, entries = log.behind(log.saved if run_id else log.seq)
            taken = entries[:limit]
            log.saved = first + len(taken) - 1
            if len(taken) == len(entries):
                del self._dirty[run_id]
        return log, first, taken


def _chunks(log: RunLog, number: int, entries: list[_Entry]) -> list[TelemetryChunk]:
    chunks: list[TelemetryChunk] = []
    part: list[str] = []
    size = 0
    names = f'"flow_id":{to_text(log.flow_id)},"run_id":{to_text(log.run_id)}'
    steps = {step: to_text(step) for step in {entry[3] for entry in entries}}
    for seq, entry in enumerate(entries, number):
        text = _text(names, steps, seq, entry)
        if part and (len(part) == CHUNK_EVENTS or size + len(text) > CHUNK_BYTES):
            chunks.append(_chunk(log, seq - 1, part))
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        chunks.append(_chunk(log, number + len(entries) - 1, part))
    return chunks


def _chunk(log: RunLog, last: int, texts: list[str]) -> TelemetryChunk:
    return TelemetryChunk(log.run_id, last - len(texts) + 1, last, "\n".join(texts))


def _text(names: str, steps: Mapping[str, str], seq: int, entry: _Entry) -> str:
    """Write an entry just as `to_text` writes its event, in half the time: there are very many."""
    time, offset, kind, step_execution_id, attempt, payload, _ = entry
    return (
        f'{{"seq":{seq},{names},"wall":{time + offset!r},"time":{time!r},"kind":"{kind}",'
        f'"step_execution_id":{steps[step_execution_id]},"attempt":{attempt},'
        f'"payload":{to_text(payload)}}}'
    )


def _event(log: RunLog, seq: int, entry: _Entry) -> Event:
    time, offset, kind, step_execution_id, attempt, payload, _ = entry
    return Event(
        seq, log.flow_id, log.run_id, time + offset, time, kind, step_execution_id, attempt, payload
    )
