from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    go_to,
    graceful_complete,
)
from ovens import Ovens

LONGEST = timedelta(hours=1)


def options() -> StepOptions:
    retry = RetryPolicy(total_duration=LONGEST)
    return StepOptions(execute_method_timeout=LONGEST, execute_retry=retry)  # expect: DX207


class Bake(Step[str]):
    def get_step_options(self) -> StepOptions:
        return options()

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            loaf = await Ovens().loaf(input, timeout=5)
            if loaf.done or loaf.burnt:
                return go_to(Cool, input)
            await context.heartbeat(loaf.degrees)  # expect: DX304
            await asyncio.sleep(30)


class Cool(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while (loaf := await Ovens().loaf(input, timeout=5)).warm:  # expect: DX203 DX207
            await context.heartbeat(loaf.degrees)  # expect: DX304
            await asyncio.sleep(30)
        return graceful_complete(input)


class Baking(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Bake()).other_steps(Cool())
