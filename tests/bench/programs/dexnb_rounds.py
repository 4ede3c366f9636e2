"""Poll rounds of dexnb; with `interval` 0, heartbeats that nothing waits between."""

from __future__ import annotations

import asyncio
from typing import Any

from dexnb import AsyncContext, Flow, Runtime, Step, StepDecision, StepList, graceful_complete
from tests.bench.programs.dexnb_flows import settings
from tests.bench.programs.meter import Meter, answer, arguments
from tests.bench.programs.polled import call
from tests.bench.programs.stored_beats import StoredBeats

WARM_SECONDS = 0.5


class Poll(Step[int]):
    """Polls for as long as the program runs."""

    interval = 0.0
    rounds = 0
    running = 0

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Call, beat, sleep."""
        Poll.running += 1
        await asyncio.sleep(Poll.interval * (input % 100) / 100)
        number = 0
        while True:
            number += 1
            state = await call() if Poll.interval else "RUNNING"
            await context.heartbeat({"state": state, "round": number})
            Poll.rounds += 1
            await asyncio.sleep(Poll.interval)
        return graceful_complete()


class PollingFlow(Flow[int]):
    """One polling Step."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Poll())


async def measured(store: str, pollers: int, seconds: float) -> dict[str, Any]:
    """Count the rounds, and the heartbeats in the store, of so many seconds."""
    stored = StoredBeats()
    async with Runtime(store) as runtime:
        flow = PollingFlow()
        await asyncio.gather(*(runtime.start(flow, f"poll-{n}", n) for n in range(pollers)))
        while Poll.running < pollers:
            await asyncio.sleep(0.05)
        await asyncio.sleep(WARM_SECONDS)
        with Meter() as meter:
            before, kept = Poll.rounds, stored.count
            await asyncio.sleep(seconds)
            rounds, kept = Poll.rounds - before, stored.count - kept
    return {
        **meter.figures(rounds),
        "stored_rate": kept / meter.seconds,
        "stored_cpu_us": meter.cpu_seconds / kept * 1e6,
        "settings": settings(store) | {"synchronous": "NORMAL"},
    }


def main() -> None:
    """Answer."""
    asked = arguments()
    Poll.interval = asked["interval"]
    answer(**asyncio.run(measured(asked["store"], asked["pollers"], asked["seconds"])))


if __name__ == "__main__":
    main()
