"""How fast a wait passes on the virtual clock."""

from __future__ import annotations

import asyncio
import time

import pytest

from dexnb import (
    AsyncContext,
    Clock,
    Flow,
    Runtime,
    Step,
    StepDecision,
    StepList,
    graceful_complete,
)

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

SECONDS = 2.0
ROUNDS = 300
POLL_SECONDS = 600.0
LEAST_TIMES_REAL = 1000


class Wait(Step[int]):
    """Polls every 2 s."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Beat so often."""
        for round_ in range(input):
            await asyncio.sleep(0)
            await context.heartbeat(round_)
            await asyncio.sleep(POLL_SECONDS / ROUNDS)
        return graceful_complete()


class WaitFlow(Flow[int]):
    """One polling Step."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Wait())


async def simulate() -> None:
    """Wait ten minutes in memory."""
    async with Runtime("memory:") as runtime:
        ended = await (await runtime.start(WaitFlow(), "wait", ROUNDS)).wait()
        assert ended.status == "COMPLETED"


def test_a_ten_minute_poll_passes_in_milliseconds() -> None:
    """300 rounds of an unmodified Step, the engine included, run again and again."""
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        Clock.virtual().run(simulate())
        count += 1
    rate = count / (time.perf_counter() - began)
    times = rate * POLL_SECONDS
    print(f"\nvirtual time: {rate:.0f} ten-minute polls/s alone, {times:,.0f} x real time")
    assert times > LEAST_TIMES_REAL
