"""`dexnb doctor`: what it finds good, and what it finds wrong."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from dexnb._version import __version__
from dexnb.cli import main

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX file modes")


def test_a_sound_machine_passes(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """Versions, clock and a real database, which leaves nothing behind."""
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"dexnb {__version__}, Python 3." in out
    assert f"SQLite {sqlite3.sqlite_version}" in out
    assert "WRONG" not in out
    assert list((folder / ".dexnb").iterdir()) == []


@POSIX
def test_a_database_that_others_can_read_is_found(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """With the command that closes it."""
    path = folder / "open.db"
    path.touch(mode=0o644)
    path.chmod(0o644)
    assert main(["doctor", "--folder", str(folder)]) == 1
    out = capsys.readouterr().out
    assert f"WRONG  {path} can be read by others: chmod 600 {path}" in out


def test_a_folder_that_cannot_be_used_is_named(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """A file stands in its place."""
    (folder / ".dexnb").touch()
    assert main(["doctor"]) == 1
    assert "WRONG  .dexnb: " in capsys.readouterr().out
