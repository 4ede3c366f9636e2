"""Figures of the Redis provider beside a bare pipelined connection, in the same run."""

from __future__ import annotations

import asyncio
from statistics import median
from typing import Any

import pytest

import dexnb
from dexnb import StepDecision, graceful_complete
from dexnb.clock import perf_counter
from dexnb.flow.context import AsyncContext
from dexnb.providers import Beat
from dexnb.providers.redis import RedisProvider
from dexnb.providers.redis.address import disconnect, parse
from tests.engine.flows import fast, flow
from tests.providers.redis_case import HANDLERS, LONG, lane_of, opened, start
from tests.providers.redis_server import server_fixture, url_fixture  # noqa: F401  fixtures

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300), pytest.mark.external("redis")]

FLOWS = 500
BEATS = 20_000


async def ends(context: AsyncContext, input: Any) -> StepDecision:
    """End at once."""
    return graceful_complete(input)


async def bare_writes(url: str, batch: int) -> float:
    """Give commands a second of a bare connection, so many in a pipeline."""
    connection = await parse(url, "bare").connect()
    began = perf_counter()
    for _ in range(BEATS // batch):
        commands = [("HSET", "{bare}:beats", str(n), '{"seen":1}') for n in range(batch)]
        await connection.send_packed_command(connection.pack_commands(commands))
        for _ in commands:
            await connection.read_response(disable_decoding=True)
    took = perf_counter() - began
    await disconnect(connection)
    return BEATS / took


def test_beats_beside_a_bare_connection(url: str) -> None:
    """A hundred checkpoints in one call cost less than a hundred plain commands."""

    async def body() -> None:
        provider = await opened(url)
        await asyncio.gather(*(start(provider, str(number)) for number in range(100)))
        items = await provider.fetch_work_items(3600, 0, HANDLERS, 100)
        began = perf_counter()
        for _ in range(BEATS // 100):
            await provider.record_beats([Beat(item.token, '{"seen":1}') for item in items])
        beats = BEATS / (perf_counter() - began)
        bare = await bare_writes(url, 100)
        print(f"\nbeats {beats:,.0f}/s, bare pipelined writes {bare:,.0f}/s")
        assert beats > bare / 4
        await provider.close()

    asyncio.run(body())


def test_flows_with_one_step(url: str) -> None:
    """From start to end, all started at once."""

    async def body() -> None:
        provider = RedisProvider(url)
        async with dexnb.Runtime(provider, options=fast()) as runtime:
            made = flow(ends)
            began, before = perf_counter(), lane_of(provider).commands
            starts = (runtime.start(made, f"flow-{number}", number) for number in range(FLOWS))
            await asyncio.gather(*[run.wait() for run in await asyncio.gather(*starts)])
            took = perf_counter() - began
            commands = (lane_of(provider).commands - before) / FLOWS
        print(f"\nflows {FLOWS / took:,.0f}/s, {commands:.1f} commands each")
        assert commands < 10

    asyncio.run(body())


def test_a_hint_of_another_engine_wakes_a_parked_fetch(url: str) -> None:
    """How long after the other one's commit the item is there."""

    async def body() -> None:
        provider, other = await opened(url, "one"), await opened(url, "two")
        delays = []
        for number in range(100):
            parked = asyncio.ensure_future(provider.fetch_work_item(LONG, 30, HANDLERS))
            await asyncio.sleep(0.02)
            await start(other, str(number))
            began = perf_counter()
            item = await parked
            delays.append(perf_counter() - began)
            assert item is not None
            await provider.ack_work_item(item.token)
        delays.sort()
        print(f"\nwake-up p50 {median(delays) * 1e3:.2f} ms, p99 {delays[-2] * 1e3:.2f} ms")
        assert median(delays) < 0.05
        for each in (provider, other):
            await each.close()

    asyncio.run(body())


def test_an_idle_engine(url: str) -> None:
    """Commands that it sends, its looks at the server's time included."""

    async def body() -> None:
        provider = RedisProvider(url)
        async with dexnb.Runtime(provider, options=fast()):
            await asyncio.sleep(1)
            before = lane_of(provider).commands
            await asyncio.sleep(20)
            rate = (lane_of(provider).commands - before) / 20
        print(f"\nidle {rate:.2f} commands/s")
        assert rate < 2

    asyncio.run(body())
