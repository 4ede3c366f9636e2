from __future__ import annotations

import asyncio

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Wait,
    go_to,
    graceful_complete,
)
from stables import Stables

STALL = Attribute("Stall", str)
FEED = AttributeMap("Feed", int)


class AwaitFoal(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_lock_attributes=(STALL.lock(), FEED.lock("oats")))  # expect: DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX203 DX310
            foal = await Stables().foal(input, timeout=5)
            if foal.born or foal.lost:
                STALL.set(context, foal.name)
                return go_to(AwaitFarrier, input)
            await context.heartbeat()
            await asyncio.sleep(30)


class AwaitFarrier(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(wait_for_lock_attributes=(STALL.lock(),))

    async def wait_for(self, context: AsyncContext, input: str) -> Wait:
        while not (await Stables().farrier(input, timeout=5)).there:  # expect: DX203 DX310
            await context.heartbeat()
            await asyncio.sleep(30)
        return Wait.skip_immediately()

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        return graceful_complete(STALL.get(context))


class Stabling(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitFoal()).other_steps(AwaitFarrier())

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(STALL, FEED)
