"""A Flow whose poll sleeps too long, alive and as a text."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete
from dexnb.jobs import InProcessJobs


class Await(Step[str]):
    """Sleeps too long; where, the test knows by the mark."""

    window = timedelta(seconds=30)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Poll."""
        jobs = InProcessJobs()
        while True:
            async with asyncio.timeout(10):
                job = await jobs.status(input)
            if job.state.value in ("succeeded", "failed"):
                return graceful_complete(job.result)
            await context.heartbeat()
            await asyncio.sleep(self.window.total_seconds() + 20)  # here


class Awaiting(Flow[str]):
    """A Flow that is alive."""

    def get_steps(self) -> StepList[str]:
        """Give its Step."""
        return StepList.start_step(Await())
