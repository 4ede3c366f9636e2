"""How a fetch asks: one script locks what is ready; what it locked for nobody is given back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from dexnb.errors import ProviderError
from dexnb.providers.items import OrchestrationItem, WorkItem
from dexnb.providers.parking import Queue
from dexnb.providers.redis import reads
from dexnb.providers.redis.calls import abandon
from dexnb.providers.redis.encoding import micros, raw, seconds
from dexnb.providers.redis.store import Store

T = TypeVar("T")
More = Callable[[float], list[Any]]

LARGEST_FETCH = 256
"""Items that one call locks, so that none holds up the server for long."""


@dataclass(slots=True)
class Fetcher(Generic[T]):
    """Fetches from one queue of an open store.

    Args:
        store: The store.
        queue: Which queue.
        operation: The contract's method, for errors.
        script: What locks.
        kind: What the queue's records begin with.
        decode: Makes an item of an answer.
        give: The script that gives one back.
        token: Gives an item's lock token.
    """

    store: Store
    queue: Queue
    operation: str
    script: str
    kind: str
    decode: Callable[[Sequence[Any]], T]
    give: str
    token: Callable[[T], str]
    _calls: int = field(default=0, init=False)
    _lost: list[str] = field(default_factory=list, init=False)

    async def fetch(
        self, lock_timeout: float, poll_timeout: float, limit: int, more: More
    ) -> Sequence[T]:
        """Fetch as the contract says; `more` gives a script's last arguments at each try."""

        async def attempt() -> tuple[Sequence[T], float | None]:
            """Try once, with what can be run now."""
            return await self._attempt(lock_timeout, min(limit, LARGEST_FETCH), more)

        parking, now = self.store.parking, self.store.clock.now
        return await parking.fetch(self.queue, attempt, poll_timeout, now, self._give_back)

    async def _attempt(
        self, lock_timeout: float, limit: int, more: More
    ) -> tuple[Sequence[T], float | None]:
        store = self.store
        if store.closing or limit < 1:
            return (), None
        await self._reclaim()
        self._calls += 1
        tag = f"{store.sender}-{self._calls}.{store.owner}"
        now, lease = store.clock.now(), store.clock.lease()
        times = micros(now), micros(lease), micros(lease + lock_timeout)
        call = store.lane.script(self.operation, self.script, *times, limit, raw(tag), *more(now))
        try:
            items, due, free, damaged = await call
        except ProviderError as error:
            if error.retryable:
                self._lost.append(tag)
            raise
        store.tell_of(damaged)
        return [self.decode(item) for item in items], self._next(due, free, now, lease)

    def _next(
        self, due: bytes | None, free: bytes | None, now: float, lease: float
    ) -> float | None:
        times = [] if due is None else [seconds(due)]
        if free is not None:
            times.append(now + seconds(free) - lease)
        return self.store.next_look(min(times, default=None))

    async def _reclaim(self) -> None:
        """Free what a fetch may have locked whose answer never came: nobody else knows of it."""
        while self._lost:
            now = micros(self.store.clock.now())
            await self.store.run(self.operation, "give_back", now, self.kind, raw(self._lost[0]))
            self._lost.pop(0)

    async def _give_back(self, items: Sequence[T]) -> None:
        for item in items:
            token = self.token(item)
            await abandon(self.store, self.operation, self.give, token, 0.0, uncounted=True)


def of_turns(store: Store) -> Fetcher[OrchestrationItem]:
    """Make what fetches runs."""
    operation, script = "fetch_orchestration_item", "fetch_turns"
    return Fetcher(
        store,
        "messages",
        operation,
        script,
        "run:",
        reads.to_turn,
        "abandon_turn",
        lambda item: item.token,
    )


def of_work(store: Store) -> Fetcher[WorkItem]:
    """Make what fetches work items."""
    operation, script = "fetch_work_item", "fetch_work"
    return Fetcher(
        store,
        "work",
        operation,
        script,
        "work:",
        reads.to_work,
        "abandon_work",
        lambda item: item.token,
    )
