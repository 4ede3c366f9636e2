from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Timer,
    Wait,
    graceful_complete,
)

DAWN = timedelta(minutes=0.5)


class AwaitDawn(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=timedelta(milliseconds=60_000))

    def wait_for(self, context: Context, input: str) -> Wait:
        return Wait.until(Timer.by_duration(DAWN * 3))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with asyncio.timeout(0.5):
            await asyncio.sleep(0.25)
        return graceful_complete(input)


class Day(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitDawn())
