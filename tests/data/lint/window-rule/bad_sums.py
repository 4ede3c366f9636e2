"""Rounds whose pauses and calls are long only together."""

from __future__ import annotations

import asyncio

import httpx
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete

OVER = ("ripe", "rotten")
TICKS = 120


class RipenTwice(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with httpx.AsyncClient(timeout=5) as client:
            while (await client.get("/cheeses/" + input)).json()["state"] not in OVER:  # expect: DX203 DX207
                await context.heartbeat()
                await asyncio.sleep(30)
                await asyncio.sleep(30)  # expect: DX201
        return graceful_complete(input)


class RipenInTicks(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async with httpx.AsyncClient(timeout=5) as client:
            while (await client.get("/cheeses/" + input)).json()["state"] not in OVER:  # expect: DX203 DX207
                await context.heartbeat()
                for _ in range(TICKS):
                    await asyncio.sleep(1)  # expect: DX201
        return graceful_complete(input)


class RipenThree(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async with httpx.AsyncClient(timeout=20) as client:
            while True:  # expect: DX203 DX207
                rind = await client.get("/rinds/" + input)
                core = await client.get("/cores/" + input)
                mould = await client.get("/moulds/" + input)
                if rind.json()["ripe"] and core.json()["ripe"] and mould.json()["ripe"]:
                    return graceful_complete(input)
                await context.heartbeat()
                await asyncio.sleep(25)  # expect: DX201


class RipenAll(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        left = set(input.split())
        async with httpx.AsyncClient(timeout=5) as client:
            while left:  # expect: DX203 DX207
                for name in list(left):
                    if (await client.get("/cheeses/" + name)).json()["state"] in OVER:  # expect: DX201?
                        left.discard(name)
                await context.heartbeat()
                await asyncio.sleep(5)
        return graceful_complete(input)


class Ripening(Flow[str]):
    def get_steps(self) -> StepList[str]:
        others = (RipenInTicks(), RipenThree(), RipenAll())
        return StepList.start_step(RipenTwice()).other_steps(*others)
