from __future__ import annotations

import asyncio

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from looms import Looms, Torn


class NotAwaited(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while not (await self._looms.web(input, timeout=5)).over:  # expect: DX203 DX207 DX309
            await context.heartbeat()
            asyncio.sleep(5)
        return graceful_complete(input)


class AfterErrors(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207 DX309
            await context.heartbeat()
            try:
                if (await self._looms.web(input, timeout=5)).over:
                    break
            except Torn:
                await asyncio.sleep(5)
        return graceful_complete(input)


class Skipped(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207 DX309?
            await context.heartbeat()
            web = await self._looms.web(input, timeout=5)
            if web.over:
                break
            if web.queued:
                continue
            await asyncio.sleep(5)
        return graceful_complete(input)


class Told(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        rows, first = 0, True
        while True:  # expect: DX203 DX207
            if not first:
                await asyncio.sleep(5)
            first = False
            await context.heartbeat()
            web = await self._looms.web(input, timeout=5)
            if web.over:
                break
            if web.rows != rows:
                rows = web.rows
                continue
            await asyncio.sleep(1)
        return graceful_complete(input)


class Weaving(Flow[str]):
    def get_steps(self) -> StepList[str]:
        looms = Looms()
        return StepList.start_step(NotAwaited(looms)).other_steps(
            AfterErrors(looms), Skipped(looms), Told(looms)
        )
