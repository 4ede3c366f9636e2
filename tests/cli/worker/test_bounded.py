"""A health port that is flooded still answers, and takes no more than its share."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from dexnb.cli.worker import bounded
from dexnb.cli.worker.endpoint import bind, served

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]

PATIENCE = 20.0
REQUEST = b"GET /health/live HTTP/1.1\r\nHost: me\r\n\r\n"


@asynccontextmanager
async def _flooded(count: int, first: bytes = b"") -> AsyncIterator[tuple[int, list[Connection]]]:
    """Serve, with so many connections that have said this much and no more."""
    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with asyncio.timeout(PATIENCE), served(listener, []):
        made = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
        for _, writer in made:
            with suppress(OSError):
                writer.write(first)
        try:
            yield port, made
        finally:
            for _, writer in made:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()


async def _live(port: int) -> bool:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(REQUEST)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    document = json.loads(await reader.readexactly(length))
    writer.close()
    await writer.wait_closed()
    return bool(document["live"])


async def _is_cut(connection: Connection) -> bool:
    with suppress(ConnectionError):
        while await connection[0].read(1000):
            pass
    return True


@pytest.mark.parametrize("first", [b"", b"GET /hea", REQUEST])
def test_a_flood_of_connections_is_bounded_and_holds_up_nobody(first: bytes) -> None:
    """Idle ones, ones that never come to the point, and ones that stay after their answer."""
    beyond = 30

    async def body() -> None:
        async with _flooded(bounded.MOST_CONNECTIONS + beyond, first) as (port, made):
            assert await _live(port)
            assert all([await _is_cut(each) for each in made[:beyond]])

    asyncio.run(body())


@pytest.mark.parametrize("first", [b"", b"GET /hea"])
def test_a_connection_ends_however_little_it_says(
    monkeypatch: pytest.MonkeyPatch, first: bytes
) -> None:
    """So that those who never go leave room again."""
    monkeypatch.setattr(bounded, "LIFE_SECONDS", 0.1)

    async def body() -> None:
        async with _flooded(5, first) as (port, made):
            assert all([await _is_cut(each) for each in made])
            assert await _live(port)

    asyncio.run(body())


def test_connections_without_room_are_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """And whatever else goes wrong on the loop as ever."""

    async def body() -> None:
        loop = asyncio.get_running_loop()
        with bounded.refusals_told_once():
            for _ in range(1000):
                full = {"message": "socket.accept() out of system resource"}
                loop.call_exception_handler({**full, "exception": OSError(24, "no room")})
            loop.call_exception_handler({"message": "something else"})

    with caplog.at_level(logging.ERROR):
        asyncio.run(body())
    told = [record.getMessage() for record in caplog.records]
    assert told == ["health_refused", "something else"]
