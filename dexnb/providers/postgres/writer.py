"""Group commit: whatever is asked for while a batch is being committed becomes the next one."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Any

from dexnb.errors import ProviderError
from dexnb.providers.postgres.batch import Batch
from dexnb.providers.postgres.operations import Operation
from dexnb.providers.postgres.transaction import Transactions

LARGEST_BATCH = 1000

Asked = tuple[Operation, "asyncio.Future[Any]"]
Landed = Callable[[Batch, Sequence[Operation]], None]
Refusal = Callable[[str], ProviderError]

LOG = logging.getLogger("dexnb")


class Writer:
    """The operations that wait, and the task that commits them batch by batch.

    Args:
        transactions: What a batch does.
        landed: Told of each batch, and of its operations that nobody waits for any more.
    """

    def __init__(self, transactions: Transactions, landed: Landed) -> None:
        """Start the task, which sleeps until something is asked for."""
        self._transactions = transactions
        self._landed = landed
        self._waiting: deque[Asked] = deque()
        self._filled = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._refusal: Refusal | None = None
        self._task = asyncio.get_running_loop().create_task(self._work(), name="dexnb postgres")

    def refuse(self, refusal: Refusal) -> None:
        """Take no more operations from callers; each gets the error that its name gives."""
        self._refusal = refusal

    def submit(self, operation: Operation) -> asyncio.Future[Any]:
        """Put an operation into the next batch; the future is its answer.

        Raises:
            ProviderError: The store is closed.
        """
        if self._refusal is not None:
            raise self._refusal(operation.name)
        return self.put(operation)

    def put(self, operation: Operation) -> asyncio.Future[Any]:
        """Put an operation into the next batch even while the store closes."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((operation, answer))
        self._idle.clear()
        self._filled.set()
        return answer

    @property
    def is_busy(self) -> bool:
        """Tell whether something waits or is under way."""
        return not self._idle.is_set()

    async def drain(self, patience: float) -> None:
        """Wait until nothing waits and nothing is under way, at most so many seconds."""
        waiting = asyncio.ensure_future(self._idle.wait())
        await asyncio.wait([waiting, self._task], timeout=patience, return_when="FIRST_COMPLETED")
        waiting.cancel()

    async def stop(self) -> None:
        """End the task; what still waits is refused."""
        self._task.cancel()
        await asyncio.wait([self._task])
        self._end_all(self._waiting, self._refusal or _unanswered)
        self._waiting.clear()

    async def _work(self) -> None:
        while True:
            await self._filled.wait()
            self._filled.clear()
            # What else is asked for in this turn of the loop comes along.
            await asyncio.sleep(0)
            while self._waiting:
                await self._commit(self._take())
            self._idle.set()

    def _take(self) -> list[Asked]:
        """Take what may go together: one mutating operation for each item, in order."""
        taken: list[Asked] = []
        left: list[Asked] = []
        claimed: set[str] = set()
        while self._waiting and len(taken) < LARGEST_BATCH:
            asked = self._waiting.popleft()
            if asked[1].done():
                continue
            keys = asked[0].keys()
            (taken if claimed.isdisjoint(keys) else left).append(asked)
            claimed.update(keys)
        self._waiting.extendleft(reversed(left))
        return taken

    async def _commit(self, asked: Sequence[Asked]) -> None:
        if not asked:
            return
        try:
            async for batch in self._batches([operation for operation, _ in asked]):
                self._land(batch, dict(asked))
        except Exception as error:
            # A fault in here: this task goes on, for whoever asks next.
            LOG.exception("a batch for the PostgreSQL store went wrong")
            self._end_all(asked, partial(_failure, error))
        finally:
            # Every caller gets an answer, also when this task is ended.
            self._end_all(asked, self._refusal or _unanswered)

    async def _batches(self, operations: Sequence[Operation]) -> AsyncIterator[Batch]:
        """Give the batch of all operations; or, when one of them spoils it, of each by itself."""
        batch = await self._transactions.run(operations)
        if batch is not None:
            yield batch
            return
        for operation in operations:
            alone = await self._transactions.run([operation])
            if alone is not None:
                yield alone

    def _land(self, batch: Batch, answers: dict[Operation, asyncio.Future[Any]]) -> None:
        unclaimed = [op for op in batch.operations if not _answer(op, answers[op])]
        self._landed(batch, unclaimed)

    def _end_all(self, asked: Iterable[Asked], refusal: Refusal) -> None:
        for operation, answer in asked:
            if not answer.done():
                answer.set_exception(refusal(operation.name))


def _unanswered(name: str) -> ProviderError:
    return ProviderError(name, "the store has closed before it answered", retryable=True)


def _failure(error: Exception, name: str) -> ProviderError:
    return ProviderError(name, f"{type(error).__name__}: {error}", retryable=False)


def _answer(operation: Operation, answer: asyncio.Future[Any]) -> bool:
    """Pass the answer on; tell whether anybody still waited for it."""
    if answer.done():
        return False
    if operation.failure is not None:
        answer.set_exception(operation.failure)
    else:
        answer.set_result(operation.result)
    return True
