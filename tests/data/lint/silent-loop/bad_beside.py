from __future__ import annotations

import asyncio

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from looms import Looms


class Once(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        beating = asyncio.create_task(context.heartbeat())
        while not (await self._looms.web(input, timeout=5)).over:  # expect: DX103 DX203 DX207
            await asyncio.sleep(5)
        await beating
        return graceful_complete(input)


class Cancelled(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async def beat() -> None:
            while True:
                await context.heartbeat()
                await asyncio.sleep(5)

        beating = asyncio.create_task(beat())
        beating.cancel()
        while not (await self._looms.web(input, timeout=5)).over:  # expect: DX103 DX203 DX207
            await asyncio.sleep(5)
        return graceful_complete(input)


class Kept(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while not (await self._looms.web(input, timeout=5)).over:  # expect: DX103 DX203 DX207
            beat = context.heartbeat()
            await asyncio.sleep(5)
        return graceful_complete(input)


class Rare(Step[str]):
    def __init__(self, looms: Looms) -> None:
        self._looms = looms

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        beating = asyncio.create_task(self._beat(context))
        try:
            while not (await self._looms.web(input, timeout=5)).over:  # expect: DX203 DX207
                await asyncio.sleep(5)
        finally:
            beating.cancel()
        return graceful_complete(input)

    async def _beat(self, context: AsyncContext) -> None:
        while True:
            await asyncio.sleep(120)  # expect: DX201
            await context.heartbeat()


class Weaving(Flow[str]):
    def get_steps(self) -> StepList[str]:
        looms = Looms()
        return StepList.start_step(Once(looms)).other_steps(
            Cancelled(looms), Kept(looms), Rare(looms)
        )
