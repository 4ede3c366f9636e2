"""The time of this machine: the only door to the `time` module for code outside the clock."""

from __future__ import annotations

import platform
import sys
import time
from pathlib import Path

BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")
BOOT_GRAIN = 600
"""Seconds to which a derived boot moment is rounded, so that clock slewing does not change it."""


def monotonic() -> float:
    """Give seconds that never go back; the source of every duration in real time."""
    return time.monotonic()


def wall() -> float:
    """Give the host's wall clock in epoch seconds; for stamps, never for durations."""
    return time.time()


def perf_counter() -> float:
    """Give the finest monotonic seconds, for measuring code."""
    return time.perf_counter()


def thread_time() -> float:
    """Give the CPU seconds that this thread has used."""
    return time.thread_time()


def sleep_blocking(seconds: float) -> None:
    """Stop this thread for real seconds.

    Raises:
        ClockRefusal: On the thread of a scaled or virtual loop, or inside `guard_thread`.
    """
    time.sleep(seconds)


def boottime() -> float | None:
    """Give seconds since boot with suspended time included, or None where no clock counts that.

    Linux has CLOCK_BOOTTIME. On macOS CLOCK_MONOTONIC_RAW goes on during sleep while
    `time.monotonic()` stands still. Elsewhere there is none.
    """
    if sys.platform == "win32":
        return None
    name = "CLOCK_MONOTONIC_RAW" if sys.platform == "darwin" else "CLOCK_BOOTTIME"
    clock = getattr(time, name, None)
    return None if clock is None else time.clock_gettime(clock)


def boot_id() -> str:
    """Name this boot of this machine; equal for all processes until the next boot.

    Linux gives its own random id. Elsewhere it is the host's name and the moment of boot (wall
    clock minus the clock since boot, in steps of ten minutes). Such a derived id can change when
    the wall clock is stepped, and then a dead owner's lease runs out instead of being taken over
    at once: the safe side.
    """
    try:
        return BOOT_ID_FILE.read_text(encoding="ascii").strip()
    except OSError:
        return derived_boot_id()


def derived_boot_id() -> str:
    """Make the boot id of a host that has none of its own; see `boot_id`."""
    running = boottime()
    booted = wall() - (monotonic() if running is None else running)
    return f"{platform.node()}:{round(booted / BOOT_GRAIN) * BOOT_GRAIN}"
