from __future__ import annotations

import asyncio
import time
from datetime import timedelta

from ovens import Ovens

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    force_fail,
    graceful_complete,
)

WAIT = timedelta(hours=1)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class AwaitHeat(Step[str]):
    """Its options bound it; the clock only tells how long it has been, and when to beat."""

    def __init__(self, ovens: Ovens) -> None:
        self._ovens = ovens

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=WAIT, execute_retry=RetryPolicy(total_duration=WAIT)
        ).on_execute_failure_proceed_to(GiveUp)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        began = time.monotonic()
        before = context.get_last_heartbeat_value(float) or 0.0
        while True:
            async with asyncio.timeout(5):
                oven = await self._ovens.look(input)
            if oven.hot or oven.broken:
                return graceful_complete(time.monotonic() - began)
            await context.heartbeat(before + time.monotonic() - began)
            await asyncio.sleep(10)


class Baking(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitHeat(Ovens())).other_steps(GiveUp())
