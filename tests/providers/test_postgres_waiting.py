"""Waiting, waking and time on a PostgreSQL store, with another engine beside."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from dexnb.providers import Beat
from tests.providers.postgres_case import find, opened, start, store_of, take
from tests.providers.sqlite_case import LONG, commit, message, work

pytestmark = pytest.mark.external("postgres")
pytest_plugins = ["tests.providers.postgres_fixtures"]


async def _elapsed(call: Coroutine[Any, Any, Any]) -> tuple[float, Any]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    found = await call
    return loop.time() - began, found


def test_b04_a_fetch_cancelled_at_any_moment_locks_nothing(postgres_url: str) -> None:
    """Another engine commits the item; whoever fetches next has it, uncounted."""
    moments = random.Random(7)

    async def body() -> None:
        async with opened(postgres_url) as provider, opened(postgres_url, "other") as other:
            for number in range(60):
                parked = asyncio.ensure_future(find(provider, 5.0))
                await asyncio.sleep(moments.choice((0.0, 0.002, 0.01)))
                starting = asyncio.ensure_future(start(other, str(number)))
                await asyncio.sleep(moments.uniform(0.0, 0.015))
                parked.cancel()
                await asyncio.wait([parked, starting])
                item = None if parked.cancelled() else parked.result()
                item = item or await find(provider, 5.0)
                assert item is not None, f"item {number} was lost"
                assert (item.item.run_id, item.deliveries) == (f"run-{number}", 1)
                await provider.ack_work_item(item.token)

    asyncio.run(body())


@pytest.mark.timing
def test_b13_a_notice_of_what_is_not_due_makes_no_spin(postgres_url: str) -> None:
    """Announced by another engine two seconds ahead: few fetches, and delivered in time."""

    async def body() -> None:
        async with opened(postgres_url) as provider, opened(postgres_url, "other") as other:
            parked = asyncio.ensure_future(find(provider, 20.0))
            await asyncio.sleep(0.1)
            asked = provider.asked["fetch_work_item"]
            due = other.clock.now() + 2.0
            later = (work("a", visible_at=due),)
            await other.start_run(commit("a", work_items=later))
            item = await parked
            assert item is not None
            late = provider.clock.now() - due
            assert 0 <= late < 0.3
            fetches = provider.asked["fetch_work_item"] - asked
            print(f"{fetches} fetches, delivered {late * 1000:.0f} ms late")
            assert fetches <= 3

    asyncio.run(body())


def test_b29_close_ends_long_polls_at_once(postgres_url: str) -> None:
    """Both queues parked for 30 s; what comes afterwards is another engine's."""

    async def body() -> None:
        async with opened(postgres_url, "other") as other:
            async with opened(postgres_url) as provider:
                parked = [
                    asyncio.ensure_future(find(provider, 30.0)),
                    asyncio.ensure_future(provider.fetch_orchestration_item(LONG, 30.0)),
                ]
                await asyncio.sleep(0.1)
                took, _ = await _elapsed(provider.close())
                assert took < 1.0
                assert await asyncio.gather(*parked) == [None, None]
            await start(other, "a")
            assert (await take(other)).deliveries == 1

    asyncio.run(body())


@pytest.mark.parametrize("step", [3600.0, -3600.0])
def test_b26_a_stepped_wall_clock_fires_no_timer_twice_and_ends_no_lease(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, step: float
) -> None:
    """Under an open engine, beside one that comes afterwards."""
    true_time = time.time

    async def body() -> None:
        async with opened(postgres_url) as provider:
            await start(provider, "a")
            item = await take(provider, 5.0)
            due = provider.clock.now() + 0.4
            await provider.enqueue_for_orchestrator(message("a", '"timer"', due))
            monkeypatch.setattr(time, "time", lambda: true_time() + step)
            async with opened(postgres_url, "other") as other:
                assert abs(other.clock.now() - provider.clock.now()) < 0.1
                assert await find(other) is None
                run = await other.fetch_orchestration_item(LONG, 5.0)
                assert run is not None
                assert 0 <= other.clock.now() - due < 1.0
                turn = commit("a", seqs=(run.version + 1,))
                await other.ack_orchestration_item(run.token, turn)
                assert await provider.fetch_orchestration_item(LONG, 0.2) is None
                assert await provider.renew_work_item_locks([item.token], 5.0) == frozenset()

    asyncio.run(body())


def test_only_what_asks_for_it_waits_for_the_disk(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starts, turns and ends of attempts do; fetches, beats and ends without durability do not."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            server = store_of(provider).transactions._link  # noqa: SLF001 - what is sent
            ask = server.ask
            waited: list[bool] = []

            async def noted(steps: Any) -> Any:
                names = [name for name, _ in steps]
                if "begin" in names:
                    waited.append("do_not_wait" not in names)
                return await ask(steps)

            monkeypatch.setattr(server, "ask", noted)
            await provider.start_run(commit("a", work_items=(work("a"), work("a", "Step-2"))))
            one, two = await take(provider), await take(provider)
            await provider.record_beats([Beat(one.token, "1")])
            await provider.ack_work_item(one.token, message("a"), durable=False)
            await provider.ack_work_item(two.token, message("a"))
            assert waited == [True, False, False, False, False, True]

    asyncio.run(body())
