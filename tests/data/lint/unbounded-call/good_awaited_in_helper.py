from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

from dexnb import AsyncContext, Context, Flow, Step, StepDecision, StepList, StepOptions
from dexnb import RetryPolicy, force_fail, graceful_complete
from tides import Tides

LONGEST = timedelta(hours=8)


async def in_time(answer: Awaitable[Any]) -> Any:
    async with asyncio.timeout(8):
        return await answer


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class AwaitTide(Step[str]):
    def __init__(self, tides: Tides) -> None:
        self._tides = tides

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=LONGEST, execute_retry=RetryPolicy(total_duration=LONGEST)
        ).on_execute_failure_proceed_to(GiveUp)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            tide = await in_time(self._tides.at(input))
            if tide.over:
                return graceful_complete(tide.height)
            await context.heartbeat()
            # Chance is taken at its longest: 8 s and 12 s are well inside of 50 s.
            await asyncio.sleep(8 + 4 * random.random())


class Sailing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitTide(Tides())).other_steps(GiveUp())
