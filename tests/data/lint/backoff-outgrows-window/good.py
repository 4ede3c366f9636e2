from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, StepOptions, graceful_complete
from kilns import Kilns

CAP = 40


class FirePots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = 1.0
        while True:
            firing = await Kilns().firing(input, timeout=10)
            if firing.over:
                return graceful_complete(firing.grade)
            await context.heartbeat(firing.degrees)
            await asyncio.sleep(delay)
            delay = min(delay * 2, CAP)


class GlazePots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        # Seven rounds at most: 1 s to 32 s between them.
        for attempt in range(6):
            glaze = await Kilns().glaze(input, timeout=10)
            if glaze.over:
                return graceful_complete(input)
            await context.heartbeat(glaze.percent)
            await asyncio.sleep(2**attempt)
        raise TimeoutError


class CoolPots(Step[str]):
    def get_step_options(self) -> StepOptions:
        # Over before the interval is too long.
        return StepOptions(execute_method_timeout=timedelta(seconds=60))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = 1.0
        while True:
            cooling = await Kilns().cooling(input, timeout=10)
            if cooling.cold or cooling.cracked:
                return graceful_complete(cooling.cold)
            await context.heartbeat(cooling.degrees)
            delay, before = delay * 2, delay
            await asyncio.sleep(before)


class SortPots(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = 30.0
        while True:
            sorting = await Kilns().sorting(input, timeout=10)
            if sorting.over:
                return graceful_complete(input)
            await context.heartbeat(sorting.percent)
            await asyncio.sleep(delay)
            delay = max(delay / 2, 1)


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(FirePots()).other_steps(GlazePots(), CoolPots(), SortPots())
