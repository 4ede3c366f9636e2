"""What keeps a health port from taking all that its process has: few connections, for a while.

A process that has no file descriptor left can start no other one, and asyncio then tells of each
connection that it could not take.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from dexnb.cli.worker.log_lines import tell

MOST_CONNECTIONS = 64
"""The oldest one is cut where there are more: whoever asks has asked at once."""

MOST_AT_ONCE = 16
"""Connections that are taken before any of them can be cut."""

LIFE_SECONDS = 10.0
"""A connection lasts no longer, busy or idle."""

REFUSED_SECONDS = 30.0
"""Between two lines that tell of connections that cannot be taken."""


class Bounded(H11Protocol):
    """One connection to the health port."""

    _ending: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, and cut the oldest one where there are too many."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._ending = self.loop.call_later(LIFE_SECONDS, self._end)
        others = [each for each in self.connections if not each.transport.is_closing()]
        if len(others) > MOST_CONNECTIONS:
            oldest = min(others, key=lambda each: getattr(each, "_since", math.inf))
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        super().connection_lost(exc)
        if self._ending is not None:
            self._ending.cancel()

    def _end(self) -> None:
        busy = not getattr(self.cycle, "response_complete", True)
        if not busy and not self.transport.get_write_buffer_size():
            self.transport.close()
        else:
            # Who does not read an answer would keep it open for ever.
            self.transport.abort()


@contextmanager
def refusals_told_once() -> Iterator[None]:
    """Tell now and then, not each time, of connections for which the process has no room."""
    loop = asyncio.get_running_loop()
    before, told = loop.get_exception_handler(), -math.inf

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal told
        if not str(context.get("message")).startswith("socket.accept()"):
            loop.default_exception_handler(context)
        elif loop.time() - told >= REFUSED_SECONDS:
            told = loop.time()
            tell(logging.ERROR, "health_refused", reason=str(context.get("exception")))

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(before)
