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
    force_fail,
    graceful_complete,
)
from mills import Mills, Reporter


class AwaitMill(Step[str]):
    """Its context goes to foreign code, which may beat or not."""

    def __init__(self, mills: Mills, reporter: Reporter) -> None:
        self._mills = mills
        self._reporter = reporter

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=1))  # expect: DX202 DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX103?
            async with asyncio.timeout(5):
                state = await self._mills.state(input)
                await self._reporter.report(context, state)
            if state == "ground":
                return graceful_complete(input)
            if state == "broken":
                return force_fail(state)
            await asyncio.sleep(20)


class AwaitSacks(Step[str]):
    """So does a method of it, in the making of an object."""

    def __init__(self, mills: Mills) -> None:
        self._mills = mills

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=1))  # expect: DX202 DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        reporter = Reporter(on_report=context.heartbeat)
        while True:  # expect: DX103?
            async with asyncio.timeout(5):
                state = await self._mills.sacks(input)
                await reporter.report(state)
            if state in ("packed", "torn"):
                return graceful_complete(state)
            await asyncio.sleep(20)


class Milling(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitMill(Mills(), Reporter())).other_steps(
            AwaitSacks(Mills())
        )
