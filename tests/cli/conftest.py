"""The command line in this process, and in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.linted import MENDABLE
from tests.cli.processes import PATIENCE, ROOT, Begin, Command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder, and forget the modules that were imported from it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("DEXNB_JOBS_URL", raising=False)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]


@pytest.fixture
def begin(folder: Path) -> Iterator[Begin]:
    """Give `begin(*arguments)`: `dexnb` as a process here, killed at the end if it is left."""
    left: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dexnb", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A group of its own, which a test may interrupt as a terminal does.
            start_new_session=True,
        )
        left.append(process)
        return process

    yield start
    for process in left:
        process.kill()
        process.communicate()


@pytest.fixture
def dexnb(begin: Begin) -> Command:
    """Give `dexnb(*arguments)`: run the command as a process to its end."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        process = begin(*arguments)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    return run


@pytest.fixture
def bad(folder: Path) -> Path:
    """Write a file with findings of one rule, all of which can be mended."""
    path = folder / "bad.py"
    path.write_text(MENDABLE)
    return path
