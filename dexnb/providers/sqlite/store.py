"""An open store: what `open` built up and `close` takes down again, in order."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from dexnb.clock import Clock, boot_id, monotonic
from dexnb.errors import ProviderError
from dexnb.providers.items import OrchestrationItem, WorkItem
from dexnb.providers.parking import FetchParking
from dexnb.providers.sqlite import opening, owners
from dexnb.providers.sqlite.boot import clock_boot
from dexnb.providers.sqlite.failures import provider_error
from dexnb.providers.sqlite.handing import Handing
from dexnb.providers.sqlite.lane import Lane
from dexnb.providers.sqlite.log_file import cut
from dexnb.providers.sqlite.operations import AbandonTurn, AbandonWork, Fetch, Operation
from dexnb.providers.sqlite.owner_file import OwnerFile
from dexnb.providers.sqlite.place import make_private
from dexnb.providers.sqlite.transaction import Transactions, patiently
from dexnb.providers.sqlite.watch import Watcher
from dexnb.providers.sqlite.writer import Writer
from dexnb.providers.store_clock import StoreClock, anchor_of, clock_for, readings_for

T = TypeVar("T")

FAIR_PAUSE = 0.002
"""Seconds between two batches that are left to another engine on the same file."""

LOOK_INTERVAL = 0.2
"""Real seconds after which an operation looks again whether the file is still there."""

LAST_PATIENCE = 0.5
"""Seconds for which a close waits for a file that is locked."""

_ABANDON: dict[type, tuple[str, type[AbandonTurn | AbandonWork]]] = {
    OrchestrationItem: ("abandon_orchestration_item", AbandonTurn),
    WorkItem: ("abandon_work_item", AbandonWork),
}

_CLAIMS = 20
_CLAIM_INTERVAL = 0.01


class Store:
    """The parts of an open store, tied together."""

    def __init__(self, path: Path, clock: Clock, *, full: bool) -> None:
        """Nothing is open yet."""
        self.path = path
        self.parking = FetchParking()
        self.handing = Handing(self.parking, lambda: not self._shared, self._free)
        self.clock: StoreClock
        self._kind = clock
        self._full = full
        self._boot_id = boot_id()
        self._file: OwnerFile | None = None
        self._lane: Lane | None = None
        self._watcher: Watcher | None = None
        self._number = 0
        self._look_at = -math.inf
        self.writer: Writer

    async def open(self, owner: str) -> None:
        """Build it up; what fails leaves nothing open.

        Raises:
            ProviderError: The file, its place or its content do not serve.
        """
        try:
            make_private(self.path)
            self._file = await self._claim(owner)
            self._lane = lane = await Lane.open(str(self.path))
            await self._prepare(lane, owner)
            self._watcher = Watcher(self.path, lane, self._number, self._boot_id)
            await self._watcher.start()
        except BaseException as error:
            await self._take_down()
            if isinstance(error, sqlite3.Error | OSError):
                raise provider_error("open", str(self.path), error) from error
            raise
        transactions = Transactions(str(self.path), self.clock, self._number, full=self._full)
        self.writer = Writer(lane, transactions, self._pause, self._landed)

    async def _claim(self, owner: str) -> OwnerFile:
        for _ in range(_CLAIMS):
            file = OwnerFile.claim(self.path, owner, make=True)
            if file is not None:
                return file
            # Others hold it for a moment to see whether its owner is dead.
            await asyncio.sleep(_CLAIM_INTERVAL)
        message = (
            f"{self.path} is open already under the owner {owner!r}; "
            "close that one, or give each engine a name of its own"
        )
        raise ProviderError("open", message, retryable=False)

    async def _prepare(self, lane: Lane, owner: str) -> None:
        path, identity, boot = self.path, self._kind.identity, clock_boot(self._kind)
        fresh = anchor_of(readings_for(self._kind)())
        await _patient(lane, lambda c: opening.use_wal(c, path))
        await _patient(lane, lambda c: opening.make_tables(c, path))
        anchor = await _patient(
            lane, lambda c: opening.settle_clock(c, path, identity, boot, fresh)
        )
        self.clock = clock_for(self._kind, anchor)
        self._number = await _patient(lane, lambda c: owners.register(c, owner, self._boot_id))

    def ask(self, operation: Operation) -> Awaitable[Any]:
        """Put an operation into a batch; what this gives waits for its answer."""
        if monotonic() > self._look_at:
            self._check_file(operation.name)
        answer = self.writer.submit(operation)
        self.handing.promise(operation)
        return self._fetched(operation, answer) if isinstance(operation, Fetch) else answer

    async def _fetched(self, operation: Fetch, answer: asyncio.Future[Any]) -> Any:
        try:
            return await answer
        except asyncio.CancelledError:
            if answer.done() and not answer.cancelled() and answer.exception() is None:
                self._give_back(operation)
            raise

    def _check_file(self, operation: str) -> None:
        self._look_at = monotonic() + LOOK_INTERVAL
        if self._watcher is not None and self._watcher.is_gone():
            self._look_at = -math.inf
            raise self._gone(operation)

    def _gone(self, operation: str) -> ProviderError:
        message = (
            f"{self.path} was removed or replaced while it was open; "
            "put it back and open it anew: what is written now would be lost"
        )
        return ProviderError(operation, message, retryable=False)

    @property
    def _shared(self) -> bool:
        return self._watcher is not None and bool(self._watcher.others)

    def _pause(self) -> float:
        return FAIR_PAUSE if self._shared and self._kind.kind == "real" else 0.0

    def _landed(self, done: Sequence[Operation], unclaimed: Sequence[Operation]) -> None:
        for operation in unclaimed:
            self._give_back(operation)
        hints = {
            hint for operation in done if operation.failure is None for hint in operation.hints()
        }
        for queue in hints:
            self.parking.hint(queue)
        self.handing.landed(done)

    def _give_back(self, operation: Operation) -> None:
        """Free what was locked for a caller that has gone; it counts as no attempt."""
        if not isinstance(operation, Fetch) or operation.failure or self._lane is None:
            return
        items, _ = operation.result
        self._free(items)

    def _free(self, items: Sequence[WorkItem | OrchestrationItem]) -> None:
        for item in items:
            name, kind = _ABANDON[type(item)]
            given_back = self.writer.put(kind(name, item.token, 0.0, take_back=True))
            given_back.add_done_callback(_ignore)

    async def watch(self) -> bool:
        """See `Provider.watch`."""
        self._check_file("watch")
        if self._watcher is None:
            return False
        try:
            changed = await self._watcher.look()
        except (sqlite3.Error, OSError, ProviderError) as error:
            failure = provider_error("watch", str(self.path), error)
            if failure.retryable or self._watcher is None:  # Later, or closed meanwhile.
                return False
            raise failure from error
        if changed:
            self.parking.hint("messages")
            self.parking.hint("work")
        return changed

    async def close(self) -> None:
        """Take it down: end parked fetches, write what waits, leave no -wal behind."""
        try:
            await self.parking.settle()
            self.writer.refuse(lambda operation: closed(operation, self.path))
            await self.writer.drain()
            newest = repr(self.clock.now())
            if self._lane is not None:
                await self._lane.call(lambda c: _leave(c, self._number, newest))
        finally:
            self.writer.stop()
            await self._take_down()

    async def _take_down(self) -> None:
        self.handing.close()
        watcher, lane, file = self._watcher, self._lane, self._file
        self._watcher = self._lane = self._file = None
        try:
            if watcher is not None:
                watcher.close()
            if lane is not None:
                await lane.close()
        finally:
            # Last, so that nobody takes over while this engine may still write.
            if file is not None:
                file.release()


def closed(operation: str, path: Path) -> ProviderError:
    """Give the error of a call to a store that is not open."""
    return ProviderError(operation, f"{path} is not open; open it first", retryable=False)


async def _patient(lane: Lane, work: Callable[[sqlite3.Connection], T]) -> T:
    found: list[T] = []
    await lane.call(lambda c: patiently(c, lambda: found.append(work(c))))
    return found[0]


def _ignore(answer: asyncio.Future[Any]) -> None:
    """Look at an answer that nobody waits for, so that asyncio does not complain of it."""
    if not answer.cancelled():
        answer.exception()


def _leave(connection: sqlite3.Connection, number: int, newest: str) -> None:
    """Say goodbye as well as the file allows: closing must not fail over it."""

    def goodbye() -> None:
        connection.execute("BEGIN IMMEDIATE")
        owners.unregister(connection, number)
        opening.write_meta(connection, newest=newest)
        connection.execute("COMMIT")

    with suppress(sqlite3.Error):
        patiently(connection, goodbye, LAST_PATIENCE)
    with suppress(sqlite3.Error):
        cut(connection)
