"""E07: a sleeping Step is woken early, and nothing is polled twice."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise
from typing import Any

import anyio
import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.engine.attempt import Attempt
from dexnb.flow.context import AsyncContext
from tests.engine import elsewhere
from tests.engine.flows import finished, flow, step, with_runtime


def clock() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


def attempt_of(runtime: Runtime) -> Attempt:
    """Give the one attempt that runs."""
    (attempt,) = runtime.engine.worker.live.values()
    return attempt


@pytest.mark.parametrize("sleep", [asyncio.sleep, anyio.sleep])
@with_runtime
async def test_e07_an_interval_of_600_s_is_left_at_once(runtime: Runtime, sleep: Any) -> None:
    """The next poll comes when it is asked for, and the one after that by the new interval."""
    interval = 600.0
    polls: list[float] = []

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        for _ in range(4):
            polls.append(clock())
            await context.heartbeat()
            await sleep(interval)
        return graceful_complete()

    run = await runtime.start(flow(step(waits, heartbeat=700)), "flow")
    await asyncio.sleep(10)
    interval = 2.0
    runtime.engine.hosts.wake(attempt_of(runtime))
    await finished(run)
    assert polls == [0, 10, 12, 14]


@with_runtime
async def test_e07_a_call_is_not_cut_short_by_a_wake(runtime: Runtime) -> None:
    """Only a sleep ends early: what another module waits for is a call."""
    ended: list[float] = []

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        await elsewhere.wait_between_polls()
        ended.append(clock())
        return graceful_complete()

    run = await runtime.start(flow(waits), "flow")
    await asyncio.sleep(1)
    runtime.engine.hosts.wake(attempt_of(runtime))
    runtime.engine.hosts.wake_all()
    await finished(run)
    assert ended == [5]


@with_runtime
async def test_e07_thirty_random_wakes_make_one_timer_and_no_double_poll(
    runtime: Runtime,
) -> None:
    """Each poll ends exactly one sleep, whether by a wake or by its time."""
    dice = random.Random(3)
    polls: list[float] = []
    wakes: set[float] = set()

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        while len(polls) < 60:
            polls.append(round(clock(), 6))
            await context.heartbeat()
            await asyncio.sleep(1)
        return graceful_complete()

    run = await runtime.start(flow(waits), "flow")
    for _ in range(30):
        await asyncio.sleep(dice.random() * 0.6)
        wakes.add(round(clock(), 6))
        for _ in range(dice.randrange(1, 3)):
            runtime.engine.hosts.wake(attempt_of(runtime))
    await finished(run)
    assert len(set(polls)) == len(polls) == 60
    assert wakes <= set(polls)
    for earlier, later in pairwise(polls):
        assert later in wakes or later - earlier == pytest.approx(1)


@with_runtime
async def test_a_wake_is_for_one_attempt_or_for_all(runtime: Runtime) -> None:
    """Other Flows sleep on."""
    polls: list[tuple[str, float]] = []

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        for _ in range(3):
            polls.append((context.flow_id, clock()))
            await asyncio.sleep(100)
            await context.heartbeat()
        return graceful_complete()

    for name in ("a", "b"):
        await runtime.start(flow(step(waits, heartbeat=1000)), name)
    await asyncio.sleep(1)
    (first, _) = runtime.engine.worker.live.values()
    runtime.engine.hosts.wake(first)
    await asyncio.sleep(1)
    runtime.engine.hosts.wake_all()
    await asyncio.sleep(1)
    assert polls == [("a", 0), ("b", 0), ("a", 1), ("a", 2), ("b", 2)]
