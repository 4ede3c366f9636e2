"""Whole engines on a Redis store: several processes, one of them killed, and `dexnb.open`."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import dexnb
from dexnb import StepDecision, graceful_complete
from dexnb.clock import monotonic, sleep_blocking
from dexnb.flow.context import AsyncContext
from dexnb.providers.redis import RedisProvider
from tests.engine.flows import fast, finished, flow, step
from tests.providers.redis_case import lane_of, opened, start
from tests.providers.redis_child import spawn
from tests.providers.redis_server import (  # noqa: F401  fixtures
    own_server,
    server_fixture,
    url_fixture,
)
from tests.providers.sqlite_child import ended, heard

pytestmark = pytest.mark.external("redis")

FLOWS = 30


@contextmanager
def engine(url: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run an engine in a process of its own."""
    child = spawn("work", url, *arguments)
    try:
        yield child
    finally:
        ended(child)


def bodies(child: subprocess.Popen[str], word: str) -> tuple[Counter[str], list[Any]]:
    """Count the Step bodies that an engine enters until it says a word; give what it says."""
    entered: Counter[str] = Counter()
    while (said := heard(child))[0] != word:
        if said[0] == "body":
            entered[said[1]] += 1
    return entered, said


def test_b05_the_flows_of_a_killed_engine_end_once_in_another(url: str) -> None:
    """Each by one closing event; the survivor does not spin while it waits for the leases."""
    with engine(url, "one", FLOWS, 1.0, 6, 0.1) as one, engine(url, "two", 0, 1.0, 6, 0.1) as two:
        bodies(one, "started")
        sleep_blocking(0.2)
        one.kill()
        began = monotonic()
        _, (_, rate, ends) = bodies(two, "done")
        print(f"fetches per second of the survivor: {rate:.1f}, took {monotonic() - began:.1f} s")
    assert ends == {"1": FLOWS}
    assert rate < 60


def test_b16_a_lease_is_renewed_for_as_long_as_its_step_polls(url: str) -> None:
    """One body in two engines; stopped by a signal, it is taken over and then fenced."""
    with engine(url, "one", 1, 0.6, 25, 0.1) as one:
        entered, _ = bodies(one, "started")
        with engine(url, "two", 0, 0.6, 25, 0.1) as two:
            said: list[Any] = []
            reading = threading.Thread(target=lambda: said.extend(bodies(two, "done")))
            reading.start()
            sleep_blocking(1.8)
            assert not said
            os.kill(one.pid, signal.SIGSTOP)
            sleep_blocking(1.5)
            os.kill(one.pid, signal.SIGCONT)
            reading.join(20)
            taken, (_, _, ends) = said
            more, _ = bodies(one, "done")
    assert dict(entered + more) == {"flow-0": 1}
    assert dict(taken) == {"flow-0": 1}
    assert ends == {"1": 1}


def test_flows_go_on_over_a_server_that_is_killed_in_the_middle() -> None:
    """On its append-only file: each Flow ends once, and the engine does not spin meanwhile."""
    bodies_of: Counter[str] = Counter()

    async def polls(context: AsyncContext, input: Any) -> StepDecision:
        bodies_of[context.flow_id] += 1
        for number in range(10):
            await context.heartbeat(number)
            await asyncio.sleep(0.1)
        return graceful_complete(context.attempt)

    async def body() -> None:
        with own_server() as server:
            provider = RedisProvider(server.url)
            async with dexnb.Runtime(provider, options=fast()) as runtime:
                made = flow(step(polls, heartbeat=60, method=600))
                runs = [await runtime.start(made, f"flow-{number}") for number in range(FLOWS)]
                await asyncio.sleep(0.3)
                server.kill()
                before = lane_of(provider).commands
                await asyncio.sleep(0.8)
                assert lane_of(provider).commands - before < 200
                await asyncio.to_thread(server.start)
                results = [await finished(run, 20) for run in runs]
            assert [result.output for result in results] == [1] * FLOWS
            assert set(bodies_of.values()) == {1}

    asyncio.run(body())


def test_an_idle_engine_asks_next_to_nothing(url: str) -> None:
    """Both dispatchers are parked; the server's time is looked at now and then."""

    async def body() -> None:
        provider = RedisProvider(url)
        async with dexnb.Runtime(provider, options=fast()):
            await asyncio.sleep(0.3)
            before = lane_of(provider).commands
            await asyncio.sleep(1.5)
            asked = lane_of(provider).commands - before
            print(f"commands per second of an idle engine: {asked / 1.5:.1f}")
            assert asked <= 6

    asyncio.run(body())


def test_an_engine_hears_once_of_what_others_change(url: str) -> None:
    """So that whoever waits there for a Flow's end looks then; its own changes are no news."""

    async def body() -> None:
        provider, other = await opened(url, "one"), await opened(url, "two")
        await start(provider, "a")
        async with asyncio.timeout(5):
            while not await other.watch():
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert not await other.watch()
        assert not await provider.watch()
        for each in (provider, other):
            await each.close()

    asyncio.run(body())


def test_a_session_on_a_server_goes_on_where_the_last_one_stopped(url: str) -> None:
    """`dexnb.open` with the address of a server: stop in the middle, open again, finish."""
    seen: list[int] = []

    async def polls(context: AsyncContext, input: Any) -> StepDecision:
        first = context.get_last_heartbeat_value(int) or 0
        for number in range(first, 8):
            seen.append(number)
            await context.heartbeat(number + 1)
            await asyncio.sleep(0.1)
        return graceful_complete(len(seen))

    made = flow(step(polls, heartbeat=60, method=600))
    with dexnb.open(url) as session:
        assert url.partition("&")[0] in repr(session)
        assert dexnb.open(url) is session
        session.start(made, "flow")
        while not seen:
            sleep_blocking(0.01)
        sleep_blocking(0.25)
    stopped = len(seen)
    assert 0 < stopped < 8
    with dexnb.open(url) as session:
        run = session.start(made, "flow")
        result = run.wait_sync(10)
        assert result.status == "COMPLETED"
    assert seen == list(range(8))
