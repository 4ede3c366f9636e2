from __future__ import annotations

import asyncio

from dexnb import (
    AsyncContext,
    Channel,
    Context,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    Wait,
    go_to,
    graceful_complete,
)
from harbours import Harbours

PILOTS = Channel("Pilots", str)


class AwaitTide(Step[str]):
    def __init__(self, harbours: Harbours) -> None:
        self._harbours = harbours

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX203 DX207
            tide = await self._harbours.tide(input, timeout=5)
            if tide.high or tide.storm:
                return go_to(AwaitPilot, input)
            await context.heartbeat(tide.level)  # expect: DX304
            await asyncio.sleep(30)


class AwaitPilot(Step[str]):
    def wait_for(self, context: Context, input: str) -> Wait:
        return Wait.until(PILOTS.for_one())  # expect: DX203

    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(PILOTS.results(context)[0].value)


class Sailing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitTide(Harbours())).other_steps(AwaitPilot())

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(PILOTS)
