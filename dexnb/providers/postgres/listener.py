"""`Listener`: hears at once what other engines commit, on a connection of its own.

A notice is only a hint: it may be lost, and the store is the truth. So the connection is asked
every second whether it lives, and when it was lost every queue is looked at once more.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from contextlib import suppress

import psycopg
from psycopg import Notify, sql

from dexnb.providers.parking import Queue
from dexnb.providers.postgres.encoding import MICRO
from dexnb.providers.postgres.link import Connection, Link
from dexnb.providers.postgres.place import Place
from dexnb.providers.postgres.statements import statement

HEALTH_INTERVAL = 0.75
"""Seconds of silence after which the connection is asked for a sign of life."""

HEALTH_PATIENCE = 0.75
"""Seconds for which the sign is waited for."""

REFRESH_INTERVAL = 30.0
"""Seconds after which every queue is looked at though nothing was heard."""

_PAUSE = (0.1, 5.0)
_QUEUES: dict[str, Queue] = {"m": "messages", "w": "work"}
_logger = logging.getLogger(__name__)


class Listener:
    """Listens for as long as it runs; reconnects by itself.

    Args:
        place: Where the store is.
        link: The connection, used by nobody else.
        own_pid: Gives the server's process that commits for this engine, whose notices are known.
        news: Called with a queue and the store time in seconds from which on it may have something.
        changed: Called when another engine has committed something.
    """

    def __init__(
        self,
        place: Place,
        link: Link,
        own_pid: Callable[[], int],
        news: Callable[[Queue, float], None],
        changed: Callable[[], None],
    ) -> None:
        """Nothing is heard yet."""
        self._place = place
        self._link = link
        self._own_pid = own_pid
        self._news = news
        self._changed = changed
        self._heard = asyncio.Event()
        self._watched = -1
        self._task: asyncio.Task[None] | None = None
        self.is_alive = False
        """Whether notices would be heard now."""
        self.losses = 0
        """How often the connection was lost."""

    async def start(self) -> None:
        """Begin to listen; from the return on nothing is missed.

        Raises:
            psycopg.Error: The server cannot be reached.
        """
        await self._connect()
        self._task = asyncio.get_running_loop().create_task(self._run(), name="dexnb listener")

    async def stop(self) -> None:
        """End it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._unwatch()
        await self._link.close()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        refreshed = loop.time()
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                self._lost(error)
                await self._reconnect()
                refreshed = -math.inf
            if loop.time() - refreshed >= REFRESH_INTERVAL:
                refreshed = loop.time()
                self._look_everywhere()

    async def _listen(self) -> None:
        """Wait for notices; when there are none for a while, ask for a sign of life."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HEALTH_INTERVAL):
                await self._heard.wait()
        connection = self._link.connection
        if connection is None:
            # Never a new one here: it would not listen.
            raise psycopg.OperationalError("the server closed the connection")
        if self._heard.is_set():
            self._heard.clear()
            return
        # psycopg watches the socket itself while it waits for the answer.
        self._unwatch()
        await self._link.within(connection.execute(statement("is_alive")), HEALTH_PATIENCE)
        self._watch()

    async def _connect(self) -> None:
        connection = await self._link.connect()
        connection.add_notify_handler(self._hear)
        listen = sql.SQL("LISTEN {}").format(sql.Identifier(self._place.channel))
        await self._link.within(connection.execute(listen))
        self._watch()
        self.is_alive = True

    async def _reconnect(self) -> None:
        pause = _PAUSE[0]
        while True:
            try:
                await self._connect()
                return
            except (psycopg.Error, OSError):
                self._link.sever()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _PAUSE[1])

    def _lost(self, error: Exception) -> None:
        self.is_alive = False
        self.losses += 1
        self._unwatch()
        self._link.sever()
        _logger.warning(
            "%s: the connection for wake-ups was lost and is made again; until then the store is "
            "asked twice a second (%s)",
            self._place.name,
            self._place.hide(" ".join(str(error).split())),
        )

    def _look_everywhere(self) -> None:
        for queue in _QUEUES.values():
            self._news(queue, 0.0)
        self._changed()

    def _watch(self) -> None:
        connection = self._link.connection
        if connection is not None:
            # Kept, because a connection that is lost has no number any more.
            self._watched = connection.fileno()
            asyncio.get_running_loop().add_reader(self._watched, self._read, connection)
            # What came while psycopg read the socket has been passed on; what is left is read here.
            self._read(connection)

    def _unwatch(self) -> None:
        if self._watched >= 0:
            asyncio.get_running_loop().remove_reader(self._watched)
            self._watched = -1

    def _read(self, connection: Connection) -> None:
        """Read what the socket has, without waiting."""
        try:
            connection.pgconn.consume_input()
            while (notice := connection.pgconn.notifies()) is not None:
                self._take(notice.extra, notice.be_pid)
        except psycopg.Error:
            self._unwatch()
            self._link.sever()
            self._heard.set()

    def _hear(self, notice: Notify) -> None:
        self._take(notice.payload.encode(), notice.pid)

    def _take(self, payload: bytes, pid: int) -> None:
        self._heard.set()
        if pid == self._own_pid():
            return
        self._changed()
        for word in payload.decode("ascii", "replace").split():
            queue, due = _QUEUES.get(word[0]), word[1:]
            if queue is not None and due.isdecimal():
                self._news(queue, int(due) / MICRO)
