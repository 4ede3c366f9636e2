"""`Dispatcher`: the loop that finds work, with a minimum poll interval and a long-poll timeout.

Source of the two settings and of the loop: the Duroxide long-polling design. A store that can wait
for work blocks the fetch itself, so an idle dispatcher costs nothing; for one that cannot, the
minimum interval spaces the fetches.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from dexnb.engine.options import RuntimeOptions
from dexnb.engine.telemetry import Telemetry
from dexnb.errors import ProviderError

ItemT = TypeVar("ItemT")

FIRST_ERROR_PAUSE = 0.2
LONGEST_ERROR_PAUSE = 3.0
PERMANENT_ERROR_PAUSE = 0.1

PATIENCE = 0.5
"""Seconds that a fetch has to return after the stop, before it is cancelled."""


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
        """Prepare the loop; `start` starts it."""
        self._queue = queue
        self._fetch = fetch
        self._handle = handle
        self._give_back = give_back
        self._free_slots = free_slots
        self._options = options
        self._telemetry = telemetry
        self._stopping = False
        self._fetching = False
        self._renewed = False
        self._errors = 0
        self._signal = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.fetches = 0

    def start(self) -> None:
        """Begin to fetch, on the running loop."""
        name = f"dexnb {self._queue} dispatcher"
        self._task = asyncio.get_running_loop().create_task(self._run(), name=name)

    @property
    def running(self) -> bool:
        """Tell whether the loop goes on."""
        return self._task is not None and not (self._stopping or self._task.done())

    def stop(self) -> None:
        """Let the loop end after the fetch that is under way; pauses end at once."""
        self._stopping = True
        self._signal.set()

    async def ended(self) -> None:
        """Wait for the loop's end after `stop`; a fetch that lasts on is cancelled."""
        if self._task is None:
            return
        _, running = await asyncio.wait([self._task], timeout=PATIENCE)
        if running and self._fetching:
            self._task.cancel()
        await asyncio.wait([self._task], timeout=PATIENCE)

    def reconsider(self) -> None:
        """Go on, if the loop waits for a slot or pauses longer than the options now say."""
        self._signal.set()

    def took(self, items: int) -> None:
        """Tell of items that the store handed over without a fetch."""
        self._tell("hit", 0.0, 0.0, items)

    def renew(self) -> None:
        """Fetch again without a pause: what can be run here has changed."""
        self._renewed = True
        self._signal.set()

    async def _run(self) -> None:
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
        self._renewed = False
        self._fetching = True
        try:
            items = await self._fetch(self._poll_timeout, limit)
        except Exception as error:  # noqa: BLE001 - a store's own fault must not end the loop
            await self._after_error(error, loop.time() - began)
            return
        finally:
            self._fetching = False
        self._errors = 0
        elapsed = loop.time() - began
        if self._stopping:
            # What cannot be handed back is free again when its lock runs out.
            await asyncio.gather(*map(self._give_back, items), return_exceptions=True)
            return
        for item in items:
            self._handle(item)
        rest = 0.0 if items or self._renewed else max(0.0, self._minimum - elapsed)
        self._tell("hit" if items else "empty", elapsed, rest, len(items))
        if rest > 0:
            await self._pause(lambda: began + self._minimum)
        else:
            await asyncio.sleep(0)

    @property
    def _poll_timeout(self) -> float:
        seconds = self._options.dispatcher_long_poll_timeout.total_seconds()
        # Time that jumps would run away from one empty fetch to the next, on a whole core, while
        # an idle session waits for the next call of a cell.
        served = getattr(asyncio.get_running_loop(), "external_wakeups", False)
        return math.inf if served and seconds > 0 else seconds

    @property
    def _minimum(self) -> float:
        return self._options.dispatcher_min_poll_interval.total_seconds()

    async def _after_error(self, error: Exception, elapsed: float) -> None:
        self._errors += 1
        pause = min(FIRST_ERROR_PAUSE * 2 ** min(self._errors - 1, 5), LONGEST_ERROR_PAUSE)
        if isinstance(error, ProviderError) and not error.retryable:
            pause = PERMANENT_ERROR_PAUSE
        self._tell("error", elapsed, pause, 0, f"{type(error).__name__}: {error}")
        until = asyncio.get_running_loop().time() + pause
        await self._pause(lambda: until)

    async def _pause(self, until: Callable[[], float]) -> None:
        """Sleep until a time that may change meanwhile, but not through a stop."""
        loop = asyncio.get_running_loop()
        while not (self._stopping or self._renewed) and (left := until() - loop.time()) > 0:
            self._signal.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._signal.wait()

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
