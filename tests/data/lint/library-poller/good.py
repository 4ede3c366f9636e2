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
from quarries import Quarries


class AwaitStones(Step[str]):
    def __init__(self, quarries: Quarries) -> None:
        self._quarries = quarries

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=1))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            state = await self._quarries.poll(input, timeout=5)
            if state == "succeeded":
                return graceful_complete(input)
            if state == "failed":
                return force_fail(state)
            await context.heartbeat(state)
            await asyncio.sleep(5)


class Mining(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitStones(Quarries()))
