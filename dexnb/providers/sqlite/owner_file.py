"""Who is alive: each open store holds an exclusive lock on a file of its own.

The operating system lets go of it when the process ends, however it ends, and holds on to it while
the process is merely stopped.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


_LONGEST_NAME = 100


class OwnerFile:
    """A lock file that this process holds."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Keep what `claim` has locked."""
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def claim(cls, store: Path, owner: str) -> OwnerFile | None:
        """Lock an owner's file, made where it is missing; None while somebody else holds it.

        Raises:
            OSError: The folder cannot be written.
        """
        path = _folder(store) / _file_name(owner)
        while True:
            descriptor = _open(path)
            if not _try_lock(descriptor):
                os.close(descriptor)
                return None
            if _is_the_same(path, descriptor):
                return cls(path, descriptor)
            # Whoever held it before has removed it: the lock on a nameless file is worth nothing.
            os.close(descriptor)

    def release(self) -> None:
        """Remove the file, and the folder with the last one, and let go of the lock."""
        if sys.platform == "win32":
            self._close()
        with suppress(OSError):
            self._path.unlink()
        with suppress(OSError):
            self._path.parent.rmdir()
        self._close()

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self._close()


def _folder(store: Path) -> Path:
    return store.with_name(store.name + "-owners")


def _file_name(owner: str) -> str:
    name = quote(owner.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E")
    if len(name) > _LONGEST_NAME:
        name = hashlib.sha256(name.encode()).hexdigest()
    return name + ".lock"


def _open(path: Path) -> int:
    while True:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):  # Another engine removed the empty folder just now.
            return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)


def _is_the_same(path: Path, descriptor: int) -> bool:
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(named, os.fstat(descriptor))
