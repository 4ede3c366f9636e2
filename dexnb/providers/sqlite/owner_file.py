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
from weakref import WeakSet

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
_FLAGS = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
_held: WeakSet[OwnerFile] = WeakSet()


def _let_go_in_child() -> None:
    """Close the copies of a forked child, which would hold the locks of its dead parent."""
    for file in list(_held):
        file.close_copy()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)


class OwnerFile:
    """A lock file that this process holds."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Keep what `claim` has locked."""
        self._path = path
        self._descriptor = descriptor
        _held.add(self)

    @classmethod
    def claim(cls, store: Path, owner: str, *, make: bool = False) -> OwnerFile | None:
        """Lock an owner's file; None while somebody else holds it.

        Args:
            store: The store's file.
            owner: The owner's name.
            make: Make the file where it is missing: for one's own name.

        Raises:
            FileNotFoundError: It is missing, and not to be made.
            OSError: The folder cannot be used.
        """
        path = _folder(store) / _file_name(owner)
        while True:
            descriptor = _made(path) if make else os.open(path, _FLAGS)
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
            self.close_copy()
        with suppress(OSError):
            self._path.unlink()
        with suppress(OSError):
            self._path.parent.rmdir()
        self.close_copy()

    def close_copy(self) -> None:
        """Close this process's handle; the lock is gone when no process has one."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close_copy()


def _folder(store: Path) -> Path:
    return store.with_name(store.name + "-owners")


def _file_name(owner: str) -> str:
    name = quote(owner.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2E")
    if len(name) > _LONGEST_NAME:
        name = hashlib.sha256(name.encode()).hexdigest()
    return name + ".lock"


def _made(path: Path) -> int:
    while True:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):  # Another engine removed the empty folder just now.
            return os.open(path, _FLAGS | os.O_CREAT, 0o600)


def _is_the_same(path: Path, descriptor: int) -> bool:
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(named, os.fstat(descriptor))
