"""One transaction: which operations it holds, and what of them may be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dexnb.errors import LeaseLost
from dexnb.providers.sqlite.operations import (
    AppendTelemetry,
    FencedOperation,
    Operation,
    RecordBeats,
    RenewWork,
    StartRun,
    TurnOperation,
    WorkOperation,
    WriteStream,
)
from dexnb.providers.sqlite.rows import answer, number_of, parameter, stored
from dexnb.providers.sqlite.statements import statements

SomeOperation = TypeVar("SomeOperation", bound=Operation)
StreamName = tuple[str, str]


@dataclass(slots=True)
class Admitted:
    """What the store says about a batch before anything of it is written.

    Args:
        work: The tokens of work items that are live.
        turns: Run id and version of the run by live token.
        open_flows: The open run by flow id.
        streams: What a Stream ever took, and had taken before its oldest message, in bytes.
        telemetry: What a run's telemetry ever took, in bytes.
    """

    work: frozenset[str] = frozenset()
    turns: dict[str, tuple[str, int]] = field(default_factory=dict)
    open_flows: dict[str, str] = field(default_factory=dict)
    streams: dict[StreamName, tuple[int, int]] = field(default_factory=dict)
    telemetry: dict[str, int] = field(default_factory=dict)


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
        self.admitted = Admitted()
        self._connection = connection
        self._operations = operations

    def of(self, kind: type[SomeOperation]) -> list[SomeOperation]:
        """Give the operations of a kind that may go on."""
        return [
            operation
            for operation in self._operations
            if isinstance(operation, kind) and operation.failure is None
        ]

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
        return self.write(statement, rows=parameter(rows), **parameters)

    def admit(self) -> None:
        """Ask once for all operations what is live, and fail those that come too late."""
        work = _unique(self._work_tokens())
        turns = _unique(operation.token for operation in self.of(TurnOperation))
        flows = _unique(operation.flow_id for operation in self.of(StartRun))
        streams = _unique(
            (write.flow_type, write.stream)
            for operation in self.of(WriteStream)
            for write in operation.writes
        )
        runs = _unique(row[0] for operation in self.of(AppendTelemetry) for row in operation.rows)
        if work or turns or flows or streams or runs:
            self._ask(work, turns, flows, streams, runs)
        for operation in self.of(FencedOperation):
            live = (
                self.admitted.turns
                if isinstance(operation, TurnOperation)
                else (self.admitted.work)
            )
            if operation.token not in live:
                operation.failure = LeaseLost(operation.name, operation.token)

    def _work_tokens(self) -> Iterable[str]:
        for operation in self._operations:
            if isinstance(operation, WorkOperation):
                yield operation.token
            elif isinstance(operation, RecordBeats | RenewWork):
                yield from operation.keys()
            elif isinstance(operation, WriteStream):
                yield from (w.token for w in operation.writes if w.token is not None)

    def _ask(
        self,
        work: list[str],
        turns: list[str],
        flows: list[str],
        streams: list[StreamName],
        runs: list[str],
    ) -> None:
        row = self.read(
            "admit",
            work=parameter([number_of(token), stored(token)] for token in work),
            turns=parameter([number_of(token), stored(token)] for token in turns),
            starts=parameter(flows),
            streams=parameter([stored(flow_type), stored(name)] for flow_type, name in streams),
            telemetry=parameter(runs),
            lease=self.lease,
        )
        live, held, taken, edges, heads = map(answer, row)
        self.admitted = Admitted(
            work=frozenset(work[key] for key in live),
            turns={turns[key]: (run_id, version) for key, run_id, version in held},
            open_flows={flows[key]: run_id for key, run_id in taken},
            streams={streams[key]: (head or 0, first or 0) for key, head, first in edges},
            telemetry={runs[key]: head or 0 for key, head in heads},
        )


T = TypeVar("T")


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))
