"""Flows of dexnb: all in flight until the process is killed, then all to the end in the next."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from dexnb import AsyncContext, Flow, Runtime, Step, StepDecision, StepList, go_to
from dexnb import graceful_complete as complete
from tests.bench.programs.dexnb_flows import settings
from tests.bench.programs.meter import answer, arguments


class Prepare(Step[int]):
    """Does its work once."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Go on."""
        return go_to(Finish, input)


class Finish(Step[int]):
    """Blocks in the process that is killed."""

    blocks = True
    running = 0

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Wait to be killed, or end."""
        Finish.running += 1
        if Finish.blocks:
            await asyncio.sleep(3600)
        return complete(input)


class TwoSteps(Flow[int]):
    """One Step after the other."""

    def get_steps(self) -> StepList[int]:
        """Give both."""
        return StepList.start_step(Prepare()).other_steps(Finish())


async def fill(store: str, flows: int) -> None:
    """Have so many in flight, say so, and wait to be killed."""
    async with Runtime(store) as runtime:
        flow = TwoSteps()
        await asyncio.gather(*(runtime.start(flow, f"flow-{n}", n) for n in range(flows)))
        while Finish.running < flows:
            await asyncio.sleep(0.01)
        answer(ready=flows)
        await asyncio.sleep(3600)


async def resume(store: str, flows: int) -> dict[str, Any]:
    """Open the same file and wait for all to end."""
    Finish.blocks = False
    began = time.perf_counter()
    async with Runtime(store) as runtime:
        runtime.register(TwoSteps())
        while await runtime.runs(status="RUNNING", limit=1):
            await asyncio.sleep(0.005)
        seconds = time.perf_counter() - began
        ended = len(await runtime.runs(status="COMPLETED", limit=2 * flows))
    if ended != flows:
        message = f"dexnb: {ended} of {flows} flows are complete after the kill"
        raise RuntimeError(message)
    return {"seconds": seconds, "rate": flows / seconds, "settings": settings(store)}


def main() -> None:
    """Do what this process is for."""
    asked = arguments()
    if asked["role"] == "fill":
        asyncio.run(fill(asked["store"], asked["flows"]))
    else:
        answer(**asyncio.run(resume(asked["store"], asked["flows"])))


if __name__ == "__main__":
    main()
