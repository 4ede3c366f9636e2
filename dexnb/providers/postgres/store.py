"""An open store: what `open` built up and `close` takes down again, in order."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Sequence
from typing import Any

import psycopg

from dexnb.errors import ProviderError
from dexnb.providers.parking import FetchParking, Queue
from dexnb.providers.postgres import opening
from dexnb.providers.postgres.alarm import Alarms
from dexnb.providers.postgres.batch import Batch
from dexnb.providers.postgres.encoding import MICRO
from dexnb.providers.postgres.failures import provider_error
from dexnb.providers.postgres.link import GOODBYE_PATIENCE, Link, Step
from dexnb.providers.postgres.listener import Listener
from dexnb.providers.postgres.operations import (
    AbandonTurn,
    AbandonWork,
    AckTurn,
    Fetch,
    FetchTurns,
    Operation,
)
from dexnb.providers.postgres.place import Place
from dexnb.providers.postgres.reader import Reader
from dexnb.providers.postgres.transaction import Transactions
from dexnb.providers.postgres.writer import Writer
from dexnb.providers.store_clock import StoreClock

DEAF_INTERVAL = 0.45
"""Seconds after which the store is looked at again while no notices can be heard."""


class Store:
    """The parts of an open store, tied together."""

    clock: StoreClock
    writer: Writer
    reader: Reader
    transactions: Transactions

    def __init__(self, place: Place) -> None:
        """Nothing is open yet."""
        self.place = place
        self.parking = FetchParking()
        self.listener: Listener | None = None
        # Unique, so that a connection of this engine that was lost can be found at the server.
        self._application = f"dexnb {secrets.token_hex(8)}"
        self._link = Link(place, self._application)
        self._alarms: Alarms | None = None
        self._number = 0
        self._changed = False
        self._looked_at = -math.inf

    async def open(self, owner: str) -> None:
        """Build it up; what fails leaves nothing open.

        Raises:
            ProviderError: The server cannot be reached, or its content does not serve.
        """
        link = self._link
        try:
            await link.connect()
            await opening.check_server(link)
            await opening.make_tables(link, self.place)
            self.clock = await opening.store_clock(link)
            self._number = await opening.register(link, owner, self.clock)
            self._alarms = Alarms(self.parking, self.clock)
            self.listener = await self._listen()
        except BaseException as error:
            link.sever()
            if isinstance(error, psycopg.Error | OSError):
                raise provider_error("open", self.place, error) from error
            raise
        self.transactions = Transactions(
            self.place,
            link,
            self.clock,
            engine=self._number,
            owner=owner,
            application=self._application,
        )
        self.writer = Writer(self.transactions, self._landed)
        self.reader = Reader(self.place, Link(self.place, f"{self._application} reads"))

    async def _listen(self) -> Listener:
        link = Link(self.place, f"{self._application} listens", settings=False)
        listener = Listener(
            self.place, link, lambda: self._link.pid, self._announce, self._note_change
        )
        try:
            await listener.start()
        except BaseException:
            link.sever()
            raise
        return listener

    async def ask(self, operation: Operation) -> Any:
        """Put an operation into a batch and wait for its answer."""
        answer = self.writer.submit(operation)
        try:
            return await answer
        except asyncio.CancelledError:
            if answer.done() and not answer.cancelled() and answer.exception() is None:
                self._give_back(operation)
            raise

    def _landed(self, batch: Batch, unclaimed: Sequence[Operation]) -> None:
        for operation in unclaimed:
            self._give_back(operation)
        for queue, due in batch.news.items():
            self._announce(queue, due / MICRO)
        if any(op.failure is None for op in batch.operations if isinstance(op, AckTurn)):
            # What was sent under the lock can be fetched now.
            self.parking.hint("messages")

    def _give_back(self, operation: Operation) -> None:
        """Free what was locked for a caller that has gone; it counts as no attempt."""
        if not isinstance(operation, Fetch) or operation.failure or not operation.result:
            return
        kind = AbandonTurn if isinstance(operation, FetchTurns) else AbandonWork
        for item in operation.result[0]:
            given_back = self.writer.put(kind(operation.name, item.token, 0.0, take_back=True))
            given_back.add_done_callback(_ignore)

    def _announce(self, queue: Queue, due: float) -> None:
        if self._alarms is not None:
            self._alarms.announce(queue, due)

    def _note_change(self) -> None:
        self._changed = True

    def watch(self) -> bool:
        """See `Provider.watch`."""
        now = asyncio.get_running_loop().time()
        deaf = self.listener is not None and not self.listener.is_alive
        if deaf and now - self._looked_at >= DEAF_INTERVAL:
            # Nobody would tell.
            self._looked_at = now
            self.parking.hint("messages")
            self.parking.hint("work")
            return True
        changed, self._changed = self._changed, False
        return changed

    async def close(self) -> None:
        """Take it down: end parked fetches, write what waits, tell others to look."""
        self.transactions.patience = GOODBYE_PATIENCE
        await self.parking.settle()
        self.writer.refuse(lambda operation: closed(operation, self.place))
        await self.writer.drain(GOODBYE_PATIENCE)
        if self._alarms is not None:
            self._alarms.clear()
        if self.listener is not None:
            await self.listener.stop()
        busy = self.writer.is_busy
        if busy:
            self._link.sever()
        await self.writer.stop()
        await self.reader.close()
        if not busy:
            await self._leave()
        self._link.sever()

    async def _leave(self) -> None:
        """Say goodbye as well as the server allows: closing must not fail over it."""
        news = {"channel": self.place.channel, "payload": "m0 w0"}
        goodbye: list[Step] = [("remove_engine", {"engine": self._number}), ("notify", news)]
        leaving = asyncio.ensure_future(self._link.ask(goodbye))
        await asyncio.wait([leaving], timeout=GOODBYE_PATIENCE)
        if not leaving.done():
            self._link.sever()
            await asyncio.wait([leaving])
        if leaving.exception() is None:
            await self._link.close()


def closed(operation: str, place: Place) -> ProviderError:
    """Give the error of a call to a store that is not open."""
    return ProviderError(operation, f"{place.name} is not open; open it first", retryable=False)


def _ignore(answer: asyncio.Future[Any]) -> None:
    """Look at an answer that nobody waits for, so that asyncio does not complain of it."""
    if not answer.cancelled():
        answer.exception()
