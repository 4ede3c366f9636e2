"""An open store: the connections, its time and its parked fetches, tied together."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError

from dexnb.clock import Clock
from dexnb.errors import ClockMismatch, LeaseLost, ProviderError
from dexnb.providers.parking import FetchParking
from dexnb.providers.redis import durability
from dexnb.providers.redis.address import Address
from dexnb.providers.redis.encoding import text
from dexnb.providers.redis.failures import provider_error
from dexnb.providers.redis.lane import Lane
from dexnb.providers.redis.listener import FALLBACK_INTERVAL, Listener
from dexnb.providers.redis.server_time import CLOCK, NOTE_INTERVAL, ServerTime
from dexnb.providers.redis.unsure import Unsure
from dexnb.providers.store_clock import StoreClock

LOG = logging.getLogger("dexnb")

LAST_PATIENCE = 2.0
"""Seconds for which a close waits for a server that does not answer."""


class Store:
    """What `open` builds up and `close` takes down.

    Args:
        address: The server.
        owner: The engine's name, kept with its locks.
    """

    def __init__(self, address: Address, owner: str) -> None:
        """Nothing is open yet."""
        self.address = address
        self.owner = owner
        self.closing = False
        self.parking = FetchParking()
        # Never used twice, so that no token is, whatever engines are called.
        self.sender = secrets.token_hex(6)
        self.lane = Lane(address, self.sender)
        self.unsure = Unsure(self.sender)
        self.listener = Listener(address, self.sender, self._heard)
        self.time = ServerTime(self.lane.command, self.lane.script)
        self._changed = False
        self._keeper: asyncio.Task[None] | None = None
        self._gone: ProviderError | None = None
        self._look_at = 0.0

    @property
    def clock(self) -> StoreClock:
        """Give store time."""
        return self.time.clock

    async def open(self, clock: Clock) -> None:
        """Connect; what fails leaves nothing open.

        Raises:
            ClockMismatch: The engine's clock is not the real one, which machines can share.
            ProviderError: The server or what it holds does not serve.
        """
        place = self.address.place
        if clock.identity != CLOCK:
            raise ClockMismatch(place, CLOCK, clock.identity)
        try:
            subscribed = await self.lane.command("open", "PUBSUB", "NUMSUB", self.address.channel)
            await self.listener.start()
            await self.time.join(place, others=subscribed[1] > 0)
            await durability.check(place, self.lane.command)
            self._keeper = asyncio.get_running_loop().create_task(self._keep_time())
        except BaseException as error:
            await self.close()
            if isinstance(error, RedisError | OSError):
                raise provider_error("open", self.address, error) from None
            raise
        if self.address.asked_timeout is not None:
            LOG.info(
                "%s: socket_timeout=%g holds for answers; the connection that waits for hints "
                "waits for as long as a fetch does",
                self.address.place,
                self.address.asked_timeout,
            )

    async def close(self) -> None:
        """Take it down: end parked fetches, hand back what they took, disconnect."""
        self.closing = True
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        try:
            async with asyncio.timeout(LAST_PATIENCE):
                await self.parking.settle()
                if hasattr(self.time, "clock"):
                    with suppress(ProviderError):
                        await self.time.note()
        except TimeoutError:
            # What cannot be handed back is free again when its lock runs out.
            pass
        finally:
            await self.listener.stop()
            await self.lane.close(LAST_PATIENCE)

    async def run(self, operation: str, script: str, *arguments: Any, token: str = "") -> list[Any]:
        """Run a script that changes or reads the store; give what stands behind code and hints.

        Raises:
            LeaseLost: The script found the token not live.
            ProviderError: It refused, or the server did.
        """
        reply = await self.lane.script(operation, script, *arguments)
        code, letters, *rest = reply
        self.hint(letters.decode("ascii"))
        if code == b"lost":
            raise LeaseLost(operation, token)
        if code == b"refused":
            raise ProviderError(operation, text(rest[0]), retryable=False)
        return [code, *rest]

    def hint(self, letters: str) -> None:
        """Let parked fetches of this engine look."""
        if "m" in letters:
            self.parking.hint("messages")
        if "w" in letters:
            self.parking.hint("work")

    def tell_of(self, damaged: Iterable[bytes]) -> None:
        """Say what was set aside, so that one broken thing does not stop the others."""
        for reason in damaged:
            LOG.error("%s: set aside: %s", self.address.place, text(reason))

    def tell_dropped(self, count: int) -> None:
        """Say that messages had nobody to go to."""
        if count:
            LOG.info("%d messages to runs that are not open were dropped", count)

    def next_look(self, due: float | None) -> float | None:
        """Give when a fetch has to look again: sooner while nothing can be heard of others."""
        if self.listener.hears:
            return due
        fallback = self.clock.now() + FALLBACK_INTERVAL
        return fallback if due is None else min(due, fallback)

    def watch(self) -> bool:
        """Tell whether other engines have changed anything since the last time; asks nobody.

        Raises:
            ProviderError: Not retryable: the store is not there any more.
        """
        if self._gone is not None:
            raise self._gone
        now = asyncio.get_running_loop().time()
        if not self.listener.hears and now >= self._look_at:
            # They may have, and nobody could say so.
            self._look_at = now + FALLBACK_INTERVAL
            return True
        changed, self._changed = self._changed, False
        return changed

    async def _keep_time(self) -> None:
        while True:
            await asyncio.sleep(NOTE_INTERVAL)
            try:
                await self.time.look()
                self._gone = None
            except ProviderError as error:
                self._gone = None if error.retryable else error

    def _heard(self, letters: str) -> None:
        self._changed = self._changed or "c" in letters
        self.hint(letters)
