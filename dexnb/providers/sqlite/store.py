"""An open store: what `open` built up and `close` takes down again, in order."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from dexnb.clock import Clock, boot_id
from dexnb.errors import ProviderError
from dexnb.providers.parking import FetchParking
from dexnb.providers.sqlite import opening, owners
from dexnb.providers.sqlite.boot import clock_boot
from dexnb.providers.sqlite.failures import provider_error
from dexnb.providers.sqlite.lane import Lane
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


class Store:
    """The parts of an open store, tied together."""

    def __init__(self, path: Path, clock: Clock, *, full: bool) -> None:
        """Nothing is open yet."""
        self.path = path
        self.parking = FetchParking()
        self.clock: StoreClock
        self._kind = clock
        self._full = full
        self._boot_id = boot_id()
        self._file: OwnerFile | None = None
        self._lane: Lane | None = None
        self._watcher: Watcher | None = None
        self._number = 0
        self.writer: Writer

    async def open(self, owner: str) -> None:
        """Build it up; what fails leaves nothing open.

        Raises:
            ProviderError: The file, its place or its content do not serve.
        """
        try:
            make_private(self.path)
            self._file = self._claim(owner)
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

    def _claim(self, owner: str) -> OwnerFile:
        file = OwnerFile.claim(self.path, owner)
        if file is None:
            message = (
                f"{self.path} is open already under the owner {owner!r}; "
                "close that one, or give each engine a name of its own"
            )
            raise ProviderError("open", message, retryable=False)
        return file

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

    async def ask(self, operation: Operation) -> Any:
        """Put an operation into a batch and wait for its answer."""
        self._check_file(operation.name)
        answer = self.writer.submit(operation)
        try:
            return await answer
        except asyncio.CancelledError:
            if answer.done() and not answer.cancelled() and answer.exception() is None:
                self._give_back(operation)
            raise

    def _check_file(self, operation: str) -> None:
        if self._watcher is not None and self._watcher.is_gone():
            raise self._gone(operation)

    def _gone(self, operation: str) -> ProviderError:
        message = (
            f"{self.path} was removed or replaced while it was open; "
            "put it back and open it anew: what is written now would be lost"
        )
        return ProviderError(operation, message, retryable=False)

    def _pause(self) -> float:
        shared = self._watcher is not None and self._watcher.others
        return FAIR_PAUSE if shared and self._kind.kind == "real" else 0.0

    def _landed(self, done: Sequence[Operation], unclaimed: Sequence[Operation]) -> None:
        for operation in unclaimed:
            self._give_back(operation)
        hints = {
            hint for operation in done if operation.failure is None for hint in operation.hints()
        }
        for queue in hints:
            self.parking.hint(queue)

    def _give_back(self, operation: Operation) -> None:
        """Free what was locked for a caller that has gone; it counts as no attempt."""
        if not isinstance(operation, Fetch) or operation.failure is not None:
            return
        items, _ = operation.result
        for item in items:
            kind = AbandonWork if item.token.startswith("w") else AbandonTurn
            self.writer.put(kind(operation.name, item.token, 0.0, take_back=True))

    async def watch(self) -> bool:
        """See `Provider.watch`."""
        self._check_file("watch")
        if self._watcher is None:
            return False
        changed = await self._watcher.look()
        if changed:
            self.parking.hint("messages")
            self.parking.hint("work")
        return changed

    async def close(self) -> None:
        """Take it down: end parked fetches, write what waits, leave no -wal behind."""
        await self.parking.settle()
        self.writer.refuse(lambda operation: closed(operation, self.path))
        await self.writer.drain()
        newest = repr(self.clock.now())
        if self._lane is not None:
            await self._lane.call(lambda c: _leave(c, self._number, newest))
        await self._take_down()

    async def _take_down(self) -> None:
        if self._watcher is not None:
            self._watcher.close()
        if self._lane is not None:
            await self._lane.close()
        if self._file is not None:
            self._file.release()
        self._watcher = self._lane = self._file = None


def closed(operation: str, path: Path) -> ProviderError:
    """Give the error of a call to a store that is not open."""
    return ProviderError(operation, f"{path} is not open; open it first", retryable=False)


async def _patient(lane: Lane, work: Callable[[sqlite3.Connection], T]) -> T:
    found: list[T] = []
    await lane.call(lambda c: patiently(c, lambda: found.append(work(c))))
    return found[0]


def _leave(connection: sqlite3.Connection, number: int, newest: str) -> None:
    """Say goodbye as well as the file allows: closing must not fail over it."""
    try:
        patiently(connection, lambda: owners.unregister(connection, number))
        opening.write_meta(connection, newest=newest)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error:
        return
