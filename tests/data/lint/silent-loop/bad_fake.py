"""What is asked is a fake beside the Step, as in notebooks and tests: a poll all the same."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    force_fail,
    go_to,
    graceful_complete,
)
from dexnb.clock import sleep_blocking

LONGEST = timedelta(hours=1)


class FakeOvens:
    """Bakes for five rounds."""

    def __init__(self) -> None:
        self._asked = 0

    async def state(self, loaf: str) -> str:
        self._asked += 1
        return "DONE" if self._asked > 5 else "BAKING"

    def state_now(self, loaf: str) -> str:
        self._asked += 1
        return "DONE" if self._asked > 5 else "BAKING"


class _Bounded(Step[str]):
    def __init__(self, ovens: FakeOvens) -> None:
        self.ovens = ovens

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_method_timeout=LONGEST,
            execute_retry=RetryPolicy(maximum_attempts=3, total_duration=LONGEST),
        ).on_execute_failure_proceed_to(GiveUp)


class AwaitLoaf(_Bounded):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX103
            async with asyncio.timeout(5):
                state = await self.ovens.state(input)
            if state == "DONE":
                return go_to(AwaitCake, input)
            if state == "BURNT":
                return force_fail("burnt")
            await asyncio.sleep(2)


class AwaitCake(_Bounded):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:  # expect: DX103
            state = await self.ovens.state(input)  # expect: DX104?
            if state == "DONE":
                return go_to(AwaitPie, input)
            if state == "BURNT":
                return force_fail("burnt")
            await asyncio.sleep(2)  # expect: DX201?


class AwaitPie(_Bounded):
    """A plain method may ask its own object only, so that it cannot be told."""

    def execute(self, context: Context, input: str) -> StepDecision:
        while self.ovens.state_now(input) == "BAKING":  # expect: DX103?
            sleep_blocking(2)  # expect: DX201?
        return go_to(AwaitTart, input)


async def tart(name: str) -> str:
    return "DONE"


class AwaitTart(_Bounded):
    """A stub that a reader of a notebook writes first."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while await tart(input) not in ("DONE", "BURNT"):  # expect: DX103 DX104?
            await asyncio.sleep(2)  # expect: DX201?
        return graceful_complete()


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail("no bread today")


class Baking(Flow[str]):
    def get_steps(self) -> StepList[str]:
        ovens = FakeOvens()
        return StepList.start_step(AwaitLoaf(ovens)).other_steps(
            AwaitCake(ovens), AwaitPie(ovens), AwaitTart(ovens), GiveUp()
        )
