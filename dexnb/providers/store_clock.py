"""`StoreClock`: the one time that all users of a store agree on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from dexnb.clock import Clock, Readings, host_readings, host_since_boot, monotonic, wall_time


@dataclass(frozen=True, slots=True)
class Anchor:
    """One instant on three clocks: seconds since the epoch, monotonic, and boot-time.

    Where the host has no boot-time clock, `boottime` holds the monotonic one.
    """

    wall: float
    monotonic: float
    boottime: float


_HOST = host_readings


class StoreClock:
    """Store time: an anchor's wall time plus what has passed since on this machine's own clocks.

    Wall clock steps after the anchor change nothing. Engines that share an anchor (the same boot of
    the same host, or a server's clock) agree on every lease.
    """

    def __init__(
        self,
        anchor: Anchor,
        tick: Callable[[], float] = monotonic,
        readings: Callable[[], Readings] = host_readings,
    ) -> None:
        """Count from the anchor.

        Args:
            anchor: Where store time is tied to the clocks.
            tick: The clock that stands still while the machine is suspended; cheap.
            readings: All three clocks.
        """
        self._tick = tick
        self._passed = host_since_boot if readings is _HOST else lambda: since_boot(readings())
        self._lease_offset = anchor.wall - anchor.monotonic
        self._due_offset = anchor.wall - anchor.boottime

    def now(self) -> float:
        """Give the time for what is due: goes on while the machine is suspended."""
        return self._passed() + self._due_offset

    def lease(self) -> float:
        """Give the time for locks: stands still while the machine is suspended.

        So nobody's lease runs out in a sleeping laptop, whose engines could not renew it.
        """
        return self._tick() + self._lease_offset


def since_boot(readings: Readings) -> float:
    """Give the boot-time clock, or the monotonic one where there is none."""
    return readings.monotonic if readings.boottime is None else readings.boottime


def anchor_of(readings: Readings) -> Anchor:
    """Make an anchor of these readings."""
    return Anchor(readings.wall, readings.monotonic, since_boot(readings))


def readings_for(clock: Clock) -> Callable[[], Readings]:
    """Give the clock's readings: the host's, or the running loop's where time is not real."""
    if clock.kind == "real":
        return host_readings
    loop = asyncio.get_running_loop()
    return lambda: Readings(monotonic=loop.time(), boottime=None, wall=wall_time(loop))


def clock_for(clock: Clock, anchor: Anchor | None = None) -> StoreClock:
    """Make the store's clock; for a clock that is not real, on the running loop's time.

    Args:
        clock: How time passes.
        anchor: Where an earlier opener tied it; now by default.
    """
    readings = readings_for(clock)
    tick = monotonic if clock.kind == "real" else asyncio.get_running_loop().time
    return StoreClock(anchor or anchor_of(readings()), tick, readings)
