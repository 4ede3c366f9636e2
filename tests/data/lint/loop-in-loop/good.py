from __future__ import annotations

from bridges import Bridges
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete


class Measure(Step[str]):
    def __init__(self, bridges: Bridges) -> None:
        self._bridges = bridges

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        height = await self._bridges.height(input, timeout=5)
        await self._bridges.run(input, timeout=5)
        return graceful_complete(height)


class Passing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(Measure(Bridges()))
