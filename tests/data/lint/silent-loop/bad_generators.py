"""Generators that ask, or pause, for the loop that goes through them; and one that has pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete

OVER = ("dry", "torn")


async def states(client: httpx.AsyncClient, name: str) -> AsyncIterator[str]:
    while True:
        yield (await client.get("/sheets/" + name)).json()["state"]
        await asyncio.sleep(20)


async def answers(client: httpx.AsyncClient, name: str) -> AsyncIterator[httpx.Response]:
    while True:
        yield await client.get("/sheets/" + name)


async def pages(client: httpx.AsyncClient) -> AsyncIterator[dict[str, str]]:
    after = ""
    while True:
        page = (await client.get("/sheets", params={"after": after})).json()
        yield page
        after = page["next"]
        await asyncio.sleep(1)


async def each(client: httpx.AsyncClient, names: list[str]) -> AsyncIterator[str]:
    for name in names:
        yield (await client.get("/sheets/" + name)).text
        await asyncio.sleep(1)


class Dry(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with httpx.AsyncClient(timeout=5) as client:
            async for state in states(client, input):  # expect: DX103 DX203 DX207
                if state in OVER:
                    return graceful_complete(state)
        return graceful_complete(input)


class DryAgain(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async with httpx.AsyncClient(timeout=5) as client:
            async for answer in answers(client, input):  # expect: DX103 DX203 DX207
                if answer.json()["state"] in OVER:
                    break
                await asyncio.sleep(20)
        return graceful_complete(input)


class DryAside(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async def moods() -> AsyncIterator[str]:
            while True:
                yield (await client.get("/sheets/" + input)).json()["state"]
                await asyncio.sleep(20)  # expect: DX201?

        async with httpx.AsyncClient(timeout=5) as client:
            async for mood in moods():  # expect: DX103 DX203 DX207
                if mood in OVER:
                    break
        return graceful_complete(input)


class Count(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async with httpx.AsyncClient(timeout=5) as client:
            async for page in pages(client):
                if not page["next"]:
                    break
            async for text in each(client, input.split()):
                if text == input:
                    break
        return graceful_complete(input)


class Drying(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Dry()).other_steps(DryAgain(), DryAside(), Count())
