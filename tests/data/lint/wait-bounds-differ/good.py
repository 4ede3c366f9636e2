from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    go_to,
    graceful_complete,
)
from ferries import Ferries

LONGEST = timedelta(hours=2)


class Crossing(Step[str]):
    def __init__(self, ferries: Ferries) -> None:
        self._ferries = ferries

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            ferry = await self._ferries.position(input, timeout=5)
            if ferry.landed or ferry.turned_back:
                return go_to(Report, ferry.pier)
            await context.heartbeat(ferry.position)
            await asyncio.sleep(30)


class AwaitLanding(Crossing):
    def get_step_options(self) -> StepOptions:
        retry = RetryPolicy(total_duration=timedelta(minutes=120))
        return StepOptions(execute_method_timeout=LONGEST, execute_retry=retry)


class AwaitUnloading(Crossing):
    """Its execute_method_timeout is the default, and the retries say the same."""

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_retry=RetryPolicy(total_duration=LONGEST))


class AwaitLoading(Crossing):
    """One attempt: there are no retries to bound."""

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=timedelta(minutes=5),
            execute_retry=RetryPolicy(maximum_attempts=1),
        )


class Report(Step[str]):
    """Waits for nobody."""

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(seconds=30))

    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class Voyage(Flow[str]):
    def get_steps(self) -> StepList[str]:
        ferries = Ferries()
        return StepList.start_step(AwaitLanding(ferries)).other_steps(
            AwaitUnloading(ferries), AwaitLoading(ferries), Report()
        )
