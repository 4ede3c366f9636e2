from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    force_fail,
    graceful_complete,
)
from mills import Mills


class AwaitMill(Step[str]):
    """The heartbeat of another system is none of the Step's; nor is one after the loop."""

    def __init__(self, mills: Mills) -> None:
        self._mills = mills

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=1))  # expect: DX202 DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        state = "new"
        while state not in ("ground", "broken"):  # expect: DX103
            async with asyncio.timeout(5):
                await self._mills.heartbeat(input)
                state = await self._mills.state(input)
            await asyncio.sleep(20)
        await context.heartbeat(state)  # expect: DX304
        return graceful_complete() if state == "ground" else force_fail(state)


class Milling(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitMill(Mills()))
