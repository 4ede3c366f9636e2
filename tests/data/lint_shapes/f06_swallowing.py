"""A loop whose nested try takes every error, which beats with a constant text and has no bound."""

from __future__ import annotations

import asyncio
import logging

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, force_fail, graceful_complete
from observatories import Observatory

log = logging.getLogger(__name__)


class AwaitExposure(Step[str]):
    def __init__(self, observatory: Observatory) -> None:
        self._observatory = observatory

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        try:
            while True:  # expect: DX203 DX207
                try:
                    exposure = await self._observatory.exposure(input)  # expect: DX104
                    if exposure.state == "ready":
                        return graceful_complete(exposure.image)
                    if exposure.state == "failed":
                        return force_fail(exposure.reason)
                except Exception:  # expect: DX307
                    log.exception("cannot ask for %s", input)
                await context.heartbeat("still waiting")  # expect: DX305
                await asyncio.sleep(10)  # expect: DX201?
        except asyncio.CancelledError:
            log.info("stopped")
            raise


class Observing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitExposure(Observatory()))
