from __future__ import annotations

import asyncio
from datetime import timedelta
from enum import Enum

from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    force_fail,
    go_to,
    graceful_complete,
)
from vaults import Vaults

WAIT = StepOptions(execute_method_timeout=timedelta(hours=1))


class Lock(Enum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Polling(Step[str]):
    def __init__(self, vaults: Vaults) -> None:
        self.vaults = vaults

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT


class OnlySuccess(Polling):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        state = ""
        while state != "succeeded":  # expect: DX308
            async with asyncio.timeout(5):
                state = await self.vaults.state(input)
            await context.heartbeat(state)  # expect: DX304
            await asyncio.sleep(5)
        return go_to(OneIsMissing, input)


class OneIsMissing(Polling):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX308
            async with asyncio.timeout(5):
                lock = await self.vaults.lock(input)
            if lock is Lock.SUCCEEDED:
                return go_to(TooEarly, input)
            if lock is Lock.FAILED:
                return force_fail("no way in")
            await context.heartbeat(lock)  # expect: DX304
            await asyncio.sleep(5)


class TooEarly(Polling):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        lock = Lock.RUNNING
        while lock == Lock.RUNNING:  # expect: DX308
            async with asyncio.timeout(5):
                lock = await self.vaults.lock(input)
            await context.heartbeat(lock)  # expect: DX304
            await asyncio.sleep(5)
        return go_to(MayBeTooEarly, input)


class MayBeTooEarly(Polling):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX308?
            async with asyncio.timeout(5):
                door = await self.vaults.door(input)
            if door.state != "running":
                return graceful_complete(door.state)
            await context.heartbeat(door.state)  # expect: DX304
            await asyncio.sleep(5)


class Opening(Flow[str]):
    def get_steps(self) -> StepList[str]:
        vaults = Vaults()
        return StepList.start_step(OnlySuccess(vaults)).other_steps(
            OneIsMissing(vaults), TooEarly(vaults), MayBeTooEarly(vaults)
        )
