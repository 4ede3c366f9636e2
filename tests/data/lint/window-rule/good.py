from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
from kilns import Kilns

from dexnb import AsyncContext, Context, Flow, Step, StepDecision, StepList, StepOptions
from dexnb import force_fail, go_to, graceful_complete

CALL_TIMEOUT = timedelta(seconds=10)
WINDOW = timedelta(minutes=1)
# All that the rule leaves.
INTERVAL = WINDOW - CALL_TIMEOUT - timedelta(seconds=10)

LONGEST = timedelta(hours=4)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class FirePots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=LONGEST).on_execute_failure_proceed_to(GiveUp)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            async with asyncio.timeout(CALL_TIMEOUT.total_seconds()):
                firing = await self._kilns.firing(input)
            if firing.over:
                return go_to(GlazePots, input)
            await context.heartbeat()
            await asyncio.sleep(INTERVAL.total_seconds())


class GlazePots(Step[str]):
    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=LONGEST, heartbeat_timeout=timedelta(minutes=5)
        ).on_execute_failure_proceed_to(GiveUp)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with httpx.AsyncClient(timeout=httpx.Timeout(30)) as client:
            while True:
                answer = await client.get(input)
                if answer.json()["state"] in ("glazed", "failed"):
                    return go_to(CoolPots, input)
                await context.heartbeat()
                await asyncio.sleep(4 * 60)


class CoolPots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=LONGEST).on_execute_failure_proceed_to(GiveUp)

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
        return StepList.start_step(FirePots(kilns)).other_steps(GiveUp(), GlazePots(), CoolPots(kilns))
