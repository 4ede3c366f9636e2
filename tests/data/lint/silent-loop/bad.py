from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Flow,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Stream,
    force_fail,
    go_to,
    graceful_complete,
)
from mills import Mills

GRINDING = Stream("Grinding", str, 1 << 16)
WAIT = StepOptions(execute_method_timeout=timedelta(hours=1))


class AwaitMill(Step[str]):
    def __init__(self, mills: Mills) -> None:
        self._mills = mills

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX103
            async with asyncio.timeout(5):
                state = await self._mills.state(input)
            if state == "ground":
                return go_to(AwaitSacks, input)
            if state == "broken":
                return force_fail(state)
            await asyncio.sleep(20)


class AwaitSacks(Step[str]):
    def __init__(self, mills: Mills) -> None:
        self._mills = mills

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        written = ""
        while True:  # expect: DX103
            async with asyncio.timeout(5):
                state = await self._mills.sacks(input)
            if state in ("packed", "failed"):
                return graceful_complete(state)
            if state != written:
                GRINDING.write(context, state)
                written = state
            await asyncio.sleep(20)


class Milling(Flow[str]):
    def __init__(self) -> None:
        self._mills = Mills()

    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitMill(self._mills)).other_steps(AwaitSacks(self._mills))

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(GRINDING)
