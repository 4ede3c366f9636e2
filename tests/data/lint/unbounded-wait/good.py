from __future__ import annotations

import asyncio
from datetime import timedelta

from harbours import Harbours

from dexnb import (
    AsyncContext,
    Channel,
    Context,
    Flow,
    PersistenceSchema,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Timer,
    Wait,
    force_fail,
    go_to,
    graceful_complete,
)

PILOTS = Channel("Pilots", str)
WAIT = timedelta(hours=6)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class AwaitTide(Step[str]):
    def __init__(self, harbours: Harbours) -> None:
        self._harbours = harbours

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=WAIT, execute_retry=RetryPolicy(total_duration=WAIT)
        ).on_execute_failure_proceed_to(GiveUp)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            tide = await self._harbours.tide(input, timeout=5)
            if tide.high or tide.storm:
                return go_to(AwaitPilot, input)
            await context.heartbeat()
            await asyncio.sleep(30)


class AwaitPilot(Step[str]):
    def wait_for(self, context: Context, input: str) -> Wait:
        return Wait.any_of(PILOTS.for_one(), Timer.by_duration(WAIT))

    def execute(self, context: Context, input: str) -> StepDecision:
        if context.has_timer_fired():
            return force_fail("no pilot came")
        return graceful_complete(PILOTS.results(context)[0].value)


class Sailing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitTide(Harbours())).other_steps(GiveUp(), AwaitPilot())

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(PILOTS)
