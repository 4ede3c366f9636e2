"""Not ready yet is an error here, and ten attempts with growing pauses are the rounds."""

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
    graceful_complete,
)
from kilns import Kilns

LONGEST = timedelta(minutes=30)


class NotReady(Exception):
    pass


class AwaitGlaze(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=LONGEST,
            execute_retry=RetryPolicy(maximum_attempts=10, total_duration=LONGEST),  # expect: DX102
        )

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with asyncio.timeout(5):
            glaze = await self._kilns.glaze(input)
        if not glaze.ready:
            raise NotReady(input)  # expect: DX301
        return graceful_complete(glaze.colour)


class Glazing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitGlaze(Kilns()))
