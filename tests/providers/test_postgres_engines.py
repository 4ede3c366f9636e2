"""Whole engines on a PostgreSQL store: several processes, one of them killed, and `dexnb.open`."""

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
from tests.engine.flows import fast, finished, flow, step
from tests.providers.postgres_case import CountedProvider, find, opened, start, take
from tests.providers.postgres_child import polling, spawn
from tests.providers.postgres_server import Server
from tests.providers.sqlite_child import ended, heard

pytestmark = pytest.mark.external("postgres")
pytest_plugins = ["tests.providers.postgres_fixtures"]

FLOWS = 30
HOUR = 3600.0


@contextmanager
def child(role: str, url: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run a process of its own."""
    process = spawn(role, url, *arguments)
    try:
        yield process
    finally:
        ended(process)


def bodies(process: subprocess.Popen[str], word: str) -> tuple[Counter[str], list[Any]]:
    """Count the Step bodies that an engine enters until it says a word; give what it says."""
    entered: Counter[str] = Counter()
    while (said := heard(process))[0] != word:
        if said[0] == "body":
            entered[said[1]] += 1
    return entered, said


@pytest.mark.parametrize("ack", ["keep", "ack"])
def test_b05_what_a_killed_process_had_fetched_comes_again(postgres_url: str, ack: str) -> None:
    """After its lease, counted; what it had acknowledged never."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            await start(provider, "a")
            with child("hold", postgres_url, 1.0, ack) as holder:
                _, taken_at = await asyncio.to_thread(heard, holder)
                holder.kill()
            item = await find(provider, 3.0 if ack == "keep" else 1.5)
            if ack == "ack":
                assert item is None
                return
            assert item is not None
            assert item.deliveries == 2
            assert 0.9 < provider.clock.now() - taken_at < 2.0

    asyncio.run(body())


def test_b05_the_flows_of_a_killed_engine_end_once_in_another(postgres_url: str) -> None:
    """Each by one closing event; the survivor does not spin while it waits for the leases."""
    with (
        child("engine", postgres_url, FLOWS, 1.0, 6, 0.1) as one,
        child("engine", postgres_url, 0, 1.0, 6, 0.1) as two,
    ):
        bodies(one, "started")
        sleep_blocking(0.2)
        one.kill()
        began = monotonic()
        _, (_, rate, ends) = bodies(two, "done")
        print(f"fetches per second of the survivor: {rate:.1f}, took {monotonic() - began:.1f} s")
    assert ends == {"1": FLOWS}
    assert rate < 60


@pytest.mark.parametrize("wall", [HOUR, -HOUR])
def test_b16_b26_a_lease_is_renewed_while_its_step_polls_whatever_the_wall_clock_says(
    postgres_url: str, wall: float
) -> None:
    """One body in two engines, one of them an hour off; stopped, it is taken over and fenced."""
    with child("engine", postgres_url, 1, 0.6, 25, 0.1, wall) as one:
        entered, _ = bodies(one, "started")
        with child("engine", postgres_url, 0, 0.6, 25, 0.1) as two:
            said: list[Any] = []
            reading = threading.Thread(target=lambda: said.extend(bodies(two, "done")))
            reading.start()
            sleep_blocking(1.6)
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


def test_flows_go_on_over_cuts_and_a_restart_of_the_server(
    postgres_server: Server, postgres_url: str
) -> None:
    """Each Flow ends once with one body, and the engine does not spin meanwhile."""
    bodies_of: Counter[str] = Counter()

    async def polls(context: AsyncContext, input: Any) -> StepDecision:
        bodies_of[context.flow_id] += 1
        for number in range(12):
            await context.heartbeat(number)
            await asyncio.sleep(0.1)
        return graceful_complete(context.attempt)

    async def body() -> None:
        provider = CountedProvider(postgres_url)
        async with dexnb.Runtime(provider, options=fast()) as runtime:
            made = flow(step(polls, heartbeat=60, method=600))
            runs = [await runtime.start(made, f"flow-{number}") for number in range(FLOWS)]
            await asyncio.to_thread(postgres_server.cut)
            await asyncio.sleep(0.3)
            await asyncio.to_thread(postgres_server.stop)
            before = sum(provider.asked.values())
            await asyncio.sleep(0.5)
            assert sum(provider.asked.values()) - before < 100
            await asyncio.to_thread(postgres_server.start)
            results = [await finished(run, 20) for run in runs]
        assert [result.output for result in results] == [1] * FLOWS
        assert set(bodies_of.values()) == {1}

    asyncio.run(body())


def test_b13_an_idle_engine_asks_next_to_nothing(postgres_url: str) -> None:
    """Both dispatchers are parked, though a Flow sleeps for a while."""

    async def body() -> None:
        provider = CountedProvider(postgres_url)
        async with dexnb.Runtime(provider, options=fast()) as runtime:
            await runtime.start(polling(1, 60.0), "flow")
            await asyncio.sleep(0.5)
            before = sum(provider.asked.values())
            await asyncio.sleep(1.5)
            asked = sum(provider.asked.values()) - before
            print(f"calls per second of an idle engine: {asked / 1.5:.1f}")
            assert asked <= 6

    asyncio.run(body())


def test_an_engine_hears_of_what_others_change(postgres_url: str) -> None:
    """So that whoever waits there for a Flow's end looks then; its own changes are no news."""

    async def body() -> None:
        async with opened(postgres_url) as provider, opened(postgres_url, "other") as other:
            await asyncio.sleep(0.1)
            await provider.watch()
            await start(other, "a")
            async with asyncio.timeout(5):
                while not await provider.watch():
                    await asyncio.sleep(0.01)
            assert not await other.watch()
            assert (await take(provider)).item.run_id == "run-a"

    asyncio.run(body())


def test_a_session_on_a_server_goes_on_where_the_last_one_stopped(postgres_url: str) -> None:
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
    with dexnb.open(postgres_url) as session:
        assert dexnb.open(postgres_url) is session
        session.start(made, "flow")
        while not seen:
            sleep_blocking(0.01)
        sleep_blocking(0.25)
    stopped = len(seen)
    assert 0 < stopped < 8
    with dexnb.open(postgres_url) as session:
        result = session.start(made, "flow").wait_sync(10)
        assert result.status == "COMPLETED"
    assert seen == list(range(8))
