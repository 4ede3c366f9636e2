from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import AsyncContext, Context, Flow, Step, StepDecision, StepList, StepOptions
from dexnb import force_fail, go_to, graceful_complete
from bottlers import Bottlers

LONGEST = timedelta(hours=4)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class Bottling(Step[str]):
    def __init__(self, bottlers: Bottlers) -> None:
        self._bottlers = bottlers

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=LONGEST).on_execute_failure_proceed_to(GiveUp)


class Fill(Bottling):
    """A helper of a helper reads it."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        known = self._first(context)
        while (bottles := await self._bottlers.bottles(input, timeout=5)).open:
            if bottles.number > known:
                await context.heartbeat(bottles.number)
            await context.heartbeat(known)
            await asyncio.sleep(30)
        return go_to(Cork, input)

    def _first(self, context: AsyncContext) -> int:
        return first_of(context)


def first_of(context: AsyncContext) -> int:
    return (context.get_last_heartbeat_value(int) or -1) + 1


class Cork(Bottling):
    """That there is one tells enough."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        if not context.has_last_heartbeat_value():
            await self._bottlers.cork(input, timeout=5)
        while (corks := await self._bottlers.corks(input, timeout=5)).missing:
            await context.heartbeat(corks.number)
            await asyncio.sleep(30)
        return go_to(Stick, input)


class Stick(Bottling):
    """Beats without a value keep nothing."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while (await self._bottlers.labels(input, timeout=5)).missing:
            await context.heartbeat()
            await context.heartbeat(None)
            await asyncio.sleep(30)
        return go_to(Count, input)


class Count(Step[str]):
    """Waits for nobody: its heartbeats show how far it is."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        for number, bottle in enumerate(input.split()):
            await context.heartbeat((number, bottle))
        return graceful_complete(input)


class Cellar(Flow[str]):
    def get_steps(self) -> StepList[str]:
        bottlers = Bottlers()
        return StepList.start_step(Fill(bottlers)).other_steps(
            Cork(bottlers), Stick(bottlers), Count(), GiveUp()
        )
