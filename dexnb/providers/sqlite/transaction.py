"""Run a batch in the connection's thread: one transaction, tried again while the file is locked.

When it fails for the sake of one operation, each is done again under a savepoint of its own, and
only the guilty one fails.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

from dexnb.clock import monotonic, sleep_blocking
from dexnb.providers.sqlite.batch import Batch
from dexnb.providers.sqlite.failures import PATIENCE, blames_the_file, is_busy, provider_error
from dexnb.providers.sqlite.fetch import Tokens, fetch_turns, fetch_work
from dexnb.providers.sqlite.log_file import LogFile
from dexnb.providers.sqlite.operations import Operation, Read
from dexnb.providers.sqlite.rows import answer, micros
from dexnb.providers.sqlite.statements import statements
from dexnb.providers.sqlite.streams import write_streams, write_telemetry
from dexnb.providers.sqlite.turns import (
    check_turns,
    empty_closed_runs,
    write_messages,
    write_run_locks,
    write_runs,
)
from dexnb.providers.sqlite.work import write_work, write_work_locks
from dexnb.providers.store_clock import StoreClock

Attempt = Callable[[sqlite3.Connection, Sequence[Operation]], object]

_PAUSE, _LONG_PAUSE = (0.0002, 0.001), (0.001, 0.004)
"""Seconds between two tries: at first shorter than the pause that a busy engine leaves to others,
so that none is missed."""

_LONG_WAIT = 0.2


class Transactions:
    """Turns operations into transactions; used in the connection's thread alone.

    Args:
        path: The file, for errors.
        clock: Store time.
        owner: The number of this engine in the store.
        full: Whether durable operations wait for the disk.
    """

    def __init__(self, path: str, clock: StoreClock, owner: int, *, full: bool) -> None:
        """Expect a connection at synchronous=NORMAL."""
        self._path = path
        self._clock = clock
        self._tokens = Tokens(owner)
        self._full = full
        self._level = "NORMAL"
        self._log = LogFile(path)
        self._written = 0

    def run(self, connection: sqlite3.Connection, operations: Sequence[Operation]) -> None:
        """Answer every operation with a result or a failure; never raises."""
        writes = [operation for operation in operations if not isinstance(operation, Read)]
        if writes:
            self._patiently(connection, writes, self._write)
        for operation in operations:
            if isinstance(operation, Read):
                self._patiently(connection, [operation], partial(_read, operation))

    def _patiently(
        self, connection: sqlite3.Connection, operations: Sequence[Operation], attempt: Attempt
    ) -> None:
        try:
            patiently(connection, lambda: attempt(connection, operations))
        except Exception as error:  # noqa: BLE001 - every caller gets an answer, whatever happened
            for operation in operations:
                operation.failure = provider_error(operation.name, self._path, error)

    def _write(self, connection: sqlite3.Connection, operations: Sequence[Operation]) -> None:
        self._written = 0
        self._set_level(connection, operations)
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._apply(connection, operations)
        except Exception as error:
            if len(operations) == 1 or is_busy(error) or blames_the_file(error):
                raise
            rollback(connection)
            self._one_by_one(connection, operations)
        connection.execute("COMMIT")
        self._log.grew(connection, self._written)

    def _one_by_one(self, connection: sqlite3.Connection, operations: Sequence[Operation]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for operation in operations:
            connection.execute("SAVEPOINT operation")
            try:
                self._apply(connection, [operation])
            except Exception as error:
                if is_busy(error) or blames_the_file(error):
                    raise
                connection.execute("ROLLBACK TO operation")
                operation.failure = provider_error(operation.name, self._path, error)
            connection.execute("RELEASE operation")

    def _apply(self, connection: sqlite3.Connection, operations: Sequence[Operation]) -> None:
        for operation in operations:
            operation.result = operation.failure = None
        # Read under the write lock, so that whoever held it before has no say in what is live.
        now, lease = self._clock.now(), micros(self._clock.lease())
        batch = Batch(connection, operations, now, lease)
        batch.admit()
        check_turns(batch)
        write_runs(batch)
        write_work(batch, self._tokens)
        write_messages(batch)
        write_run_locks(batch)
        write_work_locks(batch)
        empty_closed_runs(batch)
        write_streams(batch)
        write_telemetry(batch)
        fetch_turns(batch, self._tokens)
        fetch_work(batch, self._tokens)
        self._written += batch.written

    def _set_level(self, connection: sqlite3.Connection, operations: Sequence[Operation]) -> None:
        durable = self._full and any(operation.waits() for operation in operations)
        level = "FULL" if durable else "NORMAL"
        if level != self._level:
            # Outside a transaction, where alone it has an effect.
            connection.execute(f"PRAGMA synchronous={level}")
            self._level = level


def patiently(
    connection: sqlite3.Connection, attempt: Callable[[], object], patience: float | None = None
) -> None:
    """Do something in a transaction of its own; again and again while the file is locked."""
    began = monotonic()
    deadline = began + (PATIENCE if patience is None else patience)
    while True:
        try:
            attempt()
            return
        except BaseException as error:
            rollback(connection)
            if not is_busy(error) or monotonic() >= deadline:
                raise
        pause = _PAUSE if monotonic() - began < _LONG_WAIT else _LONG_PAUSE
        sleep_blocking(random.uniform(*pause))


def rollback(connection: sqlite3.Connection) -> None:
    """Leave no transaction open."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _read(operation: Read, connection: sqlite3.Connection, _: object) -> None:
    rows = connection.execute(statements()[operation.statement], operation.parameters).fetchall()
    operation.result = operation.decode(answer(rows[0][0]) if rows else None)
