from __future__ import annotations

import asyncio
from datetime import timedelta

from quarries import Quarries

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    force_fail,
    graceful_complete,
)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class AwaitStones(Step[str]):
    def __init__(self, quarries: Quarries) -> None:
        self._quarries = quarries

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(
            GiveUp
        )

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            state = await self._quarries.poll(input, timeout=5)
            if state == "succeeded":
                return graceful_complete(input)
            if state == "failed":
                return force_fail(state)
            await context.heartbeat()
            await asyncio.sleep(5)


class Mining(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitStones(Quarries())).other_steps(GiveUp())
