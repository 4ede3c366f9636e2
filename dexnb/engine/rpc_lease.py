"""`RpcLease`: an RPC's hold on its locks, which ends soon after its process does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from dexnb.errors import DexnbError
from dexnb.model.message import RpcBegin
from dexnb.model.run_state import RunState
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine
    from dexnb.model.event import Event

LEASE = 30.0
"""Seconds for which an RPC's locks hold on without a word of its process."""

RENEW = 10.0
"""Seconds between two such words: two may be lost."""

Answer = Callable[[RunRecord, str, str], Awaitable["Event"]]


class RpcLease:
    """Renews the locks of one call until its method has ended.

    Args:
        engine: Where the run is.
        run_id: The run.
        request_id: Who holds the locks.
        locks: Physical names of the Attributes.
        timeout: Seconds that the call may take.
        answer: Waits for an event of this request behind a record's version.
    """

    def __init__(
        self,
        engine: Engine,
        run_id: str,
        request_id: str,
        locks: list[str],
        timeout: float,
        answer: Answer,
    ) -> None:
        """Begin: `asks` is the message that takes the locks."""
        self._engine = engine
        self._run_id = run_id
        self._request_id = request_id
        self._locks = locks
        self._answer = answer
        now = engine.provider.clock.now()
        self._end = now + timeout
        self._until = min(now + LEASE, self._end)
        self._asking = asyncio.Lock()
        self._renewed: list[int] = []
        self.asks = RpcBegin(request_id, locks, self._until)

    @contextlib.asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Renew the locks inside the block; no renewal is under way behind it."""
        task = asyncio.create_task(self._renew())
        try:
            yield
            async with self._asking:
                task.cancel()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def version_after(self, version: int) -> int:
        """Give the version of a run in which nothing has happened but these renewals."""
        for seq in self._renewed:
            version += seq == version + 1
        return version

    async def _renew(self) -> None:
        # A run that has ended or a store that is gone: the commit will tell it.
        with contextlib.suppress(DexnbError):
            while self._until < self._end:
                await asyncio.sleep(RENEW)
                async with self._asking:
                    if not await self._ask():
                        return

    async def _ask(self) -> bool:
        """Renew once; False if the locks are gone."""
        record = await self._engine.record(run_id=self._run_id)
        if record is None or self._request_id not in _holders(record):
            return False
        self._until = min(self._engine.provider.clock.now() + LEASE, self._end)
        message = RpcBegin(self._request_id, self._locks, self._until, renews=True)
        await self._engine.send(self._run_id, message)
        event = await self._answer(record, self._request_id, "rpc_started")
        self._renewed.append(event.seq)
        return event.kind == "rpc_started"


def _holders(record: RunRecord) -> set[str]:
    return set(RunState.from_text(record.state).locks.values())
