"""How many calls per second an external system takes."""

from __future__ import annotations

from collections import deque

# A caller that waits exactly as long as it was told must get through, though its clock adds
# floats.
_TOLERANCE = 1e-6


class RateLimit:
    """A sliding window: in no stretch of a second are more calls admitted than the limit.

    A limit below 1 admits one call per 1 / limit seconds. Not safe for several threads.
    """

    def __init__(self, calls_per_second: float) -> None:
        """Take the limit in calls per second, more than 0."""
        self._most = max(1, int(calls_per_second))
        self._window = self._most / calls_per_second
        self._admitted: deque[float] = deque()

    def admit(self, now: float) -> float:
        """Admit a call at `now` and give 0, or refuse it and give the seconds to wait."""
        while self._admitted and self._admitted[0] <= now - self._window + _TOLERANCE:
            self._admitted.popleft()
        if len(self._admitted) < self._most:
            self._admitted.append(now)
            return 0.0
        return self._admitted[0] + self._window - now
