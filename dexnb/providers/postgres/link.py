"""`Link`: one connection that is made again when it is lost, and never waited for without end."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.types.numeric import Int8BinaryDumper

from dexnb.providers.postgres.place import Place
from dexnb.providers.postgres.statements import statement

T = TypeVar("T")
Row = tuple[Any, ...]
Connection = AsyncConnection[Row]
Step = tuple[str, dict[str, Any]]

REPLY_PATIENCE = 15.0
"""Seconds for which an answer is waited for; then the connection counts as lost."""

GOODBYE_PATIENCE = 1.0
"""Seconds that an orderly end of a connection may take."""

_SETTINGS = (
    "SET jit = off",
    # What a half-open connection has locked is free again after this, whoever is left.
    "SET idle_in_transaction_session_timeout = '30s'",
    "SET default_transaction_read_only = off",
    # Tables grow and shrink faster than statistics follow; the indexes are made for these joins.
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET enable_seqscan = off",
)


class Link:
    """One connection to the store's server, used by one caller at a time.

    Args:
        place: Where the store is.
        application: The name under which the server shows the connection.
        settings: Whether the tables of the store are used.
    """

    def __init__(self, place: Place, application: str, *, settings: bool = True) -> None:
        """Nothing is connected yet."""
        self._place = place
        self._options = {**place.options, "application_name": application}
        self._settings = settings
        self._connection: Connection | None = None
        self._severed: list[Connection] = []
        self._calls = 0

    @property
    def connection(self) -> Connection | None:
        """Give the connection, if there is one that seems to live."""
        found = self._connection
        return None if found is None or found.closed or found.broken else found

    @property
    def pid(self) -> int:
        """Give the server's process, or 0 without a connection."""
        found = self.connection
        return 0 if found is None else found.info.backend_pid

    async def connect(self) -> Connection:
        """Give a live connection, a new one where there is none.

        Raises:
            psycopg.Error: The server cannot be reached, or refuses.
            OSError: As above.
        """
        if (found := self.connection) is not None:
            return found
        self.sever()
        made = await AsyncConnection.connect(autocommit=True, **self._options)
        made.adapters.register_dumper(int, Int8BinaryDumper)
        self._connection = made
        try:
            if self._settings:
                path = sql.SQL("SET search_path = {}").format(sql.Identifier(self._place.schema))
                await self.within(made.execute(path))
                await self.within(made.execute("; ".join(_SETTINGS).encode()))
        except BaseException:
            self.sever()
            raise
        return made

    async def ask(self, steps: Sequence[Step]) -> list[list[Row]]:
        """Run statements in one go on the connection; give the rows of each.

        Raises:
            psycopg.Error: The first one that failed; those behind it were not run.
        """
        return await self.within(_ask(await self.connect(), steps))

    async def one(self, name: str, **parameters: Any) -> Any:
        """Run one statement that gives one value."""
        ((row,),) = await self.ask([(name, parameters)])
        return row[0]

    async def within(self, call: Coroutine[Any, Any, T], patience: float | None = None) -> T:
        """Wait for an answer, but not longer than a living server needs.

        The call is never cancelled: psycopg would wait for the server then. Its socket is shut, so
        that it fails.
        """
        self._calls += 1
        task = asyncio.ensure_future(call)
        task.add_done_callback(self._answered)
        try:
            await asyncio.wait([task], timeout=REPLY_PATIENCE if patience is None else patience)
        finally:
            if not task.done():
                self.sever()
        return await task

    def _answered(self, task: asyncio.Future[Any]) -> None:
        self._calls -= 1
        self._finish()
        # Looked at, so that asyncio does not complain where the caller has gone.
        if not task.cancelled():
            task.exception()

    def sever(self) -> None:
        """Cut the connection at once; whoever waits for an answer on it gets an error."""
        found, self._connection = self._connection, None
        if found is None or found.closed:
            return
        with suppress(OSError, psycopg.Error):
            # A copy, because the number belongs to libpq.
            copy = socket.socket(fileno=os.dup(found.fileno()))
            with copy:
                copy.shutdown(socket.SHUT_RDWR)
        self._severed.append(found)
        self._finish()

    def _finish(self) -> None:
        """Free what was cut, unless somebody still waits on the socket."""
        while self._severed and not self._calls:
            self._severed.pop().pgconn.finish()

    async def close(self) -> None:
        """Take leave of the server, if it listens."""
        found, self._connection = self._connection, None
        if found is not None and not found.closed:
            await found.close()


async def _ask(connection: Connection, steps: Sequence[Step]) -> list[list[Row]]:
    async with connection.pipeline():
        cursors = [
            await connection.execute(statement(name), parameters, binary=True)
            for name, parameters in steps
        ]
    return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]
