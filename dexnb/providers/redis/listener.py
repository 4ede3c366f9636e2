"""`Listener`: hears from other engines that there may be something to fetch.

It has a connection of its own, on which it waits for as long as nothing is said. What it hears is
a hint, never the truth: a hint that is lost costs what the fallback says, and one that comes too
often costs one empty fetch.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from dexnb.providers.redis.address import Address, disconnect

PING_INTERVAL = 10.0
"""Seconds of silence after which the server is asked whether it is still there."""

PING_PATIENCE = 5.0
"""Seconds for its answer; a connection that is half open gives none."""

FALLBACK_INTERVAL = 1.0
"""Seconds after which a parked fetch looks again while nothing can be heard."""

HINT_SPACING = 0.01
"""Seconds between two hints that are passed on: a busy neighbour must not make an idle one spin."""

_PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)

Heard = Callable[[str], None]


class Listener:
    """Hears hints for as long as the store is open, over lost connections too.

    Args:
        address: The server.
        sender: This engine's word in its own hints, which it need not hear.
        heard: Called with letters: `m` messages, `w` work, `c` any change.
    """

    def __init__(self, address: Address, sender: str, heard: Heard) -> None:
        """Hear nothing yet."""
        self._address = address
        self._sender = sender.encode()
        self._heard = heard
        self._task: asyncio.Task[None] | None = None
        self._pending: set[str] = set()
        self._handle: asyncio.TimerHandle | None = None
        self._quiet_until = 0.0
        self.hears = False
        """Whether hints come in now; while not, fetches have to look by themselves."""

    async def start(self) -> None:
        """Subscribe; the first time fails as any call does.

        Raises:
            RedisError: The server cannot be reached, or allows no subscription.
        """
        connection = await self._subscribed()
        self._task = asyncio.get_running_loop().create_task(self._run(connection))

    async def stop(self) -> None:
        """Hear nothing more, and disconnect."""
        if self._handle is not None:
            self._handle.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self, connection: AbstractConnection | None) -> None:
        failures = 0
        while True:
            try:
                if connection is None:
                    connection = await self._subscribed()
                    # What was said meanwhile was not heard.
                    self._tell("mwc")
                failures = 0
                await self._listen(connection)
            except (RedisError, OSError):
                pass
            finally:
                lost, self.hears = self.hears, False
                await disconnect(connection)
                connection = None
            if lost:
                # What is parked has to look by itself from now on.
                self._tell("mw")
            pause = _PAUSES[min(failures, len(_PAUSES) - 1)]
            failures += 1
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))

    async def _subscribed(self) -> AbstractConnection:
        connection = await self._address.connect()
        try:
            await connection.send_command("SUBSCRIBE", self._address.channel)
            await connection.read_response(disable_decoding=True)
        except BaseException:
            await disconnect(connection)
            raise
        self.hears = True
        return connection

    async def _listen(self, connection: AbstractConnection) -> None:
        asked = False
        while True:
            # A timeout of its own in each call: what the address asks for is for answers.
            patience = PING_PATIENCE if asked else PING_INTERVAL
            said = await connection.read_response(disable_decoding=True, timeout=patience)
            if said is None and asked:
                return
            asked = said is None
            if asked:
                await connection.send_command("PING")
            else:
                self._take(said)

    def _take(self, said: Any) -> None:
        if not isinstance(said, list) or said[0] != b"message":
            return
        sender, _, letters = bytes(said[2]).partition(b" ")
        if sender != self._sender:
            self._tell(letters.decode("ascii", "replace"))

    def _tell(self, letters: str) -> None:
        self._pending.update(letters)
        if self._handle is None:
            loop = asyncio.get_running_loop()
            at = max(self._quiet_until, loop.time())
            self._handle = loop.call_at(at, self._pass_on)

    def _pass_on(self) -> None:
        self._handle = None
        self._quiet_until = asyncio.get_running_loop().time() + HINT_SPACING
        letters, self._pending = "".join(sorted(self._pending)), set()
        self._heard(letters)
