"""`Mailbox`: calls from any thread into one loop, many for one wake-up."""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from typing import Any


class Mailbox:
    """Runs posted calls on its loop, in order; a burst of posts wakes the loop once.

    Calls run in the context in which the mailbox was made, not in that of the Step which posts.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver to this loop."""
        self.loop = loop
        self._context = contextvars.copy_context()
        self._calls: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._awake = False

    def post(self, call: Callable[..., object], *args: Any) -> None:
        """Run `call(*args)` on the loop soon; for any thread. A closed loop drops it."""
        self._calls.append((call, args))
        if not self._awake:
            self._wake()

    def _wake(self) -> None:
        self._awake = True
        try:
            self.loop.call_soon_threadsafe(self._deliver, context=self._context)
        except RuntimeError:
            self._calls.clear()

    def _deliver(self) -> None:
        # Cleared first: a post that comes after the last popleft must wake the loop again.
        self._awake = False
        calls = self._calls
        try:
            for _ in range(len(calls)):
                call, args = calls.popleft()
                call(*args)
        finally:
            # Also when a call has failed: the others are not its fault.
            if calls and not self._awake:
                self._wake()
