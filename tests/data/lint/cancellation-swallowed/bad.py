from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    StepOutput,
    force_fail,
    go_to,
    graceful_complete,
    heartbeat,
)
from kilns import Kilns

WAIT = StepOptions(execute_method_timeout=timedelta(hours=1))


class AwaitKiln(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            kiln = await self._kilns.find(input, timeout=5)
            if kiln.cold or kiln.broken:
                return go_to(Open, input)
            await context.heartbeat(kiln.heat)  # expect: DX304
            try:
                await asyncio.sleep(5)
            except:  # expect: DX306
                continue


class Open(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        try:
            await self._kilns.open(input, timeout=5)
        except (ValueError, asyncio.CancelledError):  # expect: DX306
            return force_fail("stuck")
        with contextlib.suppress(BaseException):  # expect: DX306
            await self._kilns.air(input, timeout=5)
        try:
            await self._kilns.empty(input, timeout=5)
        finally:
            return go_to(Count, input)  # expect: DX306


class Count(Step[str]):
    def execute(self, context: Context, input: str) -> Generator[StepOutput, None, StepDecision]:
        for number in range(100):
            try:
                yield heartbeat(number)
            except BaseException as error:  # expect: DX306
                print(error)
        return graceful_complete()


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        kilns = Kilns()
        return StepList.start_step(AwaitKiln(kilns)).other_steps(Open(kilns), Count())
