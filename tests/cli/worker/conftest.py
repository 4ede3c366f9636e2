"""A worker as a process on a SQLite file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.processes import Begin
from tests.cli.worker.workers import STORE, Said, write_flow

Work = Callable[..., tuple["Said", int]]


@pytest.fixture
def work(begin: Begin, folder: Path) -> Work:
    """Give `work(*options)`: a worker for the Flow in `wait.py`; what it says, and its id."""
    write_flow(folder)

    def started(*options: str) -> tuple[Said, int]:
        process = begin("worker", "wait.py", "--store", STORE, "--log-format", "json", *options)
        return Said(process), process.pid

    return started
