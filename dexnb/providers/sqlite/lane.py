"""The one thread of the connection, and how the loop hands it functions.

Each function is one hop, whatever it does with the connection. Nothing of a hop is a task, so that
a loop which cancels all its tasks on its way out loses none of what is under way.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import aiosqlite

from dexnb.clock import outside_work
from dexnb.errors import ProviderError

T = TypeVar("T")

BUSY_TIMEOUT = 0.0
"""Seconds that SQLite itself waits for a lock: its waits grow, and miss the pauses of others."""

STATEMENTS = 256

LAST_BREATH = 1.0
"""Seconds for which a close waits for a thread that has said that it ends."""


class Lane:
    """An aiosqlite connection as the thread it is."""

    def __init__(self, connection: aiosqlite.Connection, thread: threading.Thread) -> None:
        """Take over a connection that is open, and its thread."""
        self._connection = connection
        self._thread = thread
        self._loop = asyncio.get_running_loop()
        self._closed = False

    @classmethod
    async def open(cls, path: str) -> Lane:
        """Connect to a file that exists.

        Raises:
            sqlite3.Error: It cannot be opened.
            ProviderError: The installed aiosqlite is built otherwise than expected.
        """
        connection = aiosqlite.connect(
            path, isolation_level=None, timeout=BUSY_TIMEOUT, cached_statements=STATEMENTS
        )
        thread = _daemonic_thread(connection)
        try:
            await _settled(connection)
        except BaseException:
            with outside_work():
                connection.stop()
                await asyncio.get_running_loop().run_in_executor(None, thread.join)
            raise
        return cls(connection, thread)

    def send(
        self, work: Callable[[sqlite3.Connection], object], landed: Callable[[], object]
    ) -> None:
        """Run a function in the thread, and then another one on the loop.

        The first must not raise.

        Raises:
            ProviderError: The connection is closed.
        """
        if self._closed:
            raise ProviderError("use", "the database connection is closed", retryable=False)
        marker = outside_work(self._loop)
        marker.__enter__()

        def land() -> None:
            marker.__exit__(None, None, None)
            landed()

        self._put(partial(self._work, work, land))

    def _work(
        self, work: Callable[[sqlite3.Connection], object], land: Callable[[], object]
    ) -> None:
        try:
            work(self._connection._conn)  # noqa: SLF001 - the raw connection, in its own thread
        finally:
            with suppress(RuntimeError):  # The loop may be closed: nobody waits any more.
                self._loop.call_soon_threadsafe(land)

    def _put(self, function: Callable[[], object]) -> None:
        # What aiosqlite's own calls do, without the future that it would answer on a closed loop.
        self._connection._tx.put_nowait((None, function))  # noqa: SLF001

    async def call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function in the thread and give what it gives, or raise what it raises."""
        answered: asyncio.Future[T] = self._loop.create_future()
        found: list[Any] = []
        self.send(partial(_find, function, found), lambda: _answer(answered, *found[0]))
        return await answered

    async def close(self) -> None:
        """Close the connection and end the thread, after what was sent before."""
        self._closed = True
        await _settled(self._connection.close())
        # It has answered with its last breath, so this takes no time that anybody would feel.
        self._thread.join(LAST_BREATH)


def _find(
    function: Callable[[sqlite3.Connection], Any], found: list[Any], connection: sqlite3.Connection
) -> None:
    try:
        found.append((function(connection), None))
    except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
        found.append((None, error))


def _answer(answered: asyncio.Future[T], result: T, error: BaseException | None) -> None:
    if answered.done():
        return
    if error is not None:
        answered.set_exception(error)
    else:
        answered.set_result(result)


async def _settled(work: Any) -> None:
    """Wait for aiosqlite even when cancelled: its answer comes from an uncounted thread."""
    with outside_work():
        task = asyncio.ensure_future(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise


def _daemonic_thread(connection: aiosqlite.Connection) -> threading.Thread:
    """Give the thread, which lets the interpreter exit although nobody closed the store."""
    thread = getattr(connection, "_thread", None)
    if not isinstance(thread, threading.Thread) or not hasattr(connection, "_tx"):
        version = getattr(aiosqlite, "__version__", "of unknown version")
        message = f"aiosqlite {version} is not supported; install aiosqlite 0.22"
        raise ProviderError("open", message, retryable=False)
    thread.daemon = True
    thread.name = "dexnb-sqlite"
    return thread
