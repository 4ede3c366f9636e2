"""The host's own clocks and the name of its boot."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from dexnb.clock import boot_id, host, monotonic, perf_counter, sleep_blocking, thread_time, wall


def test_durations_of_the_host_agree() -> None:
    """A blocking sleep takes wall time and no CPU."""
    begun = (monotonic(), perf_counter(), wall(), thread_time())

    sleep_blocking(0.05)

    mono, perf, on_wall, cpu = (
        now - then
        for now, then in zip(
            (monotonic(), perf_counter(), wall(), thread_time()), begun, strict=True
        )
    )
    assert 0.049 < mono < 5
    assert 0.049 < perf < 5
    assert 0.04 < on_wall < 5
    assert cpu < 0.05


def test_the_boot_id_is_the_same_in_another_process() -> None:
    """Two kernels on one machine know that they share its boot."""
    program = "from dexnb.clock import boot_id; print(boot_id())"
    other = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=50
    )

    assert boot_id() == other.stdout.strip()
    assert boot_id()


def test_a_host_without_a_boot_id_gets_a_derived_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds through seconds of slewing and changes with the next boot."""
    monkeypatch.setattr(host, "BOOT_ID_FILE", tmp_path / "missing")
    monkeypatch.setattr(host, "boottime", lambda: 5_000.0)
    monkeypatch.setattr(host, "wall", lambda: 1_700_000_000.0)
    first = boot_id()
    monkeypatch.setattr(host, "wall", lambda: 1_700_000_003.0)
    slewed = boot_id()
    monkeypatch.setattr(host, "boottime", lambda: 20.0)
    rebooted = boot_id()

    assert slewed == first
    assert rebooted != first


def test_without_a_boot_clock_the_boot_id_comes_from_the_monotonic_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where nothing counts suspended time, the monotonic clock stands in."""
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)

    assert host.boottime() is None
    assert host.derived_boot_id().rpartition(":")[2].isdigit()
