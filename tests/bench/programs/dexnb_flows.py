"""Flows of dexnb: `steps` Steps each, `in_flight` at a time."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from typing import Any

from dexnb import (
    AsyncContext,
    Flow,
    Runtime,
    Step,
    StepDecision,
    StepList,
    go_to,
    graceful_complete,
)
from tests.bench.programs.meter import Meter, answer, arguments, journal_mode, percentile


class Count(Step[int]):
    """Goes to itself until it has counted down."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Count one down."""
        return graceful_complete(input) if input <= 1 else go_to(Count, input - 1)


class CountingFlow(Flow[int]):
    """As many executions as its input says."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Count())


async def run(runtime: Runtime, kind: str, flows: int, steps: int, in_flight: int) -> list[float]:
    """Run so many, and give the seconds that each took."""
    flow, names, times = CountingFlow(), iter(range(flows)), []

    async def one_after_the_other() -> None:
        for number in names:
            began = time.perf_counter()
            started = await runtime.start(flow, f"{kind}-{number}", steps)
            ended = await started.wait()
            times.append(time.perf_counter() - began)
            if ended.status != "COMPLETED":
                message = f"dexnb: {kind}-{number} is {ended.status}"
                raise RuntimeError(message)

    await asyncio.gather(*(one_after_the_other() for _ in range(in_flight)))
    return times


def settings(store: str) -> dict[str, str]:
    """Give what the store writes with."""
    return {
        "journal_mode": journal_mode(store),
        "synchronous": "FULL; fetches, leases, heartbeats NORMAL",
        "sqlite": sqlite3.sqlite_version,
    }


async def measured(store: str, flows: int, steps: int, in_flight: int) -> dict[str, Any]:
    """Warm up and measure."""
    async with Runtime(store) as runtime:
        await run(runtime, "warm", min(flows, 200), steps, min(in_flight, 200))
        with Meter() as meter:
            times = await run(runtime, "flow", flows, steps, in_flight)
    return {
        **meter.figures(flows),
        "p50_ms": percentile(times, 0.5) * 1e3,
        "p99_ms": percentile(times, 0.99) * 1e3,
        "settings": settings(store),
    }


def main() -> None:
    """Answer."""
    asked = arguments()
    names = ("store", "flows", "steps", "in_flight")
    answer(**asyncio.run(measured(*(asked[name] for name in names))))


if __name__ == "__main__":
    main()
