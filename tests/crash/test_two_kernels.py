"""Two kernels on one SQLite file: a fair share, nothing lost with one of them, foreign cells."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dexnb as dex
from tests.crash import sharing_child
from tests.crash.sharing_child import BusyFlow, OwnFlow

pytestmark = [pytest.mark.timing, pytest.mark.slow]

SECONDS = 6.0
FAIR_SECONDS = 0.1


def kernel(store: Path, part: str, seconds: float) -> subprocess.Popen[str]:
    """Start one of the two."""
    command = [sys.executable, sharing_child.__file__, str(store), part, str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_the_calm_one_waits_under_a_tenth_of_a_second_beside_a_busy_one(tmp_path: Path) -> None:
    """In 99 of 100 starts, each of which is a commit of its own."""
    store = tmp_path / "shared.db"
    with kernel(store, "busy", SECONDS + 3) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "going\n"
        with kernel(store, "calm", SECONDS) as second:
            assert second.stdout is not None
            count, slowest = second.stdout.read().split()
        started = int(first.stdout.read())
    print(f"\n{count} starts beside {started} others; p99 {1000 * float(slowest):.0f} ms")
    assert int(count) > 20
    assert started > 50
    assert float(slowest) < FAIR_SECONDS


def test_killing_one_of_two_loses_nothing(tmp_path: Path) -> None:
    """The other goes on with what the first had started and had under way."""
    store = tmp_path / "shared.db"
    with dex.open(store) as session:
        session.register(BusyFlow())
        with kernel(store, "busy", 60) as first:
            assert first.stdout is not None
            first.stdout.readline()
            os.kill(first.pid, signal.SIGKILL)
        runs = session.runs(limit=10_000)
        print(f"\n{len(runs)} runs at the kill")
        assert len(runs) >= 50
        for run in runs:
            assert run.wait_sync(30).status == "COMPLETED"


def test_kernels_leave_flows_of_foreign_cells_alone(tmp_path: Path) -> None:
    """Without the code a run waits and says so; nobody bounces its items."""
    store = tmp_path / "shared.db"
    with dex.open(store) as session:
        session.start(BusyFlow(), "left", STEPS_LEFT)
    with dex.open(store) as session:
        session.register(OwnFlow())
        left = session.get("left")
        with kernel(store, "calm", 2) as other:
            assert other.stdout is not None
            assert int(other.stdout.read().split()[0]) > 5
        assert left.status == "RUNNING"
        assert "BusyFlow" in left.waiting_for_code
        assert [event for event in left.events() if event.kind == "engine_error"] == []
        session.register(BusyFlow())
        assert left.wait_sync(60).status == "COMPLETED"


STEPS_LEFT = 500
"""Steps that a run cannot have done by the time its kernel closes."""
