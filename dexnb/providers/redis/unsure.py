"""`Unsure`: calls that must not be done twice, though their answer may be lost."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from dexnb.errors import ProviderError

REMEMBERED = 1000
"""Calls without an answer that are remembered; the oldest is forgotten first."""

MARK_SECONDS = 600
"""Seconds for which the server knows that a call was done."""


class Unsure:
    """Gives each call a name, and the same one to the call that repeats it after a lost answer.

    What is locked needs none: its token is used up by the first call that arrives.

    Args:
        sender: This engine's word.
    """

    def __init__(self, sender: str) -> None:
        """Remember nothing."""
        self._sender = sender
        self._calls = 0
        self._unanswered: dict[Hashable, bytes] = {}

    @contextmanager
    def named(self, call: Hashable) -> Iterator[bytes]:
        """Give the name under which the server is to do a call once.

        Args:
            call: What is equal when the same is asked again.
        """
        name = self._unanswered.pop(call, None) or self._next()
        try:
            yield name
        except ProviderError as error:
            if error.retryable:
                self._unanswered[call] = name
                while len(self._unanswered) > REMEMBERED:
                    del self._unanswered[next(iter(self._unanswered))]
            raise

    def _next(self) -> bytes:
        self._calls += 1
        return f"{self._sender}-{self._calls}".encode()
