"""What it costs a Step that its suspensions are seen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

from dexnb.clock import perf_counter
from dexnb.engine.rounds import Driver
from dexnb.engine.telemetry import Telemetry

ROUNDS = 20_000
GOAL = 5e-6


async def call() -> None:
    """Suspend once, for one turn of the loop."""
    await asyncio.sleep(0)


async def poll(rounds: int) -> None:
    """Suspend so often."""
    for _ in range(rounds):
        await call()


async def driven(rounds: int) -> None:
    """Suspend as often, under the driver."""
    telemetry = Telemetry(perf_counter, lambda: 0.0, 1 << 20)

    def record(kind: Any, payload: dict[str, Any]) -> None:
        telemetry.record("run", "flow", kind, "Step-1", 1, payload)

    attempt: Any = SimpleNamespace(
        links=SimpleNamespace(tick=asyncio.get_running_loop().time),
        closing=None,
        record=record,
        who="Step-1",
        method=poll,
    )
    host: Any = SimpleNamespace(current=None, since=0.0)
    await Driver(poll(rounds), attempt, host)


def best(work: Callable[[int], Coroutine[Any, Any, None]]) -> float:
    """Give the seconds of one suspension, the best of several tries."""
    times = []
    for _ in range(5):
        began = perf_counter()
        asyncio.run(work(ROUNDS))
        times.append(perf_counter() - began)
    return min(times) / ROUNDS


def test_what_is_measured_runs() -> None:
    """So that the figures do not wait for the day on which somebody asks for them."""
    asyncio.run(driven(3))


@pytest.mark.bench
def test_seeing_a_suspension_costs_less_than_five_microseconds() -> None:
    """Driver against a bare task, its telemetry entry included."""
    bare, under_driver = best(poll), best(driven)
    print(
        f"\nrounds: {bare * 1e6:.2f} us a bare suspension, {under_driver * 1e6:.2f} us driven: "
        f"{(under_driver - bare) * 1e6:.2f} us for the round"
    )
    assert under_driver - bare < max(GOAL, 4 * bare)
