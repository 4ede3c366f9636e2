"""Tell a suspended machine from a stepped wall clock, from three clocks read side by side."""

from __future__ import annotations

from dataclasses import dataclass

from dexnb.clock.host import boottime, monotonic, wall


@dataclass(frozen=True, slots=True)
class Readings:
    """Three clocks read at one moment, in seconds.

    Args:
        monotonic: Stands still while the machine is suspended.
        boottime: Goes on while suspended; None where the host has no such clock.
        wall: Epoch seconds; anybody may set it.
    """

    monotonic: float
    boottime: float | None
    wall: float


@dataclass(frozen=True, slots=True)
class Suspended:
    """The machine slept for this many seconds: re-check leases first, then poll once."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stepped:
    """The wall clock was set by this many seconds (negative: back): only later stamps change."""

    seconds: float


def host_readings() -> Readings:
    """Read the clocks of this machine."""
    return Readings(monotonic=monotonic(), boottime=boottime(), wall=wall())


def host_since_boot() -> float:
    """Read the boot-time clock of this machine alone, or the monotonic one where there is none."""
    passed = boottime()
    return monotonic() if passed is None else passed


class ClockWatch:
    """Compare readings with the ones before; feed it about once a second of real time.

    Differences up to the threshold are taken as jitter and slewing and are forgotten. Without a
    boot-time clock a suspend cannot be told from a step, and is reported as a step.

    Args:
        threshold: Seconds by which clocks must disagree to be reported.
    """

    def __init__(self, threshold: float = 1.0) -> None:
        """Start with nothing to compare with."""
        self._threshold = threshold
        self._last: Readings | None = None

    def observe(self, readings: Readings) -> Suspended | Stepped | None:
        """Say what happened since the readings before; the first ones give None.

        When a suspend and a step fall between two readings, the suspend is reported now and the
        step by the next call.
        """
        last, self._last = self._last, readings
        if last is None:
            return None
        passed = readings.monotonic - last.monotonic
        if readings.boottime is not None and last.boottime is not None:
            since_boot = readings.boottime - last.boottime
            asleep, passed = since_boot - passed, since_boot
        else:
            asleep = 0.0
        step = readings.wall - last.wall - passed
        if asleep > self._threshold:
            self._last = Readings(readings.monotonic, readings.boottime, readings.wall - step)
            return Suspended(asleep)
        return Stepped(step) if abs(step) > self._threshold else None
