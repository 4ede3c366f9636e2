"""`Lane`: the connection that carries every call, many at a time.

What callers ask while others wait for the server goes out together and is answered together, so
that a server that makes its log durable before it answers does so once for all of them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoScriptError, RedisError

from dexnb.errors import ProviderError
from dexnb.providers.redis.address import Address, disconnect
from dexnb.providers.redis.failures import loses_connection, provider_error
from dexnb.providers.redis.scripts import digest, scripts

LARGEST_BATCH = 200
LARGEST_BATCH_BYTES = 4_000_000
"""More is left for the next batch; one call alone may be larger."""

Command = tuple[Any, ...]
Call = tuple[str, Command, "asyncio.Future[Any]"]


class Lane:
    """One connection, made when it is needed and made anew after it was lost.

    Nothing is ever sent twice: a call whose answer was lost may have been done, and only its
    caller knows what to do then.

    Args:
        address: The server.
        sender: This engine's word in its hints.
    """

    def __init__(self, address: Address, sender: str) -> None:
        """Connect to nothing yet."""
        self._address = address
        self._sender = sender
        self.connection: AbstractConnection | None = None
        """What is connected, or None."""
        self._waiting: deque[Call] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._closed = False
        self.commands = 0
        """How many commands were sent."""

    async def command(self, operation: str, *command: Any) -> Any:
        """Send a command; `operation` is for errors.

        Raises:
            ProviderError: As `failures` judges what happened.
        """
        if self._closed:
            message = f"{self._address.place} is not open; open it first"
            raise ProviderError(operation, message, retryable=False)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((operation, command, answer))
        if self._sending is None:
            self._sending = asyncio.ensure_future(self._send())
        return await answer

    async def script(self, operation: str, name: str, *arguments: Any) -> Any:
        """Run a script; see `command`."""
        address = self._address
        called = "EVALSHA", digest(name), 1, address.base, self._sender, address.channel
        return await self.command(operation, *called, *arguments)

    async def close(self, patience: float) -> None:
        """Refuse new calls, wait for those under way, at most so many seconds, and disconnect."""
        self._closed = True
        sending = self._sending
        if sending is not None:
            _, late = await asyncio.wait([sending], timeout=patience)
            if late:
                sending.cancel()
                await asyncio.wait([sending])
        while self._waiting:
            operation, _, answer = self._waiting.popleft()
            _fail(answer, provider_error(operation, self._address, EOFError("closed")))
        await self._disconnect()

    async def _send(self) -> None:
        try:
            while self._waiting:
                await self._exchange(self._batch())
        finally:
            self._sending = None

    def _batch(self) -> list[Call]:
        batch: list[Call] = []
        size = 0
        while self._waiting and len(batch) < LARGEST_BATCH and size < LARGEST_BATCH_BYTES:
            batch.append(self._waiting.popleft())
            size += sum(len(part) for part in batch[-1][1] if isinstance(part, bytes | str))
        return batch

    async def _exchange(self, batch: list[Call]) -> None:
        """Send a batch and answer it, whatever happens."""
        try:
            unknown = await self._roundtrip(batch)
            if unknown:
                await self._load()
                for operation, _, answer in await self._roundtrip(unknown):
                    _fail(answer, provider_error(operation, self._address, NoScriptError()))
        except BaseException as error:
            await self._disconnect()
            known = isinstance(error, Exception)
            shown = error if known else EOFError("closed before it answered")
            for operation, _, answer in batch:
                _fail(answer, provider_error(operation, self._address, shown))
            if not isinstance(error, RedisError | OSError | EOFError):
                raise

    async def _roundtrip(self, batch: Sequence[Call]) -> list[Call]:
        """Send commands and pass on what they give; give back those whose script is not loaded."""
        connection = await self.connected()
        self.commands += len(batch)
        await connection.send_packed_command(
            connection.pack_commands([command for _, command, _ in batch])
        )
        unknown: list[Call] = []
        broken: RedisError | None = None
        for call in batch:
            operation, _, answer = call
            try:
                reply = await connection.read_response(disable_decoding=True)
            except NoScriptError:
                unknown.append(call)
            except RedisError as error:
                _fail(answer, provider_error(operation, self._address, error))
                if not connection.is_connected:
                    raise
                broken = error if loses_connection(error) else broken
            else:
                if not answer.done():
                    answer.set_result(reply)
        if broken is not None:
            # Every answer is in, and the next batch may reach a server that serves.
            await self._disconnect()
        return unknown

    async def _load(self) -> None:
        connection = await self.connected()
        sources = scripts().values()
        await connection.send_packed_command(
            connection.pack_commands([("SCRIPT", "LOAD", source) for source in sources])
        )
        for _ in sources:
            await connection.read_response(disable_decoding=True)

    async def connected(self) -> AbstractConnection:
        """Give the connection; make one where there is none."""
        if self.connection is None:
            self.connection = await self._address.connect()
        return self.connection

    async def _disconnect(self) -> None:
        connection, self.connection = self.connection, None
        await disconnect(connection)


def _fail(answer: asyncio.Future[Any], error: ProviderError) -> None:
    if not answer.done():
        answer.set_exception(error)
