from __future__ import annotations

import asyncio
from collections.abc import Generator

import reporting
from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOutput,
    go_to,
    graceful_complete,
    heartbeat,
)
from orchards import Orchards


class AwaitHarvest(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            harvest = await Orchards().harvest(input, timeout=5)
            if harvest.over:
                return go_to(Press, input)
            await self._beat(context, harvest.crates)
            await asyncio.sleep(30)

    async def _beat(self, context: AsyncContext, crates: int) -> None:
        await context.heartbeat(crates)  # expect: DX304


class Press(Step[str]):
    def execute(
        self, context: Context, input: str
    ) -> Generator[StepOutput, None, StepDecision]:
        for number, crate in enumerate(input.split(",")):
            reporting.note(crate)
            yield heartbeat(number)  # expect: DX304
        return go_to(Bottle, input)


class Bottle(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        bottles = await reporting.bottles(context, input)
        for bottle in bottles:
            await context.heartbeat(bottle.number)  # expect: DX304?
        return graceful_complete(input)


class Harvest(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitHarvest()).other_steps(Press(), Bottle())
