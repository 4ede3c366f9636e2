"""A loop whose time runs a fixed number of times faster than the host's."""

from __future__ import annotations

import selectors
from typing import Any

from dexnb.clock.duration import LONGEST
from dexnb.clock.host import monotonic, wall
from dexnb.clock.loop import ClockLoop

_LONGEST_SELECT = 86400.0


class _ScaledSelector(selectors.DefaultSelector):
    """Wait for the real part of a scaled timeout."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self._factor = factor

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout > 0:
            timeout = min(timeout / self._factor, _LONGEST_SELECT)
        return super().select(timeout)


class ScaledLoop(ClockLoop):
    """Time starts at zero and gains `factor` seconds in each real second."""

    def __init__(self, factor: float, identity: str) -> None:
        """Anchor the loop's time and its wall stamps at this moment."""
        self.factor = factor
        self.identity = identity
        self._anchor = monotonic()
        self._wall_anchor = wall()
        super().__init__(_ScaledSelector(factor))
        self._clock_resolution: float = self._clock_resolution * factor
        # asyncio's debug mode measures callbacks in loop time.
        self.slow_callback_duration *= factor

    def time(self) -> float:
        """Give the scaled seconds since the loop was made."""
        return (monotonic() - self._anchor) * self.factor

    def wall_time(self) -> float:
        """Give the wall clock at the loop's start plus the scaled seconds since."""
        return self._wall_anchor + self.time()

    async def shutdown_default_executor(self, *timeout: Any) -> None:
        """Join the worker threads; a timeout stays one of real seconds."""
        scaled = [given and min(given * self.factor, LONGEST) for given in timeout]
        await super().shutdown_default_executor(*scaled)
