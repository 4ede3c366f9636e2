"""Many pollers of dexnb on its own threads, beside a quiet or a busy main thread."""

from __future__ import annotations

import asyncio
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dexnb
from dexnb import (
    AsyncContext,
    Flow,
    RuntimeOptions,
    Step,
    StepDecision,
    StepList,
    graceful_complete,
)
from tests.bench.programs.dexnb_flows import settings
from tests.bench.programs.meter import Meter, answer, arguments, percentile, resident
from tests.bench.programs.stored_beats import StoredBeats

WARM_SECONDS = 2.0


class Poll(Step[int]):
    """Beats on time for as long as the program runs."""

    interval = 2.0
    pollers = 1
    lags: list[float] = []  # noqa: RUF012 - one list of the whole program

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Beat at fixed times, each poller at its own."""
        loop = asyncio.get_running_loop()
        due = loop.time() + Poll.interval * input / Poll.pollers
        number = 0
        while True:
            await asyncio.sleep(max(0.0, due - loop.time()))
            Poll.lags.append(loop.time() - due)
            number += 1
            await context.heartbeat({"state": "RUNNING", "round": number})
            due += Poll.interval
        return graceful_complete()


class PollingFlow(Flow[int]):
    """One polling Step."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Poll())


def compute(seconds: float) -> None:
    """Compute in pure Python, as a busy cell does."""
    ends, number = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        for _ in range(10_000):
            number = (number * 31 + 7) % 1_000_003


def started(session: dexnb.Session, stored: StoredBeats) -> int:
    """Start all of them, wait until each has beaten, and give the bytes that they hold."""
    flow = PollingFlow()
    session.start(flow, "warm", 0)
    before = resident()
    with ThreadPoolExecutor(32) as threads:
        starts = (threads.submit(session.start, flow, f"p-{n}", n) for n in range(Poll.pollers))
        for start in list(starts):
            start.result()
    time.sleep(Poll.interval + WARM_SECONDS)
    if stored.count < Poll.pollers:
        message = f"dexnb: {stored.count} heartbeats of {Poll.pollers} pollers are in the store"
        raise RuntimeError(message)
    return resident() - before


def measured(store: str, seconds: float, burden: str) -> dict[str, Any]:
    """Give lag, share of the heartbeats due that are stored, cores and memory."""
    stored = StoredBeats()
    options = RuntimeOptions(worker_concurrency=2 * Poll.pollers + 10)
    with dexnb.open(store, options=options) as session:
        grown = started(session, stored)
        Poll.lags.clear()
        with Meter() as meter:
            before = stored.count
            (compute if burden == "compute" else time.sleep)(seconds)
            kept = stored.count - before
        lags = Poll.lags[:]
    offered = (Poll.pollers + 1) * meter.seconds / Poll.interval
    return {
        **meter.figures(kept),
        "share": kept / offered,
        "lag_p50_ms": percentile(lags, 0.5) * 1e3,
        "lag_p99_ms": percentile(lags, 0.99) * 1e3,
        "kb_each": grown / Poll.pollers / 1e3,
        "python": sys.version.split()[0],
        "settings": settings(store) | {"synchronous": "NORMAL"},
    }


def main() -> None:
    """Answer."""
    asked = arguments()
    Poll.pollers, Poll.interval = asked["pollers"], asked["interval"]
    answer(**measured(asked["store"], asked["seconds"], asked["burden"]))


if __name__ == "__main__":
    main()
