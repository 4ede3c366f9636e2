"""`OpenCalls`: the RPCs that are under way, so that an engine's stop can end them in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from dexnb.engine.threads import DaemonThreads
from dexnb.errors import RuntimeClosed

_CLOSED = "the runtime was closed during the call, which has changed nothing"


class OpenCalls:
    """The calls of one engine, and `threads` for those of plain methods."""

    def __init__(self) -> None:
        """Start with none."""
        self.threads = DaemonThreads("dexnb-rpc")
        self._open: dict[asyncio.Timeout, asyncio.Future[None]] = {}
        self._ended = False

    @contextlib.asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """Run the block for so long at most, and not beyond `end`.

        Raises:
            RuntimeClosed: The engine was stopped meanwhile.
            TimeoutError: The block was not done in time.
        """
        if self._ended:
            raise RuntimeClosed(_CLOSED)
        limit = asyncio.timeout(seconds)
        done = asyncio.get_running_loop().create_future()
        try:
            async with limit:
                self._open[limit] = done
                yield limit
        except TimeoutError:
            if self._ended and limit.expired():
                raise RuntimeClosed(_CLOSED) from None
            raise
        finally:
            self._open.pop(limit, None)
            done.set_result(None)

    async def end(self, patience: float) -> None:
        """End all calls, and wait until they have given up what they hold in the store.

        Args:
            patience: Seconds after which those that do not end are left to themselves.
        """
        self._ended = True
        if not self._open:
            return
        now = asyncio.get_running_loop().time()
        for limit in self._open:
            if not limit.expired():
                limit.reschedule(now)
        await asyncio.wait(list(self._open.values()), timeout=patience)
