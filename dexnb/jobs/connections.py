"""The open connections of the HTTP job server, so that one can be reset without an answer."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

Peer = tuple[str, int]

# On, and no time to linger: closing sends a reset instead of an orderly end.
_RESET = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)


class Connections:
    """Knows each connection by the address of its far end. Belongs to one loop."""

    def __init__(self) -> None:
        """Start with none."""
        self._open: dict[Peer, asyncio.Transport] = {}

    def protocol(self) -> type[H11Protocol]:
        """Give uvicorn's HTTP protocol, made to enter its connections here."""
        book = self._open

        class Known(H11Protocol):
            def connection_made(
                self,
                transport: asyncio.Transport,  # type: ignore[override]  # as uvicorn has it
            ) -> None:
                super().connection_made(transport)
                if self.client is not None:
                    book[self.client] = transport

            def connection_lost(self, exc: Exception | None) -> None:
                if self.client is not None and book.get(self.client) is self.transport:
                    del book[self.client]
                super().connection_lost(exc)

        return Known

    def reset(self, peer: Any) -> None:
        """Reset a connection; the far end reads ECONNRESET."""
        transport = self._open.get(tuple(peer))
        if transport is None:
            return
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        transport.abort()

    def abort_all(self) -> None:
        """Cut all connections, whatever they are waiting for."""
        for transport in list(self._open.values()):
            transport.abort()
