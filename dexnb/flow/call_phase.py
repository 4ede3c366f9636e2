"""`CallPhase`: whether a call goes on, asked by everything that it reads and writes."""

from __future__ import annotations

from dexnb.errors import ContextCallError


class CallPhase:
    """Open until what the call wrote was handed on."""

    def __init__(self) -> None:
        """Begin open."""
        self.ended = False

    def check_open(self, operation: str) -> None:
        """Refuse a task or thread that was left behind: its writes would be lost.

        Raises:
            ContextCallError: The call has ended.
        """
        if self.ended:
            raise ContextCallError(operation, "the method has ended: await what uses its context")
