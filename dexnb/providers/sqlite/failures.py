"""What went wrong in SQLite, in words that name the file and the fix."""

from __future__ import annotations

import errno
import sqlite3

from dexnb.errors import ProviderError

PATIENCE = 5.0
"""Seconds for which a locked file is tried again before the caller hears of it."""

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
# The file or the machine is at fault, so that no single operation can be blamed.
_OF_THE_FILE = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_SCHEMA,
    }
)
_RETRYABLE = _BUSY | {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_SCHEMA,
}
_WORDS = {
    sqlite3.SQLITE_BUSY: "is locked by another process for more than "
    f"{PATIENCE:g} s; close what holds it, such as a database browser with an open transaction",
    sqlite3.SQLITE_FULL: "cannot grow, its disk is full; free some space",
    sqlite3.SQLITE_IOERR: "cannot be read or written; check its disk, and that neither the file "
    "nor its -wal and -shm were removed while in use",
    sqlite3.SQLITE_CORRUPT: "is damaged; put back a copy, or move it away to start a new one",
    sqlite3.SQLITE_NOTADB: "is not an SQLite database; give another path, or move it away",
    sqlite3.SQLITE_READONLY: "cannot be written; make the file and its folder writable, or give "
    "another path",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; give the path of a file in a folder that you may "
    "write",
}
_CONSTRAINTS = {
    "UNIQUE constraint failed: work_items.": "a Step execution of a run has one work item at a "
    "time, and this one has one already",
    "UNIQUE constraint failed: runs.run_id": "a run id is used once, and this run exists already",
    "NOT NULL constraint failed: work_items.run_no": "a work item belongs to a run that exists",
}
_WORDS[sqlite3.SQLITE_LOCKED] = _WORDS[sqlite3.SQLITE_BUSY]
_WORDS[sqlite3.SQLITE_PERM] = _WORDS[sqlite3.SQLITE_CANTOPEN]


_CODES = {
    errno.EACCES: sqlite3.SQLITE_READONLY,
    errno.EPERM: sqlite3.SQLITE_READONLY,
    errno.EROFS: sqlite3.SQLITE_READONLY,
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EDQUOT: sqlite3.SQLITE_FULL,
}


def code_of(error: BaseException) -> int:
    """Give SQLite's primary result code, or the one that says the same as the system's error."""
    if isinstance(error, OSError):
        return _CODES.get(error.errno or 0, sqlite3.SQLITE_CANTOPEN)
    code = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else 0


def is_busy(error: BaseException) -> bool:
    """Tell whether another connection was in the way, so that the same thing may work soon."""
    return code_of(error) in _BUSY


def blames_the_file(error: BaseException) -> bool:
    """Tell whether every operation would fail alike."""
    return code_of(error) in _OF_THE_FILE


def provider_error(operation: str, path: str, error: BaseException) -> ProviderError:
    """Give the error that the caller of an operation sees."""
    if isinstance(error, ProviderError):
        return error
    code = code_of(error)
    words = _WORDS.get(code)
    message = f"{path} {words} ({error})" if words else f"{path}: {_explained(str(error))}"
    failure = ProviderError(operation, message, retryable=code in _RETRYABLE)
    failure.__cause__ = error
    return failure


def _explained(text: str) -> str:
    return next((words for start, words in _CONSTRAINTS.items() if text.startswith(start)), text)
