from __future__ import annotations

import asyncio
import random
from itertools import count

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from kilns import Kilns

FIRST = 1
CAP = 300


class FirePots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = FIRST
        while True:
            firing = await Kilns().firing(input, timeout=10)
            if firing.over:
                return graceful_complete(firing.grade)
            await context.heartbeat(firing.degrees)
            await asyncio.sleep(delay)  # expect: DX204
            delay = min(delay * 2, CAP)


class GlazePots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        wait = 5.0
        while True:
            glaze = await Kilns().glaze(input, timeout=10)
            if glaze.over:
                return graceful_complete(input)
            await context.heartbeat(glaze.percent)
            wait *= 1.5
            await self._rest(wait)

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds + random.uniform(0, 2))  # expect: DX204


class CoolPots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        for attempt in count():
            cooling = await Kilns().cooling(input, timeout=10)
            if cooling.cold or cooling.cracked:
                break
            await context.heartbeat(cooling.degrees)
            await asyncio.sleep(2**attempt)  # expect: DX204
        return graceful_complete(input)


class SortPots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = input.count("-")
        while True:
            sorting = await Kilns().sorting(input, timeout=10)
            if sorting.over:
                return graceful_complete(input)
            await context.heartbeat(sorting.percent)
            await asyncio.sleep(delay)  # expect: DX204?
            delay += 1


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(FirePots()).other_steps(GlazePots(), CoolPots(), SortPots())
