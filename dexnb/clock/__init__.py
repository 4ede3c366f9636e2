"""The one place that knows time: clocks, the loops they make, and what to do when time misbehaves.

Everything else takes time from its running loop or from here.
"""

from __future__ import annotations

from dexnb.clock.clock import Clock, guard_thread, hold, outside_work, wall_time
from dexnb.clock.duration import LONGEST, seconds_of
from dexnb.clock.host import (
    boot_id,
    monotonic,
    perf_counter,
    sleep_blocking,
    thread_time,
    wall,
)
from dexnb.clock.refusal import ClockRefusal, VirtualTimeStuck
from dexnb.clock.watch import (
    ClockWatch,
    Readings,
    Stepped,
    Suspended,
    host_readings,
    host_since_boot,
)

__all__ = [
    "LONGEST",
    "Clock",
    "ClockRefusal",
    "ClockWatch",
    "Readings",
    "Stepped",
    "Suspended",
    "VirtualTimeStuck",
    "boot_id",
    "guard_thread",
    "hold",
    "host_readings",
    "host_since_boot",
    "monotonic",
    "outside_work",
    "perf_counter",
    "seconds_of",
    "sleep_blocking",
    "thread_time",
    "wall",
    "wall_time",
]
