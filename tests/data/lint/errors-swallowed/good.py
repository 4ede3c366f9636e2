from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    graceful_complete,
)
from gauges import Gauges


class AwaitLevel(Step[str]):
    """One kind of error is cured by another round; of others only a few are taken."""

    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=1))

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
                await context.heartbeat(float(gauge.text))
            except Exception:
                await context.heartbeat()
            await asyncio.sleep(5)


class Watching(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitLevel(Gauges()))
