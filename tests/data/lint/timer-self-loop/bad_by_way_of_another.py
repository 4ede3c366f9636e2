from __future__ import annotations

import asyncio
from datetime import timedelta

from couriers import Couriers
from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    Timer,
    Wait,
    go_to,
    graceful_complete,
)


class Pause(Step[str]):
    async def wait_for(self, context: AsyncContext, input: str) -> Wait:
        return Wait.until(Timer.by_duration(timedelta(minutes=1)))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        return go_to(Look, input)


class Look(Step[str]):
    def __init__(self, couriers: Couriers) -> None:
        self._couriers = couriers

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with asyncio.timeout(5):
            parcel = await self._couriers.find(input)
        return graceful_complete() if parcel.is_over else self._again(input)

    def _again(self, input: str) -> StepDecision:
        return go_to(Pause, input)  # expect: DX101 DX203


class Delivery(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Look(Couriers())).other_steps(Pause())
