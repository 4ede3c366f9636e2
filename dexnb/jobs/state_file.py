"""`StateFile`: the records of a job server, kept so that a killed server goes on."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dexnb.errors import DefinitionError, DocumentError
from dexnb.jobs.errors import JobTooLarge, JobUnavailable
from dexnb.jobs.fields import refuse

if sys.platform != "win32":
    import fcntl

_HEADER = b'{"dexnb_jobs":1}\n'


class StateFile:
    """JSON Lines that only grow; one process at a time, readable by its owner alone.

    A line that a crash left unfinished was never answered for, and is cut off at opening.

    Args:
        path: The file; it is made if it is not there, its directory is not.
        most_bytes: The size that it may reach.

    Raises:
        DefinitionError: The file cannot be opened, or another server has it open.
        DocumentError: It holds something else than the records of a job server.
    """

    def __init__(self, path: str | os.PathLike[str], most_bytes: int) -> None:
        """Open and lock the file."""
        self.path = Path(path)
        self._most = most_bytes
        self._file = _open(self.path)
        try:
            _lock(self._file, self.path)
            self._lines = self._load()
        except BaseException:
            os.close(self._file)
            raise
        self._synced = self._size
        self._syncing = asyncio.Lock()

    def _load(self) -> list[bytes]:
        with open(self._file, "rb", closefd=False) as whole:
            text = whole.read()
        if not text.startswith(_HEADER):
            if not _HEADER.startswith(text):
                message = f"{self.path} is not the state of a job server; give another file"
                raise DocumentError(message)
            text = _HEADER
            os.ftruncate(self._file, 0)
            self._write(_HEADER, 0)
            os.fsync(self._file)
        self._size = text.rfind(b"\n") + 1
        os.ftruncate(self._file, self._size)
        return text[: self._size].splitlines()[1:]

    def records(self) -> Iterator[dict[str, Any]]:
        """Give the records found at opening, once, in the order in which they were kept.

        Raises:
            DocumentError: A line is not a record; the text gives its number.
        """
        lines, self._lines = self._lines, []
        for number, line in enumerate(lines, start=2):
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise TypeError
            except (TypeError, ValueError, RecursionError) as error:
                message = f"{self.path} line {number} is not a record; give another file"
                raise DocumentError(message) from error
            yield record

    def append(self, record: dict[str, Any]) -> None:
        """Write a record; `durable` makes it safe.

        Raises:
            JobTooLarge: The file is full.
            JobUnavailable: The disk refuses; the file is as it was.
        """
        line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        if self._size + len(line) > self._most:
            message = f"the state file is full: {self._most} bytes; start with a new file"
            raise JobTooLarge(message)
        try:
            self._write(line, self._size)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            message = f"the state file cannot be written: {error.strerror}"
            raise JobUnavailable(message) from error
        self._size += len(line)

    def _write(self, line: bytes, start: int) -> None:
        os.lseek(self._file, start, os.SEEK_SET)
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    async def durable(self) -> None:
        """Return once everything appended so far survives a loss of power.

        Callers that wait at the same time share one flush.

        Raises:
            JobUnavailable: The disk refuses.
        """
        wanted = self._size
        async with self._syncing:
            if self._synced < wanted:
                reached = self._size
                try:
                    await asyncio.to_thread(os.fsync, self._file)
                except OSError as error:
                    message = f"the state file cannot be made safe: {error.strerror}"
                    raise JobUnavailable(message) from error
                self._synced = reached

    def close(self) -> None:
        """Close the file and let others open it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT
    for name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK"):
        flags |= getattr(os, name, 0)
    try:
        file = os.open(path, flags, 0o600)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        fix = f"it cannot be opened ({reason}); give a file in a directory that exists"
        raise refuse("state file", str(path), fix) from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise refuse("state file", str(path), "give a regular file")
    if sys.platform != "win32":
        os.fchmod(file, 0o600)
    return file


def _lock(file: int, path: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        message = f"state file {path} is in use by another job server; stop it, or give another"
        raise DefinitionError(message) from error
