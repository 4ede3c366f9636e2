from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, StepOptions, graceful_complete
from kilns import Kilns

CALL_TIMEOUT = timedelta(seconds=10)
INTERVAL = timedelta(seconds=40)
SLACK = 0.001
WINDOW = 15


class FirePots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX203 DX207
            async with asyncio.timeout(CALL_TIMEOUT.total_seconds()):
                firing = await self._kilns.firing(input)
            if firing.over:
                return graceful_complete(firing.grade)
            await context.heartbeat(firing.degrees)  # expect: DX304
            await asyncio.sleep(INTERVAL.total_seconds() + SLACK)  # expect: DX201


class GlazePots(Step[str]):
    interval = 2

    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=timedelta(seconds=WINDOW))  # expect: DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while not (await self._ask(input)).over:  # expect: DX203
            await context.heartbeat()
            await self._rest()
        return graceful_complete(input)

    async def _ask(self, pot: str) -> object:
        return await asyncio.wait_for(self._kilns.glaze(pot), CALL_TIMEOUT.total_seconds())

    async def _rest(self) -> None:
        await asyncio.sleep(self.interval)  # expect: DX201


class CoolPots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207
            # The call has no limit, but this is too long for any.
            cooling = await self._kilns.cooling(input)  # expect: DX104
            if cooling.cold or cooling.cracked:
                return graceful_complete(cooling.cold)
            await context.heartbeat(cooling.degrees)  # expect: DX304
            await asyncio.sleep(55)  # expect: DX201


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        kilns = Kilns()
        return StepList.start_step(FirePots(kilns)).other_steps(GlazePots(kilns), CoolPots(kilns))
