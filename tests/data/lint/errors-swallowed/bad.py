from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    go_to,
    graceful_complete,
)
from gauges import Gauge, Gauges

WAIT = StepOptions(execute_method_timeout=timedelta(hours=1))
log = logging.getLogger(__name__)


class AwaitLevel(Step[str]):
    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            try:
                gauge = await self._gauges.read(input, timeout=5)
            except asyncio.CancelledError:
                raise
            except Exception as error:  # expect: DX307
                log.warning("gauge %s: %s", input, error)
                await asyncio.sleep(5)
                continue
            if gauge.settled:
                return go_to(AwaitFlood, input)
            await context.heartbeat(gauge.level)  # expect: DX304
            await asyncio.sleep(5)


class AwaitFlood(Step[str]):
    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def get_step_options(self) -> StepOptions:  # expect: DX202 DX207
        return WAIT

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while True:
            gauge = await self._read(input)
            if gauge is not None and gauge.settled:
                return graceful_complete(input)
            with contextlib.suppress(Exception):  # expect: DX307
                if (await self._gauges.flood(input, timeout=5)).over:
                    return graceful_complete("flood")
            await context.heartbeat()
            await asyncio.sleep(5)

    async def _read(self, name: str) -> Gauge | None:
        try:
            return await self._gauges.read(name, timeout=5)
        except Exception:  # expect: DX307
            return None


class Watching(Flow[str]):
    def get_steps(self) -> StepList[str]:
        gauges = Gauges()
        return StepList.start_step(AwaitLevel(gauges)).other_steps(AwaitFlood(gauges))
