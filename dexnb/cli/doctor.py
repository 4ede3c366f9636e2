"""`dexnb doctor`: what dexnb needs of this machine, tried out."""

from __future__ import annotations

import asyncio
import os
import platform
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dexnb._version import __version__
from dexnb.cli.exits import FAILED, OK
from dexnb.cli.text import printable
from dexnb.clock import Clock, host_readings
from dexnb.errors import ProviderError
from dexnb.providers.sqlite import SQLITE_VERSION, SqliteProvider

_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Args:
        good: Whether dexnb can work with it.
        text: What was found and, where it is wrong, what to do.
    """

    good: bool
    text: str


def doctor(folder: str) -> int:
    """Print every check; give the exit code.

    Args:
        folder: Where databases are kept.
    """
    checks = list(examine(Path(folder)))
    for check in checks:
        print(f"{'ok   ' if check.good else 'WRONG'}  {printable(check.text, 400)}")
    return OK if all(check.good for check in checks) else FAILED


def examine(folder: Path) -> Iterator[Check]:
    """Look at versions, clock and files."""
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield Check(good=True, text=f"dexnb {__version__}, {python}")
    yield _clock()
    yield _store(folder)
    for path in sorted(folder.glob("*.db*")) if folder.is_dir() else ():
        if not _is_private(path):
            text = f"{path} can be read by others: chmod 600 {path}"
            yield Check(good=False, text=text)


def _clock() -> Check:
    if host_readings().boottime is not None:
        return Check(good=True, text="clock: a suspended machine is told apart from a set clock")
    text = "clock: this host cannot tell a suspend from a set clock; both count as a set clock"
    return Check(good=True, text=text)


def _store(folder: Path) -> Check:
    """Open a real database where runs are kept, and look at its modes."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="doctor-", dir=folder) as scratch:
            private = asyncio.run(_is_kept_private(Path(scratch) / "try.db"))
    except (OSError, ProviderError) as error:
        return Check(good=False, text=f"{folder}: {error}")
    if not private:
        text = f"{folder}: files here can be read by others; keep databases on a local disk"
        return Check(good=False, text=text)
    text = f"SQLite {SQLITE_VERSION}: a database in {folder} opens and is private"
    return Check(good=True, text=text)


async def _is_kept_private(path: Path) -> bool:
    provider = SqliteProvider(path)
    await provider.open(Clock.real(), "doctor")
    try:
        return all(map(_is_private, path.parent.iterdir()))
    finally:
        await provider.close()


def _is_private(path: Path) -> bool:
    return os.name != "posix" or not path.stat().st_mode & _OTHERS
