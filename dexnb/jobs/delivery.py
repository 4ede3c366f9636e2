"""`Delivery`: how an answer reaches, or fails to reach, the caller of the HTTP job server."""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dexnb.jobs.book import Fate
from dexnb.jobs.connections import Connections


class Delivery(Response):
    """Sends a response after a delay, resets the connection instead, or stays silent.

    It ends as soon as the caller has gone, so that nothing waits for nobody.
    """

    def __init__(
        self, response: Response, delay: float, fate: Fate, connections: Connections
    ) -> None:
        """Take the response and what becomes of it."""
        super().__init__()
        self._response = response
        self._delay = delay
        self._fate = fate
        self._connections = connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Deliver."""
        if self._delay > 0 and await _gone_within(receive, self._delay):
            return
        if self._fate == "answered":
            await self._response(scope, receive, send)
            return
        if self._fate == "reset":
            self._connections.reset(scope["client"])
        await _gone(receive)


async def _gone_within(receive: Receive, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await _gone(receive)
    except TimeoutError:
        return False
    return True


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
