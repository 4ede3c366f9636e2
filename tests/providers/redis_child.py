"""Engines on a Redis store in processes of their own, which tests start, stop and kill.

Run as `python -m tests.providers.redis_child ROLE URL OWNER ...`; each line it prints is a JSON
document.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from dexnb import Flow, StepDecision, graceful_complete
from dexnb.clock import Clock, Readings, host_readings
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers import store_clock
from dexnb.providers.redis import RedisProvider
from dexnb.providers.redis import server_time as times
from tests.engine.flows import fast, flow, step
from tests.providers.redis_case import HANDLERS, opened
from tests.providers.sqlite_child import say

ROOT = Path(__file__).parents[2]


def spawn(role: str, url: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a child; its lines come over its standard output."""
    command = [sys.executable, "-m", "tests.providers.redis_child", role, url]
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def polling(rounds: int, pause: float) -> Flow[Any]:
    """Make a Flow that polls so often, going on from its checkpoint, and tells each body."""

    async def polls(context: AsyncContext, input: Any) -> StepDecision:
        say(["body", context.flow_id, context.attempt])
        for number in range(rounds):
            await context.heartbeat(number)
            await asyncio.sleep(pause)
        return graceful_complete(context.attempt)

    return flow(step(polls, heartbeat=60, method=600))


async def hold(url: str, owner: str, lock_timeout: str, ack: str) -> None:
    """Lock a work item, end it if told so, then stay silent for ever."""
    provider = await opened(url, owner)
    item = await provider.fetch_work_item(float(lock_timeout), 0, HANDLERS)
    assert item is not None
    if ack == "ack":
        await provider.ack_work_item(item.token)
    say([item.token, provider.clock.now()])
    await asyncio.Event().wait()


async def work(url: str, owner: str, starts: str, lock: str, rounds: str, pause: str) -> None:
    """Run an engine: start so many Flows, and say how it went once all of them have ended."""
    settings = fast(worker_lock_timeout=timedelta(seconds=float(lock)))
    provider = RedisProvider(url)
    async with Runtime(provider, options=settings) as runtime:
        made = polling(int(rounds), float(pause))
        runtime.register(made)
        for number in range(int(starts)):
            await runtime.start(made, f"flow-{number}")
        say(["started"])
        loop = asyncio.get_running_loop()
        began = loop.time()
        while not await all_ended(provider):
            await asyncio.sleep(0.1)
        engine = runtime.engine
        fetches = engine.turns.fetches + engine.attempts.fetches
        ends: Counter[int] = Counter()
        for run in await provider.list_runs(limit=1000):
            kinds = [event.kind for event in await provider.read_events(run.run_id)]
            ends[kinds.count("flow_closed")] += 1
        say(["done", fetches / (loop.time() - began), dict(ends)])
        await asyncio.to_thread(sys.stdin.readline)


async def all_ended(provider: RedisProvider) -> bool:
    """Tell whether there were Flows, and all of them have ended."""
    running = await provider.list_runs(status="RUNNING", limit=1)
    return not running and bool(await provider.list_runs(limit=1))


def step_wall(seconds: float) -> None:
    """Let this process read a wall clock that is ahead."""

    def stepped() -> Readings:
        readings = host_readings()
        return replace(readings, wall=readings.wall + seconds)

    store_clock.host_readings = stepped  # type: ignore[attr-defined]  # the clock under test
    times.host_readings = stepped  # type: ignore[attr-defined]  # the clock under test


async def tell_time(url: str, owner: str, step_seconds: str) -> None:
    """Open the store with the wall clock stepped, and tell store time and real time."""
    step_wall(float(step_seconds))
    provider = RedisProvider(url)
    await provider.open(Clock.real(), owner)
    say([provider.clock.now(), provider.clock.lease(), store_clock.host_readings().wall])  # type: ignore[attr-defined]  # the clock under test
    await provider.close()


ROLES: dict[str, Any] = {"hold": hold, "work": work, "tell_time": tell_time}

if __name__ == "__main__":
    role, *rest = sys.argv[1:]
    asyncio.run(ROLES[role](*rest))
