from __future__ import annotations

import asyncio
import time
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
        while True:  # expect: DX203 DX207
            harvest = await Orchards().harvest(input, timeout=5)
            if harvest.over:
                return go_to(Press, input)
            await self._beat(context, harvest.crates)
            await asyncio.sleep(30)

    async def _beat(self, context: AsyncContext, crates: int) -> None:
        await context.heartbeat(crates)  # expect: DX304


class Press(Step[str]):
    def execute(self, context: Context, input: str) -> Generator[StepOutput, None, StepDecision]:
        while (press := Orchards().press(input, timeout=5)).running:  # expect: DX203 DX207
            yield heartbeat(press.litres)  # expect: DX304
            time.sleep(30)
        return go_to(Bottle, input)


class Bottle(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        last = await reporting.last(context)  # expect: DX104
        while (bottles := await Orchards().bottles(input, last, timeout=5)).missing:  # expect: DX203 DX207
            await context.heartbeat(bottles.number)  # expect: DX304?
            await asyncio.sleep(30)
        return graceful_complete(input)


class Harvest(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitHarvest()).other_steps(Press(), Bottle())
