from __future__ import annotations

import asyncio
import os
from datetime import timedelta

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, StepOptions, graceful_complete
from kilns import Kilns


class FirePots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX203 DX207
            firing = await Kilns().firing(input)  # expect: DX104
            if firing.over:
                return graceful_complete(firing.grade)
            await context.heartbeat(firing.degrees)  # expect: DX304
            await asyncio.sleep(20)  # expect: DX201?


class GlazePots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207
            glaze = await Kilns().glaze(input, timeout=5)
            if glaze.over:
                return graceful_complete(input)
            await context.heartbeat()
            await asyncio.sleep(glaze.come_back_in)  # expect: DX201?


class CoolPots(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=timedelta(seconds=int(os.environ["SILENCE"])))  # expect: DX207 DX404?

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203
            cooling = await Kilns().cooling(input, timeout=5)
            if cooling.cold or cooling.cracked:
                return graceful_complete(cooling.cold)
            await context.heartbeat(cooling.degrees)  # expect: DX304
            await asyncio.sleep(30)  # expect: DX201?


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(FirePots()).other_steps(GlazePots(), CoolPots())
