"""A worker that is killed among thousands of Flows: it starts what is missing and runs it all.

Run as `volume_child.py STORE FLOWS`; it says `ready` once it works, and `done` when all have ended.
"""

from __future__ import annotations

import asyncio
import random
import sys
from datetime import timedelta

import dexnb as dex

COUNTED = dex.Attribute("counted", int)
STEPS = 3


class Count(dex.Step[int]):
    """Counts its executions in an Attribute, and is slow or fails now and then."""

    def get_step_options(self) -> dex.StepOptions:
        """Try again soon."""
        return dex.StepOptions(
            execute_retry=dex.RetryPolicy(initial_interval=timedelta(milliseconds=50)),
        )

    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        """Count one."""
        chance = random.random()
        if chance < 0.1:
            await asyncio.sleep(chance)
        if chance > 0.98:
            raise ConnectionError("now and then")
        COUNTED.set(context, COUNTED.get(context) + 1)
        if input < STEPS:
            return dex.go_to(Count, input + 1)
        return dex.graceful_complete(COUNTED.get(context))


class CountFlow(dex.Flow[int]):
    """One Step, a few times."""

    def get_steps(self) -> dex.StepList[int]:
        """One Step."""
        return dex.StepList.start_step(Count())

    def get_persistence_schema(self) -> dex.PersistenceSchema:
        """Keep the count."""
        return dex.PersistenceSchema.of(COUNTED)


async def main(store: str, flows: int) -> None:
    """Start the Flows that are not there yet, and stay until all have ended."""
    async with dex.Runtime(store) as runtime:
        runtime.register(CountFlow())
        print("ready", flush=True)
        known = {run.flow_id for run in await runtime.runs(limit=flows)}
        missing = [f"flow-{number}" for number in range(flows) if f"flow-{number}" not in known]
        open_runs = await runtime.runs(status="RUNNING", limit=flows)
        starts = (runtime.start(CountFlow(), flow_id, 1) for flow_id in missing)
        await asyncio.gather(*(run.wait() for run in (*open_runs, *await asyncio.gather(*starts))))
        print("done", flush=True)


if __name__ == "__main__":
    # What fails is told in the history; thousands of lines would say nothing more.
    import logging

    logging.getLogger("dexnb").setLevel(logging.CRITICAL)
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
