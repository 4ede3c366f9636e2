from __future__ import annotations

import asyncio
import time
from datetime import timedelta

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
from ovens import Ovens

WAIT = StepOptions(execute_method_timeout=timedelta(hours=1))


class AwaitHeat(Step[str]):
    """By the clock."""

    def __init__(self, ovens: Ovens) -> None:
        self._ovens = ovens

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        until = time.monotonic() + 600
        while time.monotonic() < until:  # expect: DX105
            oven = await self._ovens.look(input, timeout=5)
            if oven.hot or oven.broken:
                return go_to(AwaitBread, input)
            await context.heartbeat(oven.heat)  # expect: DX304
            await asyncio.sleep(10)
        return force_fail("too slow")


class AwaitBread(Step[str]):
    """By the number of its rounds, in two ways."""

    def __init__(self, ovens: Ovens) -> None:
        self._ovens = ovens

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        for _ in range(60):  # expect: DX105
            bread = await self._ovens.bread(input, timeout=5)
            if bread.baked or bread.burnt:
                break
            await context.heartbeat()
            await asyncio.sleep(10)
        rounds = 0
        while True:
            crust = await self._ovens.crust(input, timeout=5)
            if crust.brown or rounds > 30:  # expect: DX105
                return go_to(AwaitRolls, input)
            rounds += 1
            await context.heartbeat(rounds)  # expect: DX304
            await asyncio.sleep(10)


class AwaitRolls(Step[str]):
    """By a timeout around the whole of it."""

    def __init__(self, ovens: Ovens) -> None:
        self._ovens = ovens

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with asyncio.timeout(600):  # expect: DX105
            while True:
                rolls = await self._ovens.rolls(input, timeout=5)
                if rolls.baked or rolls.burnt:
                    return graceful_complete(input)
                await context.heartbeat()
                await asyncio.sleep(10)


class Baking(Flow[str]):
    def __init__(self) -> None:
        self._ovens = Ovens()

    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitHeat(self._ovens)).other_steps(
            AwaitBread(self._ovens), AwaitRolls(self._ovens)
        )
