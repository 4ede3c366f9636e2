from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, StepOptions, graceful_complete
from kilns import Kilns

CALL_TIMEOUT = timedelta(seconds=10)
WINDOW = timedelta(minutes=1)
# All that the rule leaves.
INTERVAL = WINDOW - CALL_TIMEOUT - timedelta(seconds=10)


class FirePots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            async with asyncio.timeout(CALL_TIMEOUT.total_seconds()):
                firing = await self._kilns.firing(input)
            if firing.over:
                return graceful_complete(firing.grade)
            await context.heartbeat(firing.degrees)
            await asyncio.sleep(INTERVAL.total_seconds())


class GlazePots(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(heartbeat_timeout=timedelta(minutes=5))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with httpx.AsyncClient(timeout=httpx.Timeout(30)) as client:
            while True:
                answer = await client.get(input)
                if answer.json()["state"] in ("glazed", "failed"):
                    return graceful_complete(input)
                await context.heartbeat()
                await asyncio.sleep(4 * 60)


class CoolPots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        beating = asyncio.create_task(self._beat(context))
        try:
            while True:
                cooling = await self._kilns.cooling(input, timeout=60)
                if cooling.cold or cooling.cracked:
                    return graceful_complete(cooling.cold)
                await asyncio.sleep(600)
        finally:
            beating.cancel()

    async def _beat(self, context: AsyncContext) -> None:
        while True:
            await context.heartbeat()
            await asyncio.sleep(10)


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        kilns = Kilns()
        return StepList.start_step(FirePots(kilns)).other_steps(GlazePots(), CoolPots(kilns))
