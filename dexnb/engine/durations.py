"""`Durations`: how long something took, counted by upper bounds as a histogram is."""

from __future__ import annotations

from bisect import bisect_left

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds; what took longer than the last one has a place of its own."""


class Durations:
    """Counts durations; belongs to one thread."""

    def __init__(self) -> None:
        """Start with none."""
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds
