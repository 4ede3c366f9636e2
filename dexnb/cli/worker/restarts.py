"""`Restarts`: when a process that has died is started again, and when that is given up."""

from __future__ import annotations

QUICK_SECONDS = 10.0
"""A process that dies within this time of its start has died at once."""

MOST_QUICK = 5
"""Deaths at once in a row that end the worker."""

MOST_FAILED = 12
"""Starts in a row that come to nothing and end the worker: some minutes, because what a machine is
short of for a moment comes back."""

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 30.0


class Restarts:
    """The deaths of one process after another in one place."""

    def __init__(self) -> None:
        """Start with none."""
        self.quick = 0
        self.failed = 0

    def after(self, lived: float) -> float | None:
        """Give the seconds to wait after a death; None to give up.

        Args:
            lived: Seconds from the process's start to its death.
        """
        self.failed = 0
        self.quick = self.quick + 1 if lived < QUICK_SECONDS else 0
        return None if self.quick >= MOST_QUICK else _pause(self.quick)

    def after_failure(self) -> float | None:
        """Give the seconds to wait after a start that came to nothing; None to give up."""
        self.failed += 1
        return None if self.failed >= MOST_FAILED else _pause(self.failed)


def _pause(times: int) -> float:
    return min(FIRST_PAUSE * 2.0 ** max(0, times - 1), LONGEST_PAUSE)
