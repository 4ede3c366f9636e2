"""Run a batch: one transaction, done again when it could not be, and never done twice.

A connection may break while COMMIT is under way. Each batch therefore leaves its number in the
store, and after such a break it is read: a batch that was committed is not done again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import psycopg

from dexnb.providers.postgres.batch import Batch
from dexnb.providers.postgres.encoding import data
from dexnb.providers.postgres.failures import (
    blames_the_server,
    is_lost,
    is_passing,
    provider_error,
)
from dexnb.providers.postgres.fetching import Fetching
from dexnb.providers.postgres.link import Link, Step
from dexnb.providers.postgres.operations import Operation
from dexnb.providers.postgres.place import Place
from dexnb.providers.postgres.streams import stream_writes, telemetry_writes
from dexnb.providers.postgres.writing import writes
from dexnb.providers.store_clock import StoreClock

PATIENCE = 5.0
"""Seconds for which a server that is away is tried again before the caller hears of it."""

_PAUSE = (0.02, 0.5)
_LEAVING = 40


class Transactions:
    """Turns operations into transactions, one at a time.

    Args:
        place: Where the store is, for errors.
        link: The connection, used by nobody else.
        clock: Store time.
        engine: The number of this engine in the store.
        owner: Its name.
        application: Under which the server shows the link.
    """

    def __init__(
        self,
        place: Place,
        link: Link,
        clock: StoreClock,
        *,
        engine: int,
        owner: str,
        application: str,
    ) -> None:
        """Nothing is under way."""
        self._place = place
        self._link = link
        self._clock = clock
        self._engine = engine
        self._owner = data(owner)
        self._application = application
        self._number = 0
        self._doubtful = 0
        self._stray = False
        self.patience = PATIENCE
        self.commits = 0
        """How many transactions were committed."""

    async def run(self, operations: Sequence[Operation]) -> Batch | None:
        """Answer every operation with a result or a failure, and give the batch.

        None says that one operation has spoilt the batch of several, and nothing is answered yet:
        each is to be run by itself. Never raises but for being cancelled.
        """
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + self.patience, _PAUSE[0]
        # Made before there is a connection: a failure lands with a batch as well.
        batch = self._batch(operations)
        while True:
            try:
                if self._stray:
                    await self._end_former()
                if not await self._was_committed():
                    batch = self._batch(operations)
                    await self._attempt(batch)
                self.commits += 1
                return batch
            except Exception as error:  # noqa: BLE001 - every caller gets an answer
                await self._recover(error)
                if is_passing(error) and loop.time() < deadline:
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _PAUSE[1])
                    continue
                self._doubtful = 0
                if len(operations) > 1 and not blames_the_server(error):
                    return None
                for operation in operations:
                    operation.failure = provider_error(operation.name, self._place, error)
                return batch

    def _batch(self, operations: Sequence[Operation]) -> Batch:
        for operation in operations:
            operation.result = operation.failure = None
        self._number += 1
        suffix = f".{self._engine}.{self._number}"
        return Batch(operations, self._clock.now(), suffix, self._place.channel)

    async def _attempt(self, batch: Batch) -> None:
        link, asked = self._link, batch.questions()
        begin: list[Step] = [("begin", {})]
        if not any(operation.waits() for operation in batch.operations):
            begin.append(("do_not_wait", {}))
        answers = await link.ask([*begin, *asked])
        batch.hear(asked, answers[len(begin) :])
        fetching = Fetching(batch)
        claim = fetching.claim()
        steps = [*writes(batch), *stream_writes(batch), *telemetry_writes(batch)]
        news = _news(batch)
        done = [*steps, *news, *claim]
        answers = await link.ask(done) if done else []
        read = fetching.hear(answers[len(done) - len(claim) :])
        if read:
            (messages,) = await link.ask(read)
            free = fetching.hear_messages(messages)
            if free:
                await link.ask(free)
        await self._commit(batch, mark=bool(steps or fetching.claims))

    async def _commit(self, batch: Batch, *, mark: bool) -> None:
        if not mark:
            await self._link.ask([("commit", {})])
            return
        who = {"engine": self._engine, "owner": self._owner}
        number = {"batch": self._number, "now": batch.micros}
        self._doubtful = self._number
        await self._link.ask([("mark_batch", {**who, **number}), ("commit", {})])
        self._doubtful = 0

    async def _was_committed(self) -> bool:
        """Tell whether the batch whose answer was lost did its work."""
        doubtful = self._doubtful
        if not doubtful:
            return False
        newest: int = await self._link.one("newest_batch", engine=self._engine)
        self._doubtful = 0
        return newest >= doubtful

    async def _recover(self, error: Exception) -> None:
        """Leave no transaction open."""
        link = self._link
        if not is_lost(error) and link.connection is not None:
            try:
                await link.within(link.connection.rollback())
            except (psycopg.Error, OSError):
                pass
            else:
                self._doubtful = 0
                return
        link.sever()
        self._stray = True

    async def _end_former(self) -> None:
        """End the server process of a lost connection: it may be about to commit, or hold locks."""
        name = {"application": self._application}
        await self._link.ask([("end_former_backends", name)])
        for _ in range(_LEAVING):
            if not await self._link.one("former_backends", **name):
                break
            await asyncio.sleep(_PAUSE[0])
        self._stray = False


def _news(batch: Batch) -> list[Step]:
    """Give the statement that tells other engines, once the batch is committed."""
    tells = any(op.tells and op.failure is None for op in batch.operations)
    if not batch.news and not tells:
        return []
    payload = " ".join(f"{queue[0]}{due}" for queue, due in sorted(batch.news.items()))
    return [("notify", {"channel": batch.channel, "payload": payload})]
