"""`Dispatcher`: the loop that finds work, with a minimum poll interval and a long-poll timeout.

Source of the two settings and of the loop: the Duroxide long-polling design. A store that can wait
for work blocks the fetch itself, so an idle dispatcher costs nothing; for one that cannot, the
minimum interval spaces the fetches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from dexnb.engine.options import RuntimeOptions
from dexnb.engine.telemetry import Telemetry
from dexnb.errors import ProviderError

ItemT = TypeVar("ItemT")

FIRST_ERROR_PAUSE = 0.2
LONGEST_ERROR_PAUSE = 3.0
PERMANENT_ERROR_PAUSE = 0.1


class Dispatcher(Generic[ItemT]):
    """Fetches from one queue for as long as the engine runs.

    Args:
        queue: `orchestration` or `work`, for the telemetry.
        fetch: Given a poll timeout in seconds and a limit, gives items.
        handle: Called with each item; must not block.
        give_back: Returns an item that was fetched after the stop, without using an attempt.
        free_slots: How many items may be taken now.
        options: The two times, read anew in each cycle.
        telemetry: Takes each cycle.
    """

    def __init__(
        self,
        queue: str,
        *,
        fetch: Callable[[float, int], Awaitable[Sequence[ItemT]]],
        handle: Callable[[ItemT], None],
        give_back: Callable[[ItemT], Awaitable[None]],
        free_slots: Callable[[], int],
        options: RuntimeOptions,
        telemetry: Telemetry,
    ) -> None:
        """Prepare the loop; `run` runs it."""
        self._queue = queue
        self._fetch = fetch
        self._handle = handle
        self._give_back = give_back
        self._free_slots = free_slots
        self._options = options
        self._telemetry = telemetry
        self._stopping = False
        self._errors = 0
        self._signal = asyncio.Event()
        self.fetches = 0

    def stop(self) -> None:
        """Let the loop end after the fetch that is under way; pauses end at once."""
        self._stopping = True
        self._signal.set()

    def slot_freed(self) -> None:
        """Go on if the loop waits for a slot."""
        self._signal.set()

    async def run(self) -> None:
        """Fetch and hand over until `stop`."""
        while not self._stopping:
            limit = self._free_slots()
            if limit <= 0:
                self._signal.clear()
                await self._signal.wait()
                continue
            await self._cycle(limit)

    async def _cycle(self, limit: int) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        self.fetches += 1
        try:
            poll_timeout = self._options.dispatcher_long_poll_timeout.total_seconds()
            items = await self._fetch(poll_timeout, limit)
        except ProviderError as error:
            await self._after_error(error, loop.time() - began)
            return
        self._errors = 0
        elapsed = loop.time() - began
        if self._stopping:
            await asyncio.gather(*map(self._give_back, items))
            return
        for item in items:
            self._handle(item)
        minimum = self._options.dispatcher_min_poll_interval.total_seconds()
        rest = 0.0 if items else max(0.0, minimum - elapsed)
        self._tell("hit" if items else "empty", elapsed, rest, len(items))
        if rest > 0:
            await self._pause(rest)
        else:
            await asyncio.sleep(0)

    async def _after_error(self, error: ProviderError, elapsed: float) -> None:
        self._errors += 1
        pause = PERMANENT_ERROR_PAUSE
        if error.retryable:
            pause = min(FIRST_ERROR_PAUSE * 2 ** min(self._errors - 1, 5), LONGEST_ERROR_PAUSE)
        self._tell("error", elapsed, pause, 0, str(error))
        await self._pause(pause)

    async def _pause(self, seconds: float) -> None:
        """Sleep, but not through a stop."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while not self._stopping and (left := until - loop.time()) > 0:
            self._signal.clear()
            try:
                async with asyncio.timeout(left):
                    await self._signal.wait()
            except TimeoutError:
                return

    def _tell(self, result: str, fetched: float, slept: float, items: int, error: str = "") -> None:
        payload = {
            "queue": self._queue,
            "result": result,
            "fetch": fetched,
            "sleep": slept,
            "items": items,
            "error": error,
        }
        self._telemetry.record("", "", "dispatcher_cycle", payload=payload, size=len(error))
