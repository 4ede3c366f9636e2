from __future__ import annotations

import asyncio
import os
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    graceful_complete,
)
from ferries import Ferries

LONGEST = timedelta(minutes=30)
CROSSING = StepOptions(execute_method_timeout=LONGEST)


def retries() -> RetryPolicy:
    return RetryPolicy(total_duration=LONGEST * 2)


class Crossing(Step[str]):
    def __init__(self, ferries: Ferries) -> None:
        self._ferries = ferries

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:
            ferry = await self._ferries.position(input, timeout=5)
            if ferry.landed or ferry.turned_back:
                return graceful_complete(ferry.pier)
            await context.heartbeat(ferry.position)  # expect: DX304
            await asyncio.sleep(30)


class AwaitLanding(Crossing):
    def get_step_options(self) -> StepOptions:
        return StepOptions(  # expect: DX207
            execute_retry=retries(),
            execute_method_timeout=LONGEST,  # expect: DX202
        )


class AwaitUnloading(Crossing):
    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_retry=RetryPolicy(total_duration=LONGEST))  # expect: DX202 DX207


class AwaitLoading(Crossing):
    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return CROSSING


class AwaitSailing(Crossing):
    def get_step_options(self) -> StepOptions:
        return StepOptions(  # expect: DX207
            execute_method_timeout=timedelta(hours=float(os.environ["HOURS"])),  # expect: DX202? DX404?
            execute_retry=RetryPolicy(total_duration=LONGEST),
        )


class Voyage(Flow[str]):
    def get_steps(self) -> StepList[str]:
        ferries = Ferries()
        return StepList.start_step(AwaitLanding(ferries)).other_steps(
            AwaitUnloading(ferries), AwaitLoading(ferries), AwaitSailing(ferries)
        )
