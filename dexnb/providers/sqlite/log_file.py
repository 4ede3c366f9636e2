"""The -wal file: kept small while other connections read, and told about when they never stop."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress
from pathlib import Path

LOOK_AFTER = 4_000_000
"""Bytes written since the file was last looked at."""

CUT_AT = 8_000_000
"""The size at which the log is written back and cut, if no reader is in the way."""

WARN_AT = 64_000_000

PAGE = 4096

_logger = logging.getLogger(__name__)


READERS_END = 50
"""Milliseconds for which a cut waits until those who read have ended."""


def cut(connection: sqlite3.Connection) -> None:
    """Write the log back into the file and make it empty.

    Raises:
        sqlite3.Error: Somebody reads or writes all the time; the log may be written back all the
            same.
    """
    # Elsewhere nothing waits inside SQLite; here only SQLite can wait for readers.
    connection.execute(f"PRAGMA busy_timeout={READERS_END}").fetchall()
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.execute("PRAGMA busy_timeout=0").fetchall()


class LogFile:
    """Watches the size; SQLite's own checkpoints do not cut a log that somebody always reads."""

    def __init__(self, path: str) -> None:
        """Expect it beside the file."""
        self._path = f"{path}-wal"
        self._unseen = 0
        self._warned = False

    def grew(self, connection: sqlite3.Connection, written: int) -> None:
        """Count what a transaction has written, and cut the log now and then."""
        self._unseen += written
        if self._unseen < LOOK_AFTER:
            return
        self._unseen = 0
        if self._size() > CUT_AT:
            # A reader that is in the way makes this a plain checkpoint; there is a next time.
            with suppress(sqlite3.Error):
                cut(connection)
            self._warn(self._size())

    def _warn(self, size: int) -> None:
        if size > WARN_AT and not self._warned:
            self._warned = True
            _logger.warning(
                "%s has grown to %d MB because a connection reads from it all the time; "
                "end its open query or transaction",
                self._path,
                size // 1_000_000,
            )

    def _size(self) -> int:
        try:
            return Path(self._path).stat().st_size
        except OSError:
            return 0
