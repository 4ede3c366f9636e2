"""`Totals`: the counts of several reports, added up."""

from __future__ import annotations

from collections import Counter
from typing import Any


class Totals:
    """Sums over processes, also over those that are dead, so that no count ever falls."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.counts: dict[str, Counter[tuple[str, ...]]] = {}
        """By name, then by labels."""
        self.durations: dict[str, tuple[list[int], float]] = {}
        """By name: the count of each bound, not cumulated, and the seconds of all."""

    def add(self, report: dict[str, Any]) -> None:
        """Add a process's report."""
        for name, rows in report["counts"].items():
            counts = self.counts.setdefault(name, Counter())
            for *labels, number in rows:
                counts[tuple(labels)] += number
        for name, given in report["durations"].items():
            self._add_durations(name, given["counts"], given["seconds"])

    def include(self, other: Totals) -> None:
        """Add other totals."""
        for name, counts in other.counts.items():
            self.counts.setdefault(name, Counter()).update(counts)
        for name, (counts_of, seconds) in other.durations.items():
            self._add_durations(name, counts_of, seconds)

    def _add_durations(self, name: str, counts: list[int], seconds: float) -> None:
        before, sum_ = self.durations.get(name, ([0] * len(counts), 0.0))
        added = [one + other for one, other in zip(before, counts, strict=True)]
        self.durations[name] = (added, sum_ + seconds)
