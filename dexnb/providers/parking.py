"""`FetchParking`: where fetches that found nothing wait for work, for every store of this process.

A fetch tries, waits, and tries again. It waits for a hint (this process committed something), for
the next time at which something is due, or for its poll timeout. The store is the truth: a hint
that comes too often costs one try, and one that never comes costs no more than the poll timeout.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal, TypeVar

from dexnb.errors import ProviderError

Queue = Literal["messages", "work"]
T = TypeVar("T")
Attempt = Callable[[], Coroutine[Any, Any, tuple[Sequence[T], float | None]]]
GiveBack = Callable[[Sequence[T]], Awaitable[None]]

# Bounds of the wait before a try that has nothing new to hope for; each such try doubles it.
SHORTEST_WAIT = 0.001
LONGEST_WAIT = 0.5

_OPERATIONS: dict[Queue, str] = {
    "messages": "fetch_orchestration_item",
    "work": "fetch_work_item",
}


class FetchParking:
    """The parked fetches of one store, by queue. Used on the store's loop alone."""

    def __init__(self) -> None:
        """Start with nothing parked."""
        self._hints: dict[Queue, int] = {"messages": 0, "work": 0}
        self._wakes = 0
        # Dicts, for their order: who waits longest tries first, in every run of a virtual clock.
        self._waiters: dict[Queue, dict[asyncio.Future[bool], None]] = {"messages": {}, "work": {}}
        self._returning: set[asyncio.Task[None]] = set()

    @property
    def parked(self) -> int:
        """Count the fetches that wait."""
        return sum(len(waiters) for waiters in self._waiters.values())

    def idle(self, queue: Queue) -> bool:
        """Tell whether a fetch waits that has found nothing, and no hint has come since."""
        for waiter in self._waiters[queue]:  # noqa: SIM110 - asked for with every turn
            if not waiter.done():
                return True
        return False

    async def fetch(
        self,
        queue: Queue,
        attempt: Attempt[T],
        poll_timeout: float,
        now: Callable[[], float],
        give_back: GiveBack[T] | None = None,
    ) -> Sequence[T]:
        """Try until there are items, the poll timeout has passed or `wake` was called.

        Args:
            queue: Whose hints end the wait.
            attempt: One try: gives the items it locked, and when the next one is due, or None
                where only a hint can help. A time by another clock than `now` (a lock's end) is
                given as `now()` plus what is left of it.
            poll_timeout: Seconds; 0 tries once and never waits.
            now: Store time, which what is due is compared with.
            give_back: Hands back what a try locked for a caller that was cancelled meanwhile. For
                stores whose try can be suspended; a try that never suspends needs none.

        Raises:
            ProviderError: The poll timeout is negative or no number; whatever a try raises.
        """
        _check(queue, poll_timeout)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + poll_timeout
        floor, last = 0.0, poll_timeout == 0
        while True:
            seen = self._hints[queue], self._wakes
            items, due = await self._try(attempt, give_back)
            if items or last:
                return items
            # What came during the try may have come too late for it: then no wait.
            if seen == (self._hints[queue], self._wakes):
                wait = min(deadline - loop.time(), _time_until(due, now(), floor))
                floor = 0.0 if await self._wait(queue, wait) else _longer(floor)
            last = seen[1] != self._wakes or loop.time() >= deadline

    def hint(self, queue: Queue) -> None:
        """Let every fetch of a queue try again: something was put there or became free."""
        self._hints[queue] += 1
        self._release(queue)

    def wake(self) -> None:
        """Let every fetch of both queues try once more and then return, found or not."""
        self._wakes += 1
        self._release("messages")
        self._release("work")

    async def settle(self) -> None:
        """End the parked fetches and wait until all items of cancelled ones are handed back."""
        self.wake()
        while self._returning:
            await asyncio.wait(self._returning)

    def _release(self, queue: Queue) -> None:
        for waiter in self._waiters[queue]:
            _end(waiter, hinted=True)

    async def _wait(self, queue: Queue, delay: float) -> bool:
        """Wait for a hint or a wake, at most the delay; tell whether one came."""
        if delay <= 0:
            return False
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiters[queue][waiter] = None
        end = partial(_end, waiter, hinted=False)
        timer = None if math.isinf(delay) else loop.call_later(delay, end)
        try:
            return await waiter
        finally:
            del self._waiters[queue][waiter]
            if timer is not None:
                timer.cancel()

    async def _try(
        self, attempt: Attempt[T], give_back: GiveBack[T] | None
    ) -> tuple[Sequence[T], float | None]:
        if give_back is None:
            return await attempt()
        task = asyncio.ensure_future(attempt())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            # The try goes on, so that what it locks is known, and free again at once.
            returning = asyncio.ensure_future(_return(task, give_back))
            self._returning.add(returning)
            returning.add_done_callback(self._returning.discard)
            raise


def _check(queue: Queue, poll_timeout: float) -> None:
    if not poll_timeout >= 0:
        raise ProviderError(
            _OPERATIONS[queue],
            f"poll_timeout is {poll_timeout}; "
            "give 0 to return at once, or the seconds to wait for work",
            retryable=False,
        )


def _longer(floor: float) -> float:
    return min(max(2 * floor, SHORTEST_WAIT), LONGEST_WAIT)


def _end(waiter: asyncio.Future[bool], *, hinted: bool) -> None:
    if not waiter.done():
        waiter.set_result(hinted)


async def _return(
    attempt: asyncio.Task[tuple[Sequence[T], float | None]], give_back: GiveBack[T]
) -> None:
    # Nobody is left to tell: what cannot be handed back is free again when its lock runs out.
    with suppress(ProviderError):
        items, _ = await attempt
        if items:
            await give_back(items)


def _time_until(due: float | None, now: float, floor: float) -> float:
    if due is None:
        return math.inf
    if due <= now:
        return max(floor, SHORTEST_WAIT)
    return max(floor, due - now)
