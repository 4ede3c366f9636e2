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
from looms import Looms


class AwaitLoom(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=1))  # expect: DX202 DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            loom = self._looms.find(input)  # expect: DX302? DX104?
            if loom.state == "woven":
                return graceful_complete(input)
            if loom.state == "failed":
                return force_fail("torn")
            await context.heartbeat(loom.state)  # expect: DX304
            await asyncio.sleep(5)  # expect: DX201?


class Weaving(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitLoom(Looms()))
