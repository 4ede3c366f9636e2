from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from datetime import timedelta

import httpx
import psycopg
import requests
from dexnb import AsyncContext, Context, Flow, Step, StepDecision, StepList, StepOptions
from dexnb import StepOutput, graceful_complete, heartbeat
from tides import Tides

PATIENCE = None
WAIT = StepOptions(execute_method_timeout=timedelta(hours=1))


class ByName(Step[str]):
    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    def execute(self, context: Context, input: str) -> Generator[StepOutput, None, StepDecision]:
        while requests.get(input, timeout=PATIENCE).json()["state"] not in ("over", "failed"):  # expect: DX104
            yield heartbeat()
            time.sleep(5)  # expect: DX201?
        return graceful_complete(input)


class OfTheLoop(Step[str]):
    def __init__(self, tides: Tides) -> None:
        self._tides = tides

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        while True:
            async with asyncio.timeout(PATIENCE):
                tide = await self._tides.at(input)  # expect: DX104
            if tide.over:
                return graceful_complete(input)
            await context.heartbeat()
            await asyncio.sleep(5)  # expect: DX201?


class OfTheClient(Step[str]):
    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        async with httpx.AsyncClient(timeout=httpx.Timeout(None)) as client:
            while True:
                tide = (await client.get(input)).json()  # expect: DX104
                if tide["state"] in ("over", "failed"):
                    return graceful_complete(input)
                await context.heartbeat()
                await asyncio.sleep(5)  # expect: DX201?


class ToConnect(Step[str]):
    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    def execute(self, context: Context, input: str) -> Generator[StepOutput, None, StepDecision]:  # expect: DX401
        database = psycopg.connect(input, connect_timeout=3)
        while True:
            tide = database.execute("select state from tides").fetchone()  # expect: DX104?
            if tide[0] in ("over", "failed"):
                return graceful_complete(input)
            yield heartbeat()
            time.sleep(5)  # expect: DX201?


class Sailing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(ByName()).other_steps(
            OfTheLoop(Tides()), OfTheClient(), ToConnect()
        )
