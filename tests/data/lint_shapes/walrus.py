"""A walrus in the head of a loop with a sleep: a poll like any other."""

from __future__ import annotations

import asyncio

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from plotters import Plotter


class AwaitPlot(Step[str]):
    def __init__(self, plotter: Plotter) -> None:
        self._plotter = plotter

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        while not (plot := await self._plotter.plot(input)).done:  # expect: DX103 DX104 DX203 DX207
            await asyncio.sleep(5)  # expect: DX201?
        return graceful_complete(plot.file)


class Plotting(Flow[str]):
    def get_steps(self) -> StepList[str]:
        return StepList.start_step(AwaitPlot(Plotter()))
