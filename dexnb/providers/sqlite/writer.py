"""Group commit: whatever is asked for while a batch is being committed becomes the next one."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dexnb.errors import ProviderError
from dexnb.providers.sqlite.lane import Lane
from dexnb.providers.sqlite.operations import Operation
from dexnb.providers.sqlite.transaction import Transactions

LARGEST_BATCH = 2000

Asked = tuple[Operation, "asyncio.Future[Any]"]


class Writer:
    """The operations that wait, and the one batch that is under way. Used on the loop alone.

    Args:
        lane: The connection's thread.
        transactions: What a batch does there.
        pause: Seconds to leave the file to others between two batches.
        landed: Told what was done, and what of it nobody waits for any more.
    """

    def __init__(
        self,
        lane: Lane,
        transactions: Transactions,
        pause: Callable[[], float],
        landed: Callable[[Sequence[Operation], Sequence[Operation]], None],
    ) -> None:
        """Start idle."""
        self._lane = lane
        self._transactions = transactions
        self._pause = pause
        self._landed = landed
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Asked] = deque()
        self._busy = False
        self._landed_at = -math.inf
        self._idle: list[asyncio.Future[None]] = []
        self._refusal: Callable[[str], ProviderError] | None = None

    def refuse(self, refusal: Callable[[str], ProviderError]) -> None:
        """Take no more operations; each gets the error that its name gives."""
        self._refusal = refusal

    def submit(self, operation: Operation) -> asyncio.Future[Any]:
        """Put an operation into the next batch; the future is its answer.

        Raises:
            ProviderError: The store is closed, or its file is gone.
        """
        if self._refusal is not None:
            raise self._refusal(operation.name)
        return self.put(operation)

    def put(self, operation: Operation) -> asyncio.Future[Any]:
        """Put an operation into the next batch even while the store closes."""
        answer = self._loop.create_future()
        self._waiting.append((operation, answer))
        if not self._busy:
            self._busy = True
            self._send_soon()
        return answer

    def stop(self) -> None:
        """Send nothing more; what still waits is refused."""
        if self._refusal is None:
            return
        waiting, self._waiting = self._waiting, deque()
        for operation, answer in waiting:
            operation.failure = self._refusal(operation.name)
            _answer(operation, answer)

    async def drain(self) -> None:
        """Wait until nothing waits and nothing is under way."""
        while self._busy:
            idle: asyncio.Future[None] = self._loop.create_future()
            self._idle.append(idle)
            await idle

    def _send_soon(self) -> None:
        """Send not at once: what else is asked for in this turn of the loop comes along."""
        pause = self._landed_at + self._pause() - self._loop.time()
        if pause > 0:
            self._loop.call_later(pause, self._send)
        else:
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        batch = self._take()
        if not batch:
            self._rest()
            return
        operations = [operation for operation, _ in batch]
        try:
            self._lane.send(
                lambda connection: self._transactions.run(connection, operations),
                partial(self._land, batch),
            )
        except ProviderError as error:
            for operation in operations:
                operation.failure = error
            self._land(batch)

    def _take(self) -> list[Asked]:
        """Take what may go together: one mutating operation for each item, in order."""
        batch: list[Asked] = []
        left: list[Asked] = []
        claimed: set[str] = set()
        for _ in range(min(len(self._waiting), LARGEST_BATCH)):
            asked = self._waiting.popleft()
            keys = asked[0].keys()
            (batch if claimed.isdisjoint(keys) else left).append(asked)
            claimed.update(keys)
        self._waiting.extendleft(reversed(left))
        return batch

    def _land(self, batch: Sequence[Asked]) -> None:
        unclaimed = [operation for operation, answer in batch if not _answer(operation, answer)]
        self._landed_at = self._loop.time()
        self._landed([operation for operation, _ in batch], unclaimed)
        if self._waiting:
            self._send_soon()
            return
        self._rest()

    def _rest(self) -> None:
        self._busy = False
        for idle in self._idle:
            if not idle.done():
                idle.set_result(None)
        self._idle.clear()


def _answer(operation: Operation, answer: asyncio.Future[Any]) -> bool:
    """Pass the answer on; tell whether anybody still waited for it."""
    if answer.done():
        return False
    if operation.failure is not None:
        answer.set_exception(operation.failure)
    else:
        answer.set_result(operation.result)
    return True
