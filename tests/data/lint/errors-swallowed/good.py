from __future__ import annotations

import asyncio
from datetime import timedelta

from gauges import Gauges

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    force_fail,
    graceful_complete,
)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class AwaitLevel(Step[str]):
    """One kind of error is cured by another round; of others only a few are taken."""

    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(
            GiveUp
        )

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        failures = 0
        while True:
            try:
                gauge = await self._gauges.read(input, timeout=5)
            except ConnectionResetError:
                await asyncio.sleep(5)
                continue
            except Exception:
                failures += 1
                if failures > 3:
                    raise
                await asyncio.sleep(5)
                continue
            if gauge.settled:
                return graceful_complete(input)
            try:
                await context.heartbeat()
            except Exception:
                await context.heartbeat()
            await asyncio.sleep(5)


class Watching(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitLevel(Gauges())).other_steps(GiveUp())
