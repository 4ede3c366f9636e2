from __future__ import annotations

import asyncio
import random

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from kilns import Kilns

FIRST = 1
CAP = 300


class FirePots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = FIRST
        while True:  # expect: DX203 DX207
            firing = await Kilns().firing(input, timeout=10)
            if firing.over:
                return graceful_complete(firing.grade)
            await context.heartbeat(firing.degrees)  # expect: DX304
            await asyncio.sleep(delay)  # expect: DX204
            delay = min(delay * 2, CAP)


class GlazePots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        wait = 5.0
        while True:  # expect: DX203 DX207
            glaze = await Kilns().glaze(input, timeout=10)
            if glaze.over:
                return graceful_complete(input)
            await context.heartbeat(glaze.percent)  # expect: DX304
            wait *= 1.5
            await self._rest(wait)

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds + random.uniform(0, 2))  # expect: DX204


class CoolPots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        attempt = 0
        while True:  # expect: DX203 DX207
            cooling = await Kilns().cooling(input, timeout=10)
            if cooling.cold or cooling.cracked:
                return graceful_complete(input)
            await context.heartbeat(cooling.degrees)  # expect: DX304
            await asyncio.sleep(2**attempt)  # expect: DX204
            attempt += 1


class SortPots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        delay = input.count("-")
        while True:  # expect: DX203 DX207
            sorting = await Kilns().sorting(input, timeout=10)
            if sorting.over:
                return graceful_complete(input)
            await context.heartbeat(sorting.percent)  # expect: DX304
            await asyncio.sleep(delay)  # expect: DX204?
            delay += 1


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(FirePots()).other_steps(GlazePots(), CoolPots(), SortPots())
