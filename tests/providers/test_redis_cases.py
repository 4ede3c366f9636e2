"""What goes wrong with queues on Redis, case by case."""

from __future__ import annotations

import asyncio
import logging
import random

import pytest

from dexnb.clock import monotonic, thread_time
from dexnb.errors import ProviderError
from dexnb.providers import NewMessage, WorkItem
from dexnb.providers.redis import RedisProvider
from tests.providers.redis_case import (
    HANDLERS,
    LONG,
    commit,
    lane_of,
    lose_next_answer,
    message,
    opened,
    start,
    take,
    take_run,
    work,
)
from tests.providers.redis_child import spawn
from tests.providers.redis_server import server_fixture, url_fixture  # noqa: F401  fixtures
from tests.providers.sqlite_child import ended, heard

pytestmark = pytest.mark.external("redis")


def park(provider: RedisProvider, patience: float = 30.0) -> asyncio.Task[WorkItem | None]:
    """Begin a fetch that waits."""
    return asyncio.ensure_future(provider.fetch_work_item(LONG, patience, HANDLERS))


def test_b01_a_poll_longer_than_the_socket_timeout_finds_nothing(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No exception, no new connection, and one word in the log about the two timeouts."""

    async def body() -> None:
        provider = await opened(f"{url}&socket_timeout=1")
        lane = lane_of(provider)
        connection = lane.connection
        began = monotonic()
        assert await provider.fetch_work_item(LONG, 2.5, HANDLERS) is None
        assert 2.4 < monotonic() - began < 3.5
        assert lane.connection is connection
        await start(provider, "a")
        assert await park(provider) is not None
        await provider.close()

    with caplog.at_level(logging.INFO, "dexnb"):
        asyncio.run(body())
    assert sum("socket_timeout" in record.getMessage() for record in caplog.records) == 1


def test_b02_zero_means_now_and_less_is_refused(url: str) -> None:
    """Where the server's own blocking commands wait for ever."""

    async def body() -> None:
        provider = await opened(url)
        began = monotonic()
        assert await provider.fetch_work_item(LONG, 0, HANDLERS) is None
        assert await provider.fetch_orchestration_item(LONG, 0) is None
        assert monotonic() - began < 0.3
        await start(provider, "a")
        with pytest.raises(ProviderError, match=r"poll_timeout is -1"):
            await provider.fetch_work_item(LONG, -1, HANDLERS)
        assert (await take(provider)).deliveries == 1
        await provider.close()

    asyncio.run(body())


def test_b04_a_cancelled_fetch_keeps_nothing_whenever_it_is_cancelled(url: str) -> None:
    """Two hundred moments around an item that another engine puts there: each delivered once."""
    moments = random.Random(4)

    async def body() -> None:
        provider, other = await opened(url, "one"), await opened(url, "two")
        for number in range(200):
            parked = park(provider)
            putting = asyncio.ensure_future(start(other, f"{number}"))
            await asyncio.sleep(moments.choice((0, 0.0005, 0.001, 0.002, 0.004)))
            parked.cancel()
            await asyncio.wait([parked, putting])
            item = None if parked.cancelled() else parked.result()
            item = item or await park(other, 10.0)
            assert item is not None, f"item {number} was lost"
            assert (item.item.run_id, item.deliveries) == (f"run-{number}", 1)
            await other.ack_work_item(item.token)
        await provider.close()
        await other.close()

    asyncio.run(body())


def test_b05_what_a_killed_process_had_fetched_comes_again_and_what_it_ended_does_not(
    url: str,
) -> None:
    """With the attempt counted, when its lock has run out."""

    async def body() -> None:
        provider = await opened(url)
        await start(provider, "a")
        for told in ("hold", "ack"):
            child = spawn("hold", url, "killed", 0.8, told)
            await asyncio.to_thread(heard, child)
            ended(child)
            item = await provider.fetch_work_item(0.01, 5.0 if told == "hold" else 1.2, HANDLERS)
            if told == "hold":
                assert item is not None
                assert (item.deliveries, item.item.attempt) == (2, 2)
                await asyncio.sleep(0.05)
            else:
                assert item is None
        assert (await provider.queue_depths()).work_items == 0
        await provider.close()

    asyncio.run(body())


def test_b13_an_item_to_come_is_fetched_when_it_is_due_without_a_spin(url: str) -> None:
    """At most three tries of a parked fetch, of the same engine or of another."""

    async def body() -> None:
        provider, other = await opened(url, "one"), await opened(url, "two")
        parked = park(provider)
        await asyncio.sleep(0.05)
        due = other.clock.now() + 1.5
        await other.start_run(commit("a", work_items=(work("a", visible_at=due),)))
        before = lane_of(provider).commands
        item = await parked
        assert item is not None
        assert 0 <= provider.clock.now() - due < 0.3
        assert lane_of(provider).commands - before <= 3
        await provider.close()
        await other.close()

    asyncio.run(body())


def test_b14_messages_for_an_unknown_run_make_nobody_spin(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """They are dropped with a word in the log, and a parked fetch sleeps on."""

    async def body() -> None:
        provider = await opened(url)
        parked = asyncio.ensure_future(provider.fetch_orchestration_item(LONG, 1.0))
        await asyncio.sleep(0.05)
        before, busy = lane_of(provider).commands, thread_time()
        await provider.enqueue_for_orchestrator(NewMessage("run-nobody", "{}"))
        assert await parked is None
        assert lane_of(provider).commands - before <= 3
        assert thread_time() - busy < 0.2
        await start(provider, "nobody")
        assert await provider.fetch_orchestration_item(LONG, 0) is None
        await provider.close()

    with caplog.at_level(logging.INFO, "dexnb"):
        asyncio.run(body())
    assert sum("not open were dropped" in record.getMessage() for record in caplog.records) == 1


def test_b20_lost_answers_of_fetches_use_up_no_attempt(url: str) -> None:
    """What a fetch has locked whose answer was lost is free again at once, and uncounted."""

    async def body() -> None:
        provider = await opened(url)
        await start(provider, "a")
        await provider.enqueue_for_orchestrator(message("a"))
        for _ in range(20):
            for fetch in (
                provider.fetch_work_item(LONG, 0, HANDLERS),
                provider.fetch_orchestration_item(LONG, 0),
            ):
                await lose_next_answer(provider)
                with pytest.raises(ProviderError) as failure:
                    await fetch
                assert failure.value.retryable
        item, run = await take(provider), await take_run(provider)
        assert (item.deliveries, run.attempt_count) == (1, 1)
        await provider.close()

    asyncio.run(body())


def test_b29_a_close_ends_a_parked_fetch_at_once(url: str) -> None:
    """And what comes afterwards is another engine's."""

    async def body() -> None:
        provider, other = await opened(url, "one"), await opened(url, "two")
        parked = park(provider)
        await asyncio.sleep(0.1)
        began = monotonic()
        await provider.close()
        assert await parked is None
        assert monotonic() - began < 1.0
        await start(other, "a")
        assert (await take(other)).deliveries == 1
        await other.close()

    asyncio.run(body())
