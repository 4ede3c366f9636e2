from __future__ import annotations

import asyncio
from datetime import timedelta

from ferries import Ferries, Ferry

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Stream,
    force_fail,
    go_to,
    graceful_complete,
)

CROSSING = Stream("Crossing", Ferry, 1 << 16)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


WAIT = StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(GiveUp)


class AwaitFerry(Step[str]):
    def __init__(self, ferries: Ferries) -> None:
        self._ferries = ferries

    def get_step_options(self) -> StepOptions:
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        last = None
        while True:
            async with asyncio.timeout(5):
                ferry = await self._ferries.find(input)
            if ferry.state == "landed":
                return go_to(AwaitCars, input)
            if ferry.state == "lost":
                return force_fail("lost at sea")
            if ferry.state == last:
                await context.heartbeat()
                await asyncio.sleep(5)
                continue
            CROSSING.write(context, ferry)
            last = ferry.state
            await asyncio.sleep(5)


class AwaitCars(Step[str]):
    """A helper tells whether there is something new."""

    def __init__(self, ferries: Ferries) -> None:
        self._ferries = ferries

    def get_step_options(self) -> StepOptions:
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        last = context.get_last_heartbeat_value(str)
        while True:
            async with asyncio.timeout(5):
                cars = await self._ferries.cars(input)
            if cars.state in ("ashore", "lost"):
                return graceful_complete(input)
            last = await self._report(context, cars, last)
            await asyncio.sleep(5)

    async def _report(self, context: AsyncContext, cars: Ferry, last: str | None) -> str:
        if cars.state != last:
            CROSSING.write(context, cars)
        else:
            await context.heartbeat(last)
        return cars.state


class Crossing(Flow[str]):
    def __init__(self) -> None:
        self._ferries = Ferries()

    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitFerry(self._ferries)).other_steps(
            GiveUp(), AwaitCars(self._ferries)
        )

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(CROSSING)
