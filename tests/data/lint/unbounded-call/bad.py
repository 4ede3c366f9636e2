from __future__ import annotations

import asyncio
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
from printers import PrinterClient

WAIT = timedelta(minutes=5)


class SendPages(Step[str]):
    def __init__(self, printers: PrinterClient) -> None:
        self._printers = printers

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        ticket = await self._printers.send(input)  # expect: DX104
        return go_to(AwaitPages, ticket)


class AwaitPages(Step[str]):
    def __init__(self, printers: PrinterClient) -> None:
        self._printers = printers

    def get_step_options(self) -> StepOptions:
        return StepOptions(execute_method_timeout=WAIT)  # expect: DX202 DX207

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            state = await self._printers.state(input)  # expect: DX104
            if state == "printed":
                return graceful_complete(input)
            if state in ("jammed", "failed"):
                return force_fail(state)
            await context.heartbeat(state)  # expect: DX304
            await asyncio.sleep(3)  # expect: DX201?


class Printing(Flow[str]):
    def __init__(self) -> None:
        self._printers = PrinterClient()

    def get_steps(self) -> StepList[str]:
        return StepList.start_step(SendPages(self._printers)).other_steps(
            AwaitPages(self._printers)
        )
