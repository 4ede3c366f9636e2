from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta

from kilns import Kilns

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


class AwaitKiln(Step[str]):
    """A plain Exception lets a cancellation through; the others raise it again."""

    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=timedelta(hours=4)).on_execute_failure_proceed_to(
            GiveUp
        )

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            try:
                kiln = await self._kilns.find(input, timeout=5)
            except asyncio.CancelledError:
                print("stopped")
                raise
            if kiln.cold or kiln.broken:
                return go_to(Open, input)
            await context.heartbeat()
            try:
                await asyncio.sleep(5)
            except Exception:
                continue


class Open(Step[str]):
    def __init__(self, kilns: Kilns) -> None:
        self._kilns = kilns

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        watching = asyncio.create_task(self._kilns.watch(input, timeout=50))
        try:
            await self._kilns.open(input, timeout=5)
        except BaseException as error:
            raise RuntimeError("stuck") from error
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
        try:
            size = int(input)
        except:
            return force_fail("no number")
        return graceful_complete(size)


class Firing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        kilns = Kilns()
        return StepList.start_step(AwaitKiln(kilns)).other_steps(GiveUp(), Open(kilns))
