from __future__ import annotations

import asyncio
from datetime import timedelta

from kilns import Kilns

from dexnb import AsyncContext, Context, Flow, RetryPolicy, Step, StepDecision, StepList
from dexnb import StepOptions, force_fail, go_to, graceful_complete

CAP = 40

LONGEST = timedelta(hours=4)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class Firing(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=LONGEST).on_execute_failure_proceed_to(GiveUp)


class FirePots(Firing):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = 1.0
        while True:
            firing = await Kilns().firing(input, timeout=10)
            if firing.over:
                return go_to(GlazePots, input)
            await context.heartbeat()
            await asyncio.sleep(delay)
            delay = min(delay * 2, CAP)


class GlazePots(Firing):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        attempt = 0
        while True:
            glaze = await Kilns().glaze(input, timeout=10)
            if glaze.over:
                return go_to(CoolPots, input)
            await context.heartbeat()
            await asyncio.sleep(min(2**attempt, CAP))
            attempt += 1


class CoolPots(Step[str]):
    def get_step_options(self) -> StepOptions:
        # Over before the interval is too long.
        return StepOptions(
            execute_method_timeout=timedelta(seconds=60),
            execute_retry=RetryPolicy(maximum_attempts=1),
        ).on_execute_failure_proceed_to(GiveUp)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = 1.0
        while True:
            cooling = await Kilns().cooling(input, timeout=10)
            if cooling.cold or cooling.cracked:
                return go_to(SortPots, input)
            await context.heartbeat()
            delay, before = delay * 2, delay
            await asyncio.sleep(before)


class SortPots(Firing):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        delay = 30.0
        while True:
            sorting = await Kilns().sorting(input, timeout=10)
            if sorting.over:
                return graceful_complete(input)
            await context.heartbeat()
            await asyncio.sleep(delay)
            delay = max(delay / 2, 1)


class Pottery(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(FirePots()).other_steps(
            GiveUp(), GlazePots(), CoolPots(), SortPots()
        )
