"""`Batch`: operations that become one transaction, and what the store says before they are written.

Admit first, then write: whatever is not live fails by itself, and the statements that follow join
what was admitted and locked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dexnb.errors import LeaseLost, ProviderError
from dexnb.providers.items import Started, StreamWrite
from dexnb.providers.parking import Queue
from dexnb.providers.postgres.encoding import columns, data, micros, number_of, text
from dexnb.providers.postgres.link import Row, Step
from dexnb.providers.postgres.operations import (
    AckTurn,
    AckWorkWithTurn,
    AppendTelemetry,
    Fenced,
    Operation,
    RecordBeats,
    RenewWork,
    StartRun,
    WriteStream,
)
from dexnb.providers.postgres.turn import Turn

SomeOperation = TypeVar("SomeOperation", bound=Operation)
StreamName = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A run under a live lock."""

    number: int
    run_id: bytes
    version: int


class Batch:
    """The operations, and the time at which they happen.

    Args:
        operations: In the order in which they were asked for.
        now: Store time in seconds.
        suffix: What makes this batch's lock tokens unique.
        channel: On which other engines hear of it.
    """

    def __init__(
        self, operations: Sequence[Operation], now: float, suffix: str, channel: str
    ) -> None:
        """Nothing is asked yet."""
        self.now = now
        self.micros = micros(now)
        self.suffix = suffix
        self.channel = channel
        self.operations = operations
        self.news: dict[Queue, int] = {}
        """From when on there may be something new to fetch, by queue."""
        self.work: dict[str, int] = {}
        """Live work items by token."""
        self._runs_of_work: dict[str, int] = {}
        self.held: dict[str, HeldRun] = {}
        """Locked runs by live token."""
        self.open_runs: dict[bytes, int] = {}
        """Numbers of open runs that something is sent to."""
        self.turns: list[tuple[int, Turn]] = []
        """What is applied, first turns too, with the number of the run."""
        self.new_runs: list[tuple[int, Turn]] = []
        """Of them, the first turns."""
        self.next_turns: list[tuple[int, int, Turn]] = []
        """The others, with number and version of the run before."""
        self.streams: dict[StreamName, tuple[int, int]] = {}
        """What a Stream ever took, and had taken before its oldest message, in bytes."""
        self.telemetry: dict[bytes, int] = {}
        """What a run's telemetry ever took, this batch included."""
        self._quiet: dict[bytes, int] = {}
        self._open_flows: dict[bytes, bytes] = {}
        self._new_numbers: Iterator[int] = iter(())

    def of(self, kind: type[SomeOperation]) -> list[SomeOperation]:
        """Give the operations of a class that may go on."""
        found = (op for op in self.operations if isinstance(op, kind) and op.failure is None)
        return list(found)

    def tell(self, queue: Queue, due: int = 0) -> None:
        """Note that something may be fetched from that time on."""
        self.news[queue] = min(due, self.news.get(queue, due))

    def questions(self) -> list[Step]:
        """Give the statements that lock and read what the operations are about."""
        asked: list[Step] = []
        tokens = [op.token for op in self.of(Fenced)]
        runs = _numbers(tokens, "r")
        targets = list({target for op in self.operations for target in op.targets()})
        if runs or targets:
            asked.append(("lock_runs", {"turns": runs, "targets": targets}))
        ends = [ack.turn.run_id for ack in self.of(AckWorkWithTurn)]
        if ends:
            asked.append(("quiet_runs", {"runs": ends, "now": self.micros}))
        asked += self._work_questions(_numbers([*tokens, *self._borrowed()], "w"))
        starts = self.of(StartRun)
        if starts:
            asked.append(("open_flows", {"flows": [start.turn.flow_id for start in starts]}))
            asked.append(("run_numbers", {"count": len(starts)}))
        return asked + self._budgets()

    def _work_questions(self, work: list[int]) -> list[Step]:
        turns = [ack.turn for ack in self.of(AckTurn)]
        turns += [end.turn for end in self.of(AckWorkWithTurn)]
        taken = [(turn.run_id, name) for turn in turns for name in turn.cancelled]
        closing = [turn.run_id for turn in turns if turn.closes]
        if not work and not taken and not closing:
            return []
        runs, names = [run for run, _ in taken], [name for _, name in taken]
        return [("lock_work", {"work": work, "runs": runs, "steps": names, "closing": closing})]

    def _borrowed(self) -> Iterator[str]:
        """Give the tokens of operations that go on without those that are not live."""
        for beats in self.of(RecordBeats):
            yield from beats.checkpoints
        for renewal in self.of(RenewWork):
            yield from renewal.tokens
        for write, _ in self.stream_writes():
            if write.token is not None:
                yield write.token

    def stream_writes(self) -> Iterator[tuple[StreamWrite, bytes]]:
        """Give all Stream messages in order."""
        for operation in self.of(WriteStream):
            yield from operation.writes

    def _budgets(self) -> list[Step]:
        asked: list[Step] = []
        names = {stream_name(write) for write, _ in self.stream_writes()}
        if names:
            asked.append(("lock_streams", columns(names)))
        sizes: dict[bytes, int] = {}
        for operation in self.of(AppendTelemetry):
            for run_id, _, _, chunk in operation.chunks:
                sizes[run_id] = sizes.get(run_id, 0) + len(chunk)
        if sizes:
            asked.append(("grow_telemetry", columns(sizes.items())))
        return asked

    def hear(self, asked: Iterable[Step], answers: Iterable[list[Row]]) -> None:
        """Take the answers, and fail what comes too late or does not fit."""
        for (name, _), rows in zip(asked, answers, strict=True):
            getattr(self, f"_hear_{name}")(rows)
        for fenced in self.of(Fenced):
            if fenced.token not in (self.work if fenced.kind == "w" else self.held):
                fenced.failure = LeaseLost(fenced.name, fenced.token)
        for start in self.of(StartRun):
            self._begin(start)
        for ack in self.of(AckTurn):
            self._go_on(ack)
        for end in self.of(AckWorkWithTurn):
            self._end(end)

    def _hear_lock_runs(self, rows: list[Row]) -> None:
        for number, token, lock_end, run_id, version in rows:
            self.open_runs[run_id] = number
            if token is not None and lock_end > self.micros:
                self.held[token] = HeldRun(number, run_id, version)

    def _hear_lock_work(self, rows: list[Row]) -> None:
        for number, run, token, lock_end in rows:
            if token is not None and lock_end > self.micros:
                self.work[token] = number
                self._runs_of_work[token] = run

    def _hear_quiet_runs(self, rows: list[Row]) -> None:
        self._quiet = _pairs(rows)

    def _hear_open_flows(self, rows: list[Row]) -> None:
        self._open_flows = _pairs(rows)

    def _hear_run_numbers(self, rows: list[Row]) -> None:
        self._new_numbers = iter([number for (number,) in rows])

    def _hear_lock_streams(self, rows: list[Row]) -> None:
        self.streams = {(flow_type, name): (head, first) for flow_type, name, head, first in rows}

    def _hear_grow_telemetry(self, rows: list[Row]) -> None:
        self.telemetry = _pairs(rows)

    def _begin(self, start: StartRun) -> None:
        open_run = self._open_flows.get(start.turn.flow_id)
        start.result = Started(text(open_run or start.turn.run_id), created=open_run is None)
        if open_run is not None:
            return
        number = next(self._new_numbers)
        self.open_runs[start.turn.run_id] = number
        start.failure = self._misfit(start.name, start.turn, 0)
        if start.failure is None:
            self.turns.append((number, start.turn))
            self.new_runs.append((number, start.turn))

    def _go_on(self, ack: AckTurn) -> None:
        held = self.held[ack.token]
        if held.run_id != ack.turn.run_id:
            run_id, given = text(held.run_id), text(ack.turn.run_id)
            message = f"lock token {ack.token} is for run {run_id}, not for {given}"
            ack.failure = ProviderError(ack.name, message, retryable=False)
            return
        ack.failure = self._misfit(ack.name, ack.turn, held.version)
        if ack.failure is None:
            self._apply(held.number, held.version, ack.turn)

    def _end(self, end: AckWorkWithTurn) -> None:
        """Apply the turn that an attempt brings along, if its run can take it as it is."""
        turn = end.turn
        number, version = self.open_runs.get(turn.run_id), self._quiet.get(turn.run_id)
        end.result = (
            number is not None
            and number == self._runs_of_work[end.token]
            and version is not None
            and turn.first_seq is not None
            and self._misfit(end.name, turn, version) is None
        )
        if end.result and number is not None and version is not None:
            self._apply(number, version, turn)

    def _apply(self, number: int, version: int, turn: Turn) -> None:
        self.turns.append((number, turn))
        self.next_turns.append((number, version, turn))

    def _misfit(self, operation: str, turn: Turn, version: int) -> ProviderError | None:
        message = ""
        if turn.first_seq is not None and turn.first_seq != version + 1:
            message = (
                f"run {text(turn.run_id)} has {version} events, so the next is number "
                f"{version + 1}, not {turn.first_seq}"
            )
        strangers = [item.run_id for item in turn.work if item.run_id not in self.open_runs]
        if strangers:
            message = f"run {text(strangers[0])} is not open; a work item belongs to one that is"
        return ProviderError(operation, message, retryable=False) if message else None


def stream_name(write: StreamWrite) -> StreamName:
    """Name whose budget a message counts against."""
    return data(write.flow_type), data(write.stream)


def _numbers(tokens: Iterable[str], kind: str) -> list[int]:
    found: Iterable[Any] = (number_of(token, kind) for token in tokens)
    return sorted({number for number in found if number is not None})


def _pairs(rows: Iterable[Row]) -> dict[Any, Any]:
    return {row[0]: row[1] for row in rows}
