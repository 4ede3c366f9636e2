"""The file itself: made for its owner alone, and known again."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from dexnb.errors import ProviderError

OLDEST_SQLITE = (3, 40, 0)

_PRIVATE = 0o600
_OTHERS = 0o077


def check_installation() -> None:
    """Refuse an SQLite that lacks what the statements need.

    Raises:
        ProviderError: It is too old.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        message = (
            f"SQLite {sqlite3.sqlite_version} is too old; use a Python whose sqlite3 has "
            f"{'.'.join(map(str, OLDEST_SQLITE))} or newer"
        )
        raise ProviderError("open", message, retryable=False)


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Give the file's own path: SQLite, too, puts its companions where a link leads to.

    Raises:
        ProviderError: It names no file.
    """
    text = os.fspath(path)
    if text in ("", ":memory:") or text.startswith("file:"):
        message = (
            f"path is {text!r}, which is no file: give a path, "
            "or use MemoryProvider for a store that is not kept"
        )
        raise ProviderError("open", message, retryable=False)
    return Path(text).resolve()


def make_private(path: Path) -> None:
    """Make the file where it is missing, and keep it and its companions from everybody else.

    SQLite gives -wal and -shm the mode of the file.

    Raises:
        OSError: It cannot be made.
        ProviderError: It is a folder.
    """
    if path.is_dir():
        message = f"{path} is a folder; give the path of a file in it"
        raise ProviderError("open", message, retryable=False)
    _make_folder(path.parent)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, _PRIVATE))
    for companion in ("", "-wal", "-shm"):
        with suppress(OSError):  # Missing, or not ours to change.
            _close_to_others(path.with_name(path.name + companion))


def _close_to_others(path: Path) -> None:
    mode = path.stat().st_mode
    if mode & _OTHERS:
        path.chmod(mode & ~_OTHERS & 0o7777)


def _make_folder(folder: Path) -> None:
    if not folder.exists():
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


class Identity:
    """Which file a path named when it was opened."""

    def __init__(self, path: Path) -> None:
        """Look at the file."""
        self._path = path
        self._opened = path.stat()

    def is_gone(self) -> bool:
        """Tell whether the path now names another file, or none."""
        try:
            now = os.stat(self._path)  # noqa: PTH116 - a third of the time, twice a second
            return not os.path.samestat(now, self._opened)
        except OSError:
            return True
