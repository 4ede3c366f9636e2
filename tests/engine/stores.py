"""Stores that wait, or do not, as the seed's dispatcher expects of them; and what was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dexnb.providers import (
    Commit,
    Handlers,
    MemoryProvider,
    MemoryStore,
    NewMessage,
    NewWorkItem,
    OrchestrationItem,
    WorkItem,
)


@dataclass(frozen=True)
class Fetch:
    """One call of a fetch: its queue, when it came, and its timeouts."""

    queue: Literal["messages", "work"]
    at: float
    lock_timeout: float
    poll_timeout: float


class Plain(MemoryProvider):
    """A memory store without hints: a fetch looks once, and once more when it has waited.

    Args:
        waits: Whether a fetch sleeps through its poll timeout, as a store that can block does; if
            not it ignores the timeout.
        store: Shared with other providers.
    """

    def __init__(self, *, waits: bool, store: MemoryStore | None = None) -> None:
        """Start with nothing asked."""
        super().__init__(store)
        self.waits = waits
        self.fetches: list[Fetch] = []
        self.under_way = 0

    def counts(self, queue: str) -> int:
        """Count the fetches of a queue."""
        return sum(fetch.queue == queue for fetch in self.fetches)

    async def fetch_orchestration_items(
        self, lock_timeout: float, poll_timeout: float, limit: int
    ) -> Sequence[OrchestrationItem]:
        """Note the call, and wait without being woken."""
        self._note("messages", lock_timeout, poll_timeout)
        found = await super().fetch_orchestration_items(lock_timeout, 0, limit)
        if found or not await self._wait(poll_timeout):
            return found
        return await super().fetch_orchestration_items(lock_timeout, 0, limit)

    async def fetch_work_items(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers, limit: int
    ) -> Sequence[WorkItem]:
        """Note the call, and wait without being woken."""
        self._note("work", lock_timeout, poll_timeout)
        found = await super().fetch_work_items(lock_timeout, 0, handlers, limit)
        if found or not await self._wait(poll_timeout):
            return found
        return await super().fetch_work_items(lock_timeout, 0, handlers, limit)

    def _note(
        self, queue: Literal["messages", "work"], lock_timeout: float, poll_timeout: float
    ) -> None:
        now = asyncio.get_running_loop().time()
        self.fetches.append(Fetch(queue, now, lock_timeout, poll_timeout))

    async def _wait(self, poll_timeout: float) -> bool:
        if not self.waits:
            return False
        self.under_way += 1
        try:
            await asyncio.sleep(poll_timeout)
        finally:
            self.under_way -= 1
        return True


class Asked(MemoryProvider):
    """A store that notes which acknowledgements must last, and which method they are of."""

    def __init__(self) -> None:
        """Start with none."""
        super().__init__()
        self.asked: list[bool] = []

    async def ack_work_item(
        self,
        token: str,
        message: NewMessage | None = None,
        retry: NewWorkItem | None = None,
        *,
        durable: bool = True,
    ) -> None:
        """Note it."""
        self.asked.append(durable)
        await super().ack_work_item(token, message, retry, durable=durable)

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """Note it, unless it is one without the turn."""
        applied = await super().ack_work_item_with_turn(token, message, turn, durable=durable)
        if applied:
            self.asked.append(durable)
        return applied
