from __future__ import annotations

from archives import Archives
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


class CopyPages(Step[str]):
    def __init__(self, archives: Archives) -> None:
        self._archives = archives

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        token = context.get_last_heartbeat_value(str) or input
        while token:
            page = await self._archives.page(token)
            await self._archives.copy(page.items)
            token = page.next_token
            await context.heartbeat(token)
        return go_to(Count, 3)


class Count(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        return go_to(Count, input - 1) if input else graceful_complete()


class Copying(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(CopyPages(Archives())).other_steps(Count())
