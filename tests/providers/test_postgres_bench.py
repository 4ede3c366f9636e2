"""Figures of the PostgreSQL store (`make bench`): flows, calls and wake-ups between engines."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.clock import perf_counter
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers.postgres import PostgresProvider
from tests.engine.flows import fast, flow, step
from tests.providers.postgres_case import find, opened, start, store_of, take
from tests.providers.sqlite_case import message

pytestmark = [pytest.mark.bench, pytest.mark.external("postgres")]
pytest_plugins = ["tests.providers.postgres_fixtures"]


async def _ends(context: AsyncContext, input: Any) -> StepDecision:
    return graceful_complete(None)


def test_flows_per_second(postgres_url: str) -> None:
    """One engine, Flows of one Step each, started all at once."""
    count = 500

    async def body() -> float:
        provider = PostgresProvider(postgres_url)
        async with Runtime(provider, options=fast()) as runtime:
            made = flow(step(_ends))
            await (await runtime.start(made, "warm")).wait(10)
            began = perf_counter()
            runs = await asyncio.gather(*(runtime.start(made, f"f{n}") for n in range(count)))
            await asyncio.gather(*(run.wait(60) for run in runs))
            took = perf_counter() - began
            print(f"\ncommits: {store_of(provider).transactions.commits}")
        return count / took

    rate = asyncio.run(body())
    print(f"flows per second: {rate:.0f}")
    assert rate > 50


def test_calls_one_after_the_other(postgres_url: str) -> None:
    """A start, a fetch and an end each wait for the one before."""
    count = 200

    async def body() -> float:
        async with opened(postgres_url) as provider:
            began = perf_counter()
            for number in range(count):
                await start(provider, str(number))
                item = await take(provider)
                await provider.ack_work_item(item.token, message(str(number)))
            return (perf_counter() - began) / count / 3

    seconds = asyncio.run(body())
    print(f"\na call by itself: {seconds * 1000:.2f} ms")
    assert seconds < 0.1


def test_wake_up_of_another_engine(postgres_url: str) -> None:
    """From the call that starts a run in one engine to its item in another one's parked fetch."""

    async def body() -> list[float]:
        took = []
        async with opened(postgres_url) as provider, opened(postgres_url, "other") as other:
            for number in range(100):
                parked = asyncio.ensure_future(find(provider, 20.0))
                await asyncio.sleep(0.02)
                began = perf_counter()
                await start(other, str(number))
                item = await parked
                took.append(perf_counter() - began)
                assert item is not None
                await provider.ack_work_item(item.token)
        return sorted(took)

    took = asyncio.run(body())
    p50, p99 = took[len(took) // 2], took[int(len(took) * 0.99)]
    print(f"\nstart to fetched elsewhere: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms")
    assert p50 < 0.2
