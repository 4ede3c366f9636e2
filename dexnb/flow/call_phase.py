"""`CallPhase`: whether a call can still write, asked by everything that it writes to."""

from __future__ import annotations

from dexnb.errors import ContextCallError


class CallPhase:
    """Open until what the call wrote was handed on."""

    def __init__(self) -> None:
        """Begin open."""
        self.ended = False

    def check_open(self, operation: str) -> None:
        """Refuse a write that nobody would hand on: of a task or thread that was left behind.

        Raises:
            ContextCallError: The call has ended.
        """
        if self.ended:
            raise ContextCallError(operation, "the method has ended: await what writes inside it")
