"""`Alarms`: wakes fetches when what was announced is due, and not before."""

from __future__ import annotations

import asyncio

from dexnb.providers.parking import FetchParking, Queue
from dexnb.providers.store_clock import StoreClock

_LONGEST = 86_400.0


class Alarms:
    """The next time of each queue at which fetches look again.

    One time is enough: a fetch that finds nothing then learns from the store what is due next.

    Args:
        parking: Where fetches wait.
        clock: Store time.
    """

    def __init__(self, parking: FetchParking, clock: StoreClock) -> None:
        """Nothing is announced."""
        self._parking = parking
        self._clock = clock
        self._set: dict[Queue, tuple[float, asyncio.TimerHandle]] = {}

    def announce(self, queue: Queue, due: float) -> None:
        """Let fetches of a queue look at that store time, in seconds; at once if it is over."""
        wait = due - self._clock.now()
        if wait <= 0:
            self._parking.hint(queue)
            return
        earliest, handle = self._set.get(queue, (due, None))
        if handle is not None:
            if earliest <= due:
                return
            handle.cancel()
        loop = asyncio.get_running_loop()
        timer = loop.call_later(min(wait, _LONGEST), self._ring, queue, due)
        self._set[queue] = due, timer

    def clear(self) -> None:
        """Forget all of them."""
        for _, handle in self._set.values():
            handle.cancel()
        self._set.clear()

    def _ring(self, queue: Queue, due: float) -> None:
        del self._set[queue]
        self.announce(queue, due)
