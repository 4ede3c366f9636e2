"""What the tests of the PostgreSQL provider share: opening, filling, and a network that fails."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

from dexnb.clock import Clock
from dexnb.providers import OrchestrationItem, Provider, WorkItem
from dexnb.providers.postgres import PostgresProvider
from dexnb.providers.postgres import operations as ops
from dexnb.providers.postgres.store import Store
from tests.providers.sqlite_case import HANDLERS, LONG, commit, work


class CountedProvider(PostgresProvider):
    """Counts what reaches the store, by the contract's method."""

    def __init__(self, url: str) -> None:
        """Count from now on."""
        super().__init__(url)
        self.asked: Counter[str] = Counter()

    async def _ask(self, name: str, make: Callable[[], ops.Operation]) -> Any:
        self.asked[name] += 1
        return await super()._ask(name, make)


@asynccontextmanager
async def opened(url: str, owner: str = "engine") -> AsyncIterator[CountedProvider]:
    """Open a provider, and close it whatever happens."""
    provider = CountedProvider(url)
    await provider.open(Clock.real(), owner)
    try:
        yield provider
    finally:
        await provider.close()


def store_of(provider: PostgresProvider) -> Store:
    """Give what is behind an open provider."""
    assert provider._store is not None  # noqa: SLF001 - the tests look inside
    return provider._store  # noqa: SLF001


async def start(provider: Provider, *names: str) -> None:
    """Start runs with one work item each."""
    for name in names:
        await provider.start_run(commit(name, work_items=(work(name),)))


async def find(provider: Provider, poll_timeout: float = 0.0) -> WorkItem | None:
    """Fetch a work item, if there is one in time."""
    return await provider.fetch_work_item(LONG, poll_timeout, HANDLERS)


async def take(provider: Provider, lock_timeout: float = LONG) -> WorkItem:
    """Fetch a work item that must be there."""
    item = await provider.fetch_work_item(lock_timeout, 0, HANDLERS)
    assert item is not None, "no work item could be fetched"
    return item


async def take_run(provider: Provider) -> OrchestrationItem:
    """Fetch a run that must be there."""
    item = await provider.fetch_orchestration_item(LONG, 0)
    assert item is not None, "no run could be fetched"
    return item


class Proxy:
    """Passes bytes on to a server; may swallow them without a word, as a dead network does."""

    def __init__(self, port: int) -> None:
        """Lead to a port of this machine."""
        self._target = port
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._dead: set[int] = set()
        self._made = 0
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for serving in self._serving:
            serving.cancel()
        if self._serving:
            await asyncio.wait(self._serving)

    def swallow(self, *connections: int) -> None:
        """Let these connections, counted from 1, pass nothing on any more; all by default."""
        self._dead |= set(connections or range(1, self._made + 1))

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._made += 1
        serving = asyncio.ensure_future(self._serve(self._made, reader, writer))
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)

    async def _serve(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        ways = [self._pump(number, reader, back), self._pump(number, there, writer)]
        pumps = [asyncio.ensure_future(way) for way in ways]
        try:
            await asyncio.wait(pumps, return_when="FIRST_COMPLETED")
        finally:
            for pump in pumps:
                pump.cancel()
            for stream in (writer, back):
                stream.close()
                with suppress(OSError):
                    await stream.wait_closed()

    async def _pump(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError):
            while chunk := await reader.read(65536):
                if number not in self._dead:
                    writer.write(chunk)
                    await writer.drain()
