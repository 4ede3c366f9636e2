"""One transaction: which operations it holds, and what of them may be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

from dexnb.errors import LeaseLost
from dexnb.providers.items import StreamWrite
from dexnb.providers.sqlite.log_file import PAGE
from dexnb.providers.sqlite.operations import (
    OF_TURNS,
    OF_WORK,
    AckWorkWithTurn,
    AppendTelemetry,
    FencedOperation,
    Operation,
    RecordBeats,
    RenewWork,
    StartRun,
    WriteStream,
)
from dexnb.providers.sqlite.rows import answer, micros, number_of, parameter, stored
from dexnb.providers.sqlite.statements import statements
from dexnb.providers.sqlite.turn_rows import TurnRows

SomeOperation = TypeVar("SomeOperation", bound=Operation)
StreamName = tuple[str, str]


@dataclass(slots=True)
class Admitted:
    """What the store says about a batch before anything of it is written.

    Args:
        work: The tokens of work items that are live.
        turns: Run id and version of the run by live token.
        quiet_runs: Number, id and version of the open run, by a work item's token, if the run is
            not locked and no visible message waits for it.
        open_flows: The open run by flow id.
        streams: What a Stream ever took, and had taken before its oldest message, in bytes.
        telemetry: What a run's telemetry ever took, in bytes.
        newest_run: The number of the newest run.
        newest_work: The number of the newest work item.
    """

    work: frozenset[str] = frozenset()
    turns: dict[str, tuple[str, int]] = field(default_factory=dict)
    quiet_runs: dict[str, tuple[int, str, int]] = field(default_factory=dict)
    open_flows: dict[str, str] = field(default_factory=dict)
    streams: dict[StreamName, tuple[int, int]] = field(default_factory=dict)
    telemetry: dict[str, int] = field(default_factory=dict)
    newest_run: int = 0
    newest_work: int = 0


class Batch:
    """Operations that become one transaction, and the times it happens at.

    Args:
        connection: With an open transaction.
        operations: In the order in which they were asked for.
        now: Store time for what is due, in seconds.
        lease: Store time for locks, in whole microseconds.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        operations: Sequence[Operation],
        now: float,
        lease: int,
    ) -> None:
        """Nothing is read or written yet."""
        self.now = now
        self.lease = lease
        self.written = 0
        """An upper bound of the bytes that go into the log."""
        self.admitted = Admitted()
        self.new_runs: list[tuple[int, StartRun]] = []
        """The starts that make a run, with its number."""
        self.turns: list[tuple[int, TurnRows]] = []
        """What is applied, first turns too, with the number of the run."""
        self.next_turns: list[tuple[int, int, TurnRows]] = []
        """The turns of runs that are there already, with number and version of the run."""
        self._connection = connection
        self._operations: dict[type[Operation], list[Any]] = {}
        for operation in operations:
            self._operations.setdefault(type(operation), []).append(operation)

    def of(self, kind: type[SomeOperation]) -> list[SomeOperation]:
        """Give the operations of just this class that may go on."""
        found: list[SomeOperation] = self._operations.get(kind, [])
        return [operation for operation in found if operation.failure is None]

    def _of_any(self, kinds: Sequence[type[FencedOperation]]) -> list[FencedOperation]:
        return [operation for kind in kinds for operation in self.of(kind)]

    def read(self, statement: str, **parameters: Any) -> tuple[Any, ...]:
        """Run a statement that gives one row."""
        (row,) = self._connection.execute(statements()[statement], parameters).fetchall()
        return tuple(row)

    def write(self, statement: str, **parameters: Any) -> int:
        """Run a statement that changes rows; tell how many."""
        return self._connection.execute(statements()[statement], parameters).rowcount

    def write_rows(self, statement: str, rows: Sequence[Any], **parameters: Any) -> int:
        """Run a set statement over rows, unless there are none; tell how many were changed."""
        if not rows:
            return 0
        text = parameter(rows)
        self.written += len(text) + len(rows) * PAGE
        return self.write(statement, rows=text, **parameters)

    def admit(self) -> None:
        """Ask once for all operations what is live, and fail those that come too late."""
        fenced, turns = self._of_any(OF_WORK), self._of_any(OF_TURNS)
        work_tokens = _unique(chain((operation.token for operation in fenced), self._borrowed()))
        turn_tokens = _unique(operation.token for operation in turns)
        ended = _unique(operation.token for operation in self.of(AckWorkWithTurn))
        flows = _unique(operation.flow_id for operation in self.of(StartRun))
        streams = _unique((write.flow_type, write.stream) for write in self._stream_writes())
        runs = _unique(row[0] for operation in self.of(AppendTelemetry) for row in operation.rows)
        if work_tokens or turn_tokens or flows or streams or runs:
            self._ask(work_tokens, turn_tokens, ended, flows, streams, runs)
        _fail(fenced, self.admitted.work)
        _fail(turns, self.admitted.turns)

    def _borrowed(self) -> Iterable[str]:
        """Give the tokens of operations that go on without those that are not live."""
        for beats in self.of(RecordBeats):
            yield from beats.checkpoints
        for renewal in self.of(RenewWork):
            yield from renewal.tokens
        yield from (write.token for write in self._stream_writes() if write.token is not None)

    def _stream_writes(self) -> Iterable[StreamWrite]:
        return (write for operation in self.of(WriteStream) for write in operation.writes)

    def _ask(
        self,
        work: list[str],
        turns: list[str],
        ended: list[str],
        flows: list[str],
        streams: list[StreamName],
        runs: list[str],
    ) -> None:
        row = self.read(
            "admit",
            work=parameter([number_of(token), stored(token)] for token in work),
            turns=parameter([number_of(token), stored(token)] for token in turns),
            ended=parameter([number_of(token), stored(token)] for token in ended),
            starts=parameter(flows),
            streams=parameter([stored(flow_type), stored(name)] for flow_type, name in streams),
            telemetry=parameter(runs),
            now=micros(self.now),
            lease=self.lease,
        )
        *texts, newest_run, newest_work = row
        live, held, quiet, taken, edges, heads = map(answer, texts)
        self.admitted = Admitted(
            work=frozenset(work[key] for key in live),
            turns={turns[key]: (run_id, version) for key, run_id, version in held},
            quiet_runs={ended[key]: (run, run_id, version) for key, run, run_id, version in quiet},
            open_flows={flows[key]: run_id for key, run_id in taken},
            streams={streams[key]: (head or 0, first or 0) for key, head, first in edges},
            telemetry={runs[key]: head or 0 for key, head in heads},
            newest_run=newest_run or 0,
            newest_work=newest_work or 0,
        )


def _fail(operations: Iterable[FencedOperation], live: Container[str]) -> None:
    for operation in operations:
        if operation.token not in live:
            operation.failure = LeaseLost(operation.name, operation.token)


T = TypeVar("T")


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))
