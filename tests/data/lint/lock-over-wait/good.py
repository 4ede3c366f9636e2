from __future__ import annotations

import asyncio
from datetime import timedelta

from stables import Stables

from dexnb import (
    AsyncContext,
    Attribute,
    Context,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Timer,
    Wait,
    go_to,
    graceful_complete,
)

STALL = Attribute("Stall", str)


class AwaitFoal(Step[str]):
    """Polls without a lock; its wait_for gives its own back before the wait begins."""

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=timedelta(hours=4),
            wait_for_lock_attributes=(STALL.lock(),),
        ).on_execute_failure_proceed_to(RecordFoal)

    def wait_for(self, context: Context, input: str) -> Wait:
        STALL.set(context, "kept free")
        return Wait.until(Timer.by_duration(timedelta(days=300)))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            foal = await Stables().foal(input, timeout=5)
            if foal.born or foal.lost:
                return go_to(RecordFoal, foal.name)
            await context.heartbeat()
            await asyncio.sleep(30)


class RecordFoal(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_lock_attributes=(STALL.lock(),))

    def execute(self, context: Context, input: str) -> StepDecision:
        STALL.set(context, input)
        return graceful_complete(input)


class Stabling(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitFoal()).other_steps(RecordFoal())

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(STALL)
