from __future__ import annotations

import asyncio
from datetime import timedelta

from ferries import Ferries

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
    go_to,
    graceful_complete,
)

LONGEST = timedelta(hours=2)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class Crossing(Step[str]):
    after: type[Step[str]]

    def __init__(self, ferries: Ferries) -> None:
        self._ferries = ferries

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            ferry = await self._ferries.position(input, timeout=5)
            if ferry.landed or ferry.turned_back:
                return go_to(self.after, ferry.pier)
            await context.heartbeat()
            await asyncio.sleep(30)


class Report(Step[str]):
    """Waits for nobody."""

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(seconds=30))

    def execute(self, context: Context, input: str) -> StepDecision:
        return graceful_complete(input)


class AwaitLoading(Crossing):
    """One attempt: there are no retries to bound."""

    after = Report

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=timedelta(minutes=5),
            execute_retry=RetryPolicy(maximum_attempts=1),
        ).on_execute_failure_proceed_to(GiveUp)


class AwaitUnloading(Crossing):
    """Its execute_method_timeout is the default, and the retries say the same."""

    after = AwaitLoading

    def get_step_options(self) -> StepOptions:
        retry = RetryPolicy(total_duration=LONGEST)
        return StepOptions(execute_retry=retry).on_execute_failure_proceed_to(GiveUp)


class AwaitLanding(Crossing):
    after = AwaitUnloading

    def get_step_options(self) -> StepOptions:
        retry = RetryPolicy(total_duration=timedelta(minutes=120))
        return StepOptions(
            execute_method_timeout=LONGEST, execute_retry=retry
        ).on_execute_failure_proceed_to(GiveUp)


class Voyage(Flow[str]):
    def get_steps(self) -> StepList[str]:
        ferries = Ferries()
        return StepList.start_step(AwaitLanding(ferries)).other_steps(
            AwaitUnloading(ferries), AwaitLoading(ferries), Report(), GiveUp()
        )
