from __future__ import annotations

import asyncio
from datetime import timedelta

from ovens import Ovens

from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    go_to,
    graceful_complete,
)


class Bake(Step[str]):
    def get_step_options(self) -> StepOptions:
        longest = StepOptions(execute_method_timeout=timedelta(hours=4))
        return longest.on_execute_failure_proceed_to(Vent)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            loaf = await Ovens().loaf(input, timeout=5)
            if loaf.done or loaf.burnt:
                return go_to(Slice, input)
            await context.heartbeat()
            await asyncio.sleep(30)


class Vent(Step[str]):
    """The last resort waits, too."""

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=4))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while (loaf := await Ovens().loaf(input, timeout=5)).smoking:
            await context.heartbeat()
            await asyncio.sleep(30)
        return graceful_complete(input)


class Slice(Step[str]):
    """Waits for nobody."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        return graceful_complete(await Ovens().loaf(input, timeout=5))


class Baking(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Bake()).other_steps(Vent(), Slice())
