"""`StreamReaders`: who waits for the next message of which Stream."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from dexnb.engine.patience import patiently
from dexnb.errors import DexnbError, RuntimeClosed
from dexnb.providers import Provider, StreamRecord, StreamWrite

_Key = tuple[str, str]


class StreamReaders:
    """The waits of one engine for Stream messages, whichever engine writes them.

    An engine on this loop tells at once; what another process wrote shows in the store.

    Args:
        provider: The store, open.
    """

    def __init__(self, provider: Provider) -> None:
        """Start with nobody waiting, on the running loop."""
        self._provider = provider
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[_Key, dict[asyncio.Future[None], None]] = {}
        _on_loop.setdefault(self._loop, WeakKeyDictionary())[self] = None

    async def next(self, flow_type: str, stream: str, flow_id: str, after: int) -> StreamRecord:
        """Wait for the first message of a flow id behind a position.

        Raises:
            RuntimeClosed: The engine was closed during the wait.
            ProviderError: The store was taken away.
        """
        key, provider = (flow_type, stream), self._provider
        while True:
            future: asyncio.Future[None] = self._loop.create_future()
            self._waiting.setdefault(key, {})[future] = None
            try:
                found = await patiently(
                    lambda: provider.read_stream(
                        flow_type, stream, flow_id=flow_id, after=after, limit=1
                    )
                )
                if found:
                    return found[0]
                await future
            finally:
                futures = self._waiting.get(key, {})
                futures.pop(future, None)
                if not futures:
                    self._waiting.pop(key, None)

    def written(self, writes: Iterable[StreamWrite]) -> None:
        """Tell everyone on this loop that messages were written."""
        keys = dict.fromkeys((write.flow_type, write.stream) for write in writes)
        for readers in tuple(_on_loop.get(self._loop, ())):
            for key in keys:
                readers.resolve(key)

    def look(self) -> None:
        """Learn that another process has changed the store."""
        for key in tuple(self._waiting):
            self.resolve(key)

    def resolve(self, key: tuple[str, str]) -> None:
        """Let this engine's own waits for a Stream look again."""
        for future in self._waiting.get(key, ()):
            if not future.done():
                future.set_result(None)

    def close(self) -> None:
        """End all waits with RuntimeClosed."""
        _on_loop.get(self._loop, WeakKeyDictionary()).pop(self, None)
        self.fail(RuntimeClosed("the runtime was closed during the wait"))

    def fail(self, error: DexnbError) -> None:
        """End all waits with what says that nothing can be learned any more."""
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.set_exception(error)


_on_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakKeyDictionary[StreamReaders, None]] = (
    WeakKeyDictionary()
)
"""In the order in which they came, as all waits here: who came first is told first."""
