from __future__ import annotations

import asyncio
from enum import Enum

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, go_to, graceful_complete
from vineyards import Vineyards

ALIVE = "alive"


class Season(Enum):
    GROWING = "growing"


class AwaitGrapes(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX203 DX207
            grapes = await Vineyards().grapes(input, timeout=5)
            if grapes.ripe or grapes.lost:
                return go_to(AwaitWine, input)
            await context.heartbeat("still growing")  # expect: DX305
            await asyncio.sleep(30)


class AwaitWine(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        last = context.get_last_heartbeat_value(str)
        while True:  # expect: DX203 DX207
            wine = await Vineyards().wine(input, timeout=5)
            if wine.ready or wine.sour:
                return go_to(AwaitBuds, last)
            await self._beat(context, ALIVE)
            await asyncio.sleep(30)

    async def _beat(self, context: AsyncContext, text: str) -> None:
        await context.heartbeat(text)  # expect: DX305


class AwaitBuds(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX203 DX207
            buds = await Vineyards().buds(input, timeout=5)
            if buds.open or buds.frozen:
                return graceful_complete(input)
            await context.heartbeat(Season.GROWING)  # expect: DX305
            await asyncio.sleep(30)


class Vintage(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitGrapes()).other_steps(AwaitWine(), AwaitBuds())
