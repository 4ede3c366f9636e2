"""Rounds that pause or call several times, and show in between that they live."""

from __future__ import annotations

import asyncio

import httpx
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete

OVER = ("ripe", "rotten")


class Ripen(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with httpx.AsyncClient(timeout=5) as client:
            while (await client.get("/cheeses/" + input)).json()["state"] not in OVER:  # expect: DX203 DX207
                await context.heartbeat()
                await asyncio.sleep(30)
                await context.heartbeat()
                await asyncio.sleep(30)
        return graceful_complete(input)


class RipenInTicks(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async with httpx.AsyncClient(timeout=5) as client:
            while (await client.get("/cheeses/" + input)).json()["state"] not in OVER:  # expect: DX203 DX207
                for _ in range(120):
                    await context.heartbeat()
                    await asyncio.sleep(1)
        return graceful_complete(input)


class RipenAll(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        left = set(input.split())
        async with httpx.AsyncClient(timeout=5) as client:
            while left:  # expect: DX203 DX207
                for name in list(left):
                    await context.heartbeat()
                    if (await client.get("/cheeses/" + name)).json()["state"] in OVER:
                        left.discard(name)
                await asyncio.sleep(30)
                await context.heartbeat()
        return graceful_complete(input)


class RipenEither(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async with httpx.AsyncClient() as client:
            while True:  # expect: DX203 DX207
                async with asyncio.timeout(20):
                    rind = await client.get("/rinds/" + input)
                    core = await client.get("/cores/" + input)
                    mould = await client.get("/moulds/" + input)
                if rind.json()["ripe"] and core.json()["ripe"] and mould.json()["ripe"]:
                    return graceful_complete(input)
                await context.heartbeat()
                if core.json()["soft"]:
                    await asyncio.sleep(25)
                else:
                    await asyncio.sleep(30)


class Ripening(Flow[str]):
    def get_steps(self) -> StepList[str]:
        others = (RipenInTicks(), RipenAll(), RipenEither())
        return StepList.start_step(Ripen()).other_steps(*others)
