from __future__ import annotations

import asyncio
from datetime import timedelta
from enum import Enum

from vaults import Vaults

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    force_fail,
    go_to,
    graceful_complete,
)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


WAIT = StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(GiveUp)


class Lock(Enum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Polling(Step[str]):
    def __init__(self, vaults: Vaults) -> None:
        self.vaults = vaults

    def get_step_options(self) -> StepOptions:
        return WAIT


class Named(Polling):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            async with asyncio.timeout(5):
                lock = await self.vaults.lock(input)
            match lock:
                case Lock.SUCCEEDED:
                    return go_to(Pending, input)
                case Lock.FAILED | Lock.CANCELLED:
                    return force_fail("no way in")
            await context.heartbeat()
            await asyncio.sleep(5)


class Pending(Polling):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        lock = Lock.QUEUED
        while lock in (Lock.QUEUED, Lock.RUNNING):
            async with asyncio.timeout(5):
                lock = await self.vaults.lock(input)
            await context.heartbeat()
            await asyncio.sleep(5)
        return go_to(Over, input)


class Over(Polling):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            async with asyncio.timeout(5):
                door = await self.vaults.door(input)
            if door.done:
                return graceful_complete(door.state)
            await context.heartbeat()
            await asyncio.sleep(5)


class Opening(Flow[str]):
    def get_steps(self) -> StepList[str]:
        vaults = Vaults()
        return StepList.start_step(Named(vaults)).other_steps(
            GiveUp(), Pending(vaults), Over(vaults)
        )
