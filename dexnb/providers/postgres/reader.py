"""`Reader`: look-ups, on a connection of their own so that no batch waits for them."""

from __future__ import annotations

import asyncio
from typing import Any

from dexnb.providers.postgres.failures import is_lost, is_passing, provider_error
from dexnb.providers.postgres.link import Link, Row
from dexnb.providers.postgres.place import Place
from dexnb.providers.postgres.transaction import PATIENCE


class Reader:
    """Runs one statement after the other, again where the server was away.

    Args:
        place: Where the store is, for errors.
        link: The connection, used by nobody else.
    """

    def __init__(self, place: Place, link: Link) -> None:
        """Connect with the first look-up."""
        self._place = place
        self._link = link
        self._free = asyncio.Lock()
        self._reading: set[asyncio.Task[list[Row]]] = set()

    async def rows(self, operation: str, name: str, **parameters: Any) -> list[Row]:
        """Give the rows of a statement.

        Raises:
            ProviderError: It could not be run.
        """
        task = asyncio.ensure_future(self._patiently(operation, name, parameters))
        self._reading.add(task)
        task.add_done_callback(self._ended)
        # A caller that is cancelled leaves the connection to those behind it.
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[list[Row]]) -> None:
        self._reading.discard(task)
        # Looked at, so that asyncio does not complain where the caller has gone.
        if not task.cancelled():
            task.exception()

    async def _patiently(self, operation: str, name: str, parameters: Any) -> list[Row]:
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + PATIENCE, 0.02
        while True:
            try:
                async with self._free:
                    (rows,) = await self._link.ask([(name, parameters)])
                    return rows
            except Exception as error:
                if is_lost(error):
                    self._link.sever()
                if not is_passing(error) or loop.time() >= deadline:
                    raise provider_error(operation, self._place, error) from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.5)

    async def close(self) -> None:
        """End the look-ups that are under way, and the connection."""
        if self._reading:
            self._link.sever()
            for task in self._reading:
                task.cancel()
            await asyncio.wait(self._reading)
        await self._link.close()
