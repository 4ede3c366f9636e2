"""`OnceAMinute`: what somebody outside can make a library say again and again is told seldom."""

from __future__ import annotations

import logging

SECONDS = 60.0

MOST_TEXTS = 100
"""Different texts that are remembered; beyond them the oldest is told anew."""


class OnceAMinute(logging.Filter):
    """Lets a logger's record of the same text pass once a minute, with how many were left out.

    Args:
        name: Of the logger; its children are filtered too, all others pass.
    """

    def __init__(self, name: str) -> None:
        """Start with nothing told."""
        super().__init__()
        self._names = (name, f"{name}.")
        self._told: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record passes; counts those that do not, and says so in the next."""
        own, children = self._names
        if record.name != own and not record.name.startswith(children):
            return True
        text = record.getMessage()
        last, left_out = self._told.pop(text, (0.0, 0))
        if 0.0 <= record.created - last < SECONDS:
            self._told[text] = (last, left_out + 1)
            return False
        if len(self._told) >= MOST_TEXTS:
            del self._told[next(iter(self._told))]
        self._told[text] = (record.created, 0)
        if left_out:
            record.msg, record.args = f"{text} (and {left_out} more like it)", ()
        return True
