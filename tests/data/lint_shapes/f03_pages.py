"""A page token that goes to the same Step again through a conditional expression."""

from __future__ import annotations

import asyncio

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    go_to,
    graceful_complete,
)
from ledgers import Ledgers


class ReadLedger(Step[str]):
    def __init__(self, ledgers: Ledgers) -> None:
        self._ledgers = ledgers

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with asyncio.timeout(20):
            page = await self._ledgers.entries(after=input)
        following = page.next_cursor if page.more else ""
        return go_to(ReadLedger if following else Close, following)  # expect: DX106


class Close(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete()


class Reading(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(ReadLedger(Ledgers())).other_steps(Close())
