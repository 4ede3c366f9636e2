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


class AwaitForge(Step[str]):
    def __init__(self, forges: Forges) -> None:
        self._forges = forges

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        state = await self._forges.state(input, timeout=5)
        if state != "done":
            raise retry_after(timedelta(seconds=10))  # expect: DX102
        return graceful_complete(input)


class BuildPending(Exception):
    pass


class AwaitBuild(Step[str]):
    def __init__(self, forges: Forges) -> None:
        self._forges = forges

    def get_step_options(self) -> StepOptions:
        return StepOptions(
            execute_retry=RetryPolicy(  # expect: DX102
                initial_interval=timedelta(seconds=5), backoff_coefficient=1.0
            )
        )

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:  # expect: DX401
        build = await self._forges.build(input, timeout=5)
        if build.state == "running":
            raise BuildPending(input)  # expect: DX301
        return graceful_complete(build.url)


class Forging(Flow[str]):
    def get_steps(self) -> StepList[str]:
        forges = Forges()
        return StepList.start_step(AwaitForge(forges)).other_steps(AwaitBuild(forges))
