"""What an engine costs that has nothing to do, and how fast its interpreter ends."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.limits import exit_child, idle_child

MOST_CPU = 0.003
MOST_WAKE_UPS = 4.0
IDLE_SECONDS = 3
EXIT_SECONDS = 1.0


def _run(module: object, *arguments: object) -> subprocess.CompletedProcess[str]:
    script = Path(str(module.__file__))  # type: ignore[attr-defined]  # a module has a file
    return subprocess.run(
        [sys.executable, "-W", "error", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.timing
def test_an_idle_engine_costs_next_to_nothing(tmp_path: Path) -> None:
    """Under 0.3 % of a core and at most 4 wake-ups a second, on SQLite; the median of windows."""
    done = _run(idle_child, tmp_path / "store.db", IDLE_SECONDS)
    assert done.stderr == ""
    windows = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    cpu, wake_ups = (statistics.median(column) for column in zip(*windows, strict=True))
    print(f"\nidle: {cpu:.3%} of a core, {wake_ups:.1f} wake-ups a second")
    assert cpu < MOST_CPU
    assert wake_ups <= MOST_WAKE_UPS


@pytest.mark.timing
@pytest.mark.parametrize("way", ["end", "exit", "exception", "interrupt", "closed"])
def test_b24_the_interpreter_ends_with_runs_in_flight(tmp_path: Path, way: str) -> None:
    """Within a second, whatever ends it, with no thread that it would wait for."""
    done = _run(exit_child, tmp_path / "store.db", way)
    ended = time.monotonic()
    at, names = done.stdout.split(" ", 1)
    took = ended - float(at)
    print(f"\n{way}: ended {took:.2f} s after its last line, status {done.returncode}")
    assert names.strip() == "[]"
    assert took < EXIT_SECONDS
    assert not list(tmp_path.glob("*.db-wal"))
