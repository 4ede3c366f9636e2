from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, StepOptions
from dexnb import force_fail, graceful_complete
from gauges import Gauges

WAIT = StepOptions(execute_method_timeout=timedelta(hours=1))
ANY = (ValueError, Exception)


class Gauged(Step[str]):
    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT


class AsAnswers(Gauged):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            found = await asyncio.gather(  # expect: DX307
                self._gauges.read("north", timeout=5),
                self._gauges.read("south", timeout=5),
                return_exceptions=True,
            )
            if all(not isinstance(each, Exception) and each.settled for each in found):
                return graceful_complete(input)
            await context.heartbeat()
            await asyncio.sleep(5)


class Heard(Gauged):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:
            found = await asyncio.gather(
                self._gauges.read("north", timeout=5),
                self._gauges.read("south", timeout=5),
                return_exceptions=True,
            )
            if any(isinstance(each, Exception) for each in found):
                return force_fail(input)
            if all(each.settled for each in found):
                return graceful_complete(input)
            await context.heartbeat()
            await asyncio.sleep(5)


class ByName(Gauged):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:
            await context.heartbeat()
            await asyncio.sleep(5)
            try:
                if (await self._gauges.read(input, timeout=5)).settled:
                    return graceful_complete(input)
            except ANY:  # expect: DX307
                continue


class InGroups(Gauged):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        gauge = None
        while gauge is None or not gauge.settled:
            await context.heartbeat()
            await asyncio.sleep(5)
            try:
                gauge = await self._gauges.read(input, timeout=5)
            except* Exception:  # expect: DX307
                pass
        return graceful_complete(input)


class Watching(Flow[str]):
    def get_steps(self) -> StepList[str]:
        gauges = Gauges()
        return StepList.start_step(AsAnswers(gauges)).other_steps(
            Heard(gauges), ByName(gauges), InGroups(gauges)
        )
