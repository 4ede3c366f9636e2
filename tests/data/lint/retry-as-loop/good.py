from __future__ import annotations

from datetime import timedelta

from dexnb import (
    AsyncContext,
    Flow,
    RetryPolicy,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    graceful_complete,
    retry_after,
)
from forges import Forges


class StartForge(Step[str]):
    def __init__(self, forges: Forges) -> None:
        self._forges = forges

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_retry=RetryPolicy(
                initial_interval=timedelta(seconds=1), backoff_coefficient=2.0
            )
        )

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        reply = await self._forges.post(input, timeout=5)
        if reply.status_code == 429:
            raise retry_after(timedelta(seconds=reply.wait))
        if reply.state == "failed":
            raise RuntimeError(reply.text)
        return graceful_complete(reply.text)


class Forging(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(StartForge(Forges()))
