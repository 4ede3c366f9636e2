from __future__ import annotations

import asyncio
from datetime import timedelta

from printers import PrinterClient

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

WAIT = timedelta(hours=4)


class GiveUp(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:
        return force_fail(f"gave up waiting for {input}")


class SendPages(Step[str]):
    def __init__(self, printers: PrinterClient) -> None:
        self._printers = printers

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        ticket = await asyncio.wait_for(self._printers.send(input), 10)
        return go_to(AwaitPages, ticket)


class AwaitPages(Step[str]):
    def __init__(self, printers: PrinterClient) -> None:
        self._printers = printers

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=WAIT).on_execute_failure_proceed_to(GiveUp)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            async with asyncio.timeout(10):
                state = await self._printers.state(input)
            if state == "printed":
                return graceful_complete(input)
            if state in ("jammed", "failed"):
                return force_fail(state)
            await context.heartbeat()
            await asyncio.sleep(3)


class Printing(Flow[str]):
    def __init__(self) -> None:
        self._printers = PrinterClient()

    def get_steps(self) -> StepList[str]:
        return StepList.start_step(SendPages(self._printers)).other_steps(
            GiveUp(), AwaitPages(self._printers)
        )
