from __future__ import annotations

import asyncio

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from kilns import Kilns


class FirePots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX203 DX207
            firing = await self._kilns.firing(input, timeout=5)
            if firing.over:
                return graceful_complete(firing.grade)
            await context.heartbeat()
            await asyncio.sleep(30)  # expect: DX201
            print(firing.degrees)
            await self._rest()

    async def _rest(self) -> None:
        for _ in range(20):
            await asyncio.sleep(1)


class GlazePots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207
            top = await self._kilns.glaze(input, timeout=15)
            bottom = await self._kilns.bottom(input, timeout=15)
            if top.over and bottom.over:
                return graceful_complete(input)
            await context.heartbeat()
            await asyncio.sleep(25)  # expect: DX201


class CoolPots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        hot = set(input.split())
        while hot:  # expect: DX203 DX207
            for pot in list(hot):
                if (await self._kilns.cooling(pot, timeout=5)).over:
                    hot.discard(pot)
            await context.heartbeat()
            await asyncio.sleep(20)  # expect: DX201?
        return graceful_complete(input)


class SortPots(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:  # expect: DX203 DX207
            async with asyncio.timeout(10):
                upper = await self._kilns.upper(input)
                lower = await self._kilns.lower(input)
            if upper.over and lower.over:
                return graceful_complete(input)
            # No more than 40 s lie between two of these beats, calls included.
            for _ in range(6):
                await context.heartbeat()
                await asyncio.sleep(30)


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        kilns = Kilns()
        return StepList.start_step(FirePots(kilns)).other_steps(
            GlazePots(kilns), CoolPots(kilns), SortPots(kilns)
        )
