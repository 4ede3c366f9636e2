from __future__ import annotations

import asyncio
from datetime import timedelta

from mills import Mills

from dexnb import (
    AsyncContext,
    Context,
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

GRINDING = Stream("Grinding", str, 1 << 16)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class AwaitMill(Step[str]):
    """Each state is seen once: messages alone show that it lives."""

    def __init__(self, mills: Mills) -> None:
        self._mills = mills

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(
            GiveUp
        )

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        written = context.get_last_heartbeat_value(str)
        while True:
            async with asyncio.timeout(5):
                state = await self._mills.state(input)
            if state == "ground":
                return go_to(AwaitSacks, input)
            if state == "broken":
                return force_fail(state)
            if state != written:
                GRINDING.write(context, state)
                written = state
            else:
                await context.heartbeat(written)
            await asyncio.sleep(20)


class AwaitSacks(Step[str]):
    """A task of its own beats."""

    def __init__(self, mills: Mills) -> None:
        self._mills = mills

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(
            GiveUp
        )

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        beating = asyncio.create_task(self._beat(context))
        try:
            while True:
                async with asyncio.timeout(5):
                    state = await self._mills.sacks(input)
                if state in ("packed", "failed"):
                    return graceful_complete(state)
                await asyncio.sleep(20)
        finally:
            beating.cancel()

    async def _beat(self, context: AsyncContext) -> None:
        while True:
            await context.heartbeat()
            await asyncio.sleep(15)


class Milling(Flow[str]):
    def __init__(self) -> None:
        self._mills = Mills()

    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitMill(self._mills)).other_steps(
            GiveUp(), AwaitSacks(self._mills)
        )

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(GRINDING)
