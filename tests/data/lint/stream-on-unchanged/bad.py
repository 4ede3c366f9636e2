from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Stream,
    force_fail,
    graceful_complete,
)
from ferries import Ferries, Ferry

CROSSING = Stream("Crossing", Ferry, 1 << 16)


class AwaitFerry(Step[str]):
    def __init__(self, ferries: Ferries) -> None:
        self._ferries = ferries

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=1))  # expect: DX202 DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            async with asyncio.timeout(5):
                ferry = await self._ferries.find(input)
            if ferry.state == "landed":
                CROSSING.write(context, ferry)
                return graceful_complete(input)
            if ferry.state == "lost":
                return force_fail("lost at sea")
            CROSSING.write(context, ferry)  # expect: DX303
            await asyncio.sleep(5)


class Crossing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitFerry(Ferries()))

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(CROSSING)
