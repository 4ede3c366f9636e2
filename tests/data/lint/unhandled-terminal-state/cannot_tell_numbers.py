from __future__ import annotations

import asyncio

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList
from dexnb import force_fail, graceful_complete
from presses import Presses


class ByCode(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while (await Presses().sheet(input, timeout=5)).exit_code != 0:  # expect: DX203 DX207 DX308?
            await context.heartbeat()
            await asyncio.sleep(5)
        return graceful_complete(input)


class ByShare(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207 DX308?
            sheet = await Presses().sheet(input, timeout=5)
            if sheet.progress >= 100:
                return graceful_complete(input)
            await context.heartbeat()
            await asyncio.sleep(5)


class ByPrefix(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207 DX308?
            sheet = await Presses().sheet(input, timeout=5)
            if sheet.state.startswith("SUCC"):
                return graceful_complete(input)
            await context.heartbeat()
            await asyncio.sleep(5)


class ByBoth(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207
            sheet = await Presses().sheet(input, timeout=5)
            if sheet.progress >= 100:
                return graceful_complete(input)
            if sheet.error:
                return force_fail(sheet.error)
            await context.heartbeat()
            await asyncio.sleep(5)


class Printing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(ByCode()).other_steps(ByShare(), ByPrefix(), ByBoth())
