from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import AsyncContext, Context, Flow, Step, StepDecision, StepList, StepOptions
from dexnb import force_fail, go_to, graceful_complete
from gardens import Gardens

LONGEST = timedelta(hours=4)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class Gardening(Step[str]):
    def __init__(self, gardens: Gardens) -> None:
        self._gardens = gardens

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=LONGEST).on_execute_failure_proceed_to(GiveUp)


class Prune(Gardening):
    """A mark: what counts is that it is there."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        if not context.has_last_heartbeat_value():
            await self._gardens.prune(input, timeout=5)
        while (await self._gardens.pruning(input, timeout=5)).running:
            await context.heartbeat("pruned")
            await asyncio.sleep(30)
        return go_to(Water, input)


class Water(Gardening):
    """Different constants in different phases."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        phase = context.get_last_heartbeat_value(str)
        while phase is None and (await self._gardens.can(input, timeout=5)).empty:
            await context.heartbeat("filling")
            await asyncio.sleep(30)
        while (await self._gardens.can(input, timeout=5)).full:
            await context.heartbeat("watering")
            await asyncio.sleep(30)
        return go_to(Pick, input)


class Pick(Gardening):
    """Begins with a constant and goes on with what it has seen."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        picked = context.get_last_heartbeat_value(int) or 0
        while (fruit := await self._gardens.fruit(input, timeout=5)).left:
            await context.heartbeat(picked)
            picked = fruit.number
            await asyncio.sleep(30)
        await context.heartbeat()
        return graceful_complete(picked)


class Vintage(Flow[str]):
    def get_steps(self) -> StepList[str]:
        gardens = Gardens()
        return StepList.start_step(Prune(gardens)).other_steps(
            Water(gardens), Pick(gardens), GiveUp()
        )
