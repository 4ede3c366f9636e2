"""Engines on a PostgreSQL store in processes of their own, which tests start, stop and kill.

Run as `python -m tests.providers.postgres_child ROLE URL ...`; each line it prints is a JSON
document.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from dexnb import Flow, StepDecision, graceful_complete
from dexnb.clock import Clock
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers import Provider
from dexnb.providers.postgres import PostgresProvider
from tests.engine.flows import fast, flow, step
from tests.providers.sqlite_case import HANDLERS
from tests.providers.sqlite_child import say

ROOT = Path(__file__).parents[2]


def spawn(role: str, url: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a child; its lines come over its standard output."""
    command = [sys.executable, "-m", "tests.providers.postgres_child", role, url]
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
        for number in range(context.get_last_heartbeat_value(int) or 0, rounds):
            await asyncio.sleep(pause)
            await context.heartbeat(number + 1)
        return graceful_complete(context.attempt)

    return flow(step(polls, heartbeat=60, method=600))


async def hold(url: str, lock_timeout: str, ack: str) -> None:
    """Lock a work item, end it if told so, then stay silent for ever."""
    provider = PostgresProvider(url)
    await provider.open(Clock.real(), "holder")
    item = await provider.fetch_work_item(float(lock_timeout), 0, HANDLERS)
    assert item is not None
    if ack == "ack":
        await provider.ack_work_item(item.token)
    say([item.token, provider.clock.now()])
    await asyncio.Event().wait()


async def engine(
    url: str, starts: str, lock: str, rounds: str, pause: str, wall: str = "0"
) -> None:
    """Run an engine: start so many Flows, and say how it went once all of them have ended.

    Its wall clock is ahead by `wall` seconds.
    """
    true_time = time.time
    time.time = lambda: true_time() + float(wall)
    settings = fast(worker_lock_timeout=timedelta(seconds=float(lock)))
    provider = PostgresProvider(url)
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
        fetches = runtime.engine.turns.fetches + runtime.engine.attempts.fetches
        say(["done", fetches / (loop.time() - began), dict(await endings(provider))])
        await asyncio.to_thread(sys.stdin.readline)


async def all_ended(provider: Provider) -> bool:
    """Tell whether there were Flows, and all of them have ended."""
    running = await provider.list_runs(status="RUNNING", limit=1)
    return not running and bool(await provider.list_runs(limit=1))


async def endings(provider: Provider) -> Counter[int]:
    """Count the runs by how often they were ended."""
    ends: Counter[int] = Counter()
    for run in await provider.list_runs(limit=1000):
        kinds = [event.kind for event in await provider.read_events(run.run_id)]
        ends[kinds.count("flow_closed")] += 1
    return ends


ROLES: dict[str, Any] = {"hold": hold, "engine": engine}

if __name__ == "__main__":
    role, *rest = sys.argv[1:]
    asyncio.run(ROLES[role](*rest))
