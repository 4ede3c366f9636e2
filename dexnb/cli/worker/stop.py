"""`Stop`: the order to stop, which may come from a signal before there is a loop to hear it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress


class Stop:
    """An order that is given once, from any thread or signal handler."""

    def __init__(self) -> None:
        """Wait for it."""
        self.asked = False
        self._tell: Callable[[], object] = lambda: None

    def ask(self) -> None:
        """Give the order."""
        self.asked = True
        with suppress(RuntimeError):  # the loop has ended meanwhile
            self._tell()

    def event(self) -> asyncio.Event:
        """Give what is set on the running loop when the order has come."""
        event, loop = asyncio.Event(), asyncio.get_running_loop()
        self._tell = lambda: loop.call_soon_threadsafe(event.set)
        if self.asked:
            event.set()
        return event
