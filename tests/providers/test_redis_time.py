"""Store time of a server: one for all engines, whoever sets a wall clock."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from dexnb.clock import Clock
from dexnb.errors import ClockMismatch, ProviderError
from dexnb.providers.redis import server_time
from tests.providers.redis_case import LONG, commit, message, opened, raw, start, take, work
from tests.providers.redis_child import spawn
from tests.providers.redis_server import server_fixture, url_fixture  # noqa: F401  fixtures
from tests.providers.sqlite_child import heard

pytestmark = pytest.mark.external("redis")

HOUR = 3600.0

true_seconds = server_time.server_seconds


def shifted(step: float, answer: Any) -> float:
    """Read the server's time as if somebody had set its clock."""
    return true_seconds(answer) + step


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_b26_a_stepped_wall_clock_breaks_no_lease_and_fires_no_timer_twice(
    url: str, step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a step under an open engine, nor an engine that comes with another wall clock."""
    true_time = time.time

    async def body() -> None:
        provider = await opened(url)
        await provider.start_run(commit("a", work_items=(work("a"), work("a", "Step-2"))))
        item, due = await take(provider), provider.clock.now() + 0.3
        await take(provider, 0.3)
        await provider.enqueue_for_orchestrator(message("a", '"timer"', due))
        before = provider.clock.now()
        monkeypatch.setattr(time, "time", lambda: true_time() + step)
        child = spawn("tell_time", url, "other", step)
        now, lease, seen = await asyncio.to_thread(heard, child)
        assert before <= now <= provider.clock.now()
        assert before <= lease <= provider.clock.lease()
        assert seen - now == pytest.approx(step, abs=60)
        await asyncio.to_thread(child.communicate)
        assert (await take(provider)).item.step_execution_id == "Step-2"
        assert await provider.renew_work_item_locks([item.token], LONG) == frozenset()
        run = await provider.fetch_orchestration_item(LONG, 2.0)
        assert run is not None
        assert [each.text for each in run.messages] == ['"timer"']
        turn = commit("a", seqs=(run.version + 1,))
        await provider.ack_orchestration_item(run.token, turn)
        assert await provider.fetch_orchestration_item(LONG, 0.3) is None
        await provider.close()

    asyncio.run(body())


@pytest.mark.parametrize("step", [HOUR, -HOUR])
def test_b26_a_stepped_clock_of_the_server_is_taken_back(
    url: str, step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the first open engine that looks; whoever comes meanwhile or later agrees with it."""

    async def body() -> None:
        provider, early = await opened(url, "one"), await opened(url, "early")
        await start(provider, "a")
        item = await take(provider, 5.0)
        assert provider.store is not None
        await provider.store.time.note()
        monkeypatch.setattr(
            server_time, "server_seconds", lambda answer: true_seconds(answer) + step
        )
        meanwhile = await opened(url, "meanwhile")
        for each in (provider, early, meanwhile, provider):
            assert each.store is not None
            await each.store.time.look()
        later = await opened(url, "later")
        for other in (early, meanwhile, later):
            assert abs(other.clock.lease() - provider.clock.lease()) < 1.0
            assert await other.renew_work_item_locks([item.token], 5.0) == frozenset()
        for each in (provider, early, meanwhile, later):
            await each.close()

    asyncio.run(body())


def test_time_does_not_go_back_behind_what_was_noted(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that comes up in 1970 goes on where the store was last seen."""

    async def body() -> None:
        provider = await opened(url)
        before = provider.clock.now()
        await provider.close()
        monkeypatch.setattr(server_time, "server_seconds", lambda _: 1000.0)
        again = await opened(url)
        assert 0 <= again.clock.now() - before < 10
        await again.close()

    asyncio.run(body())


def test_a_store_of_another_layout_or_clock_is_refused(url: str) -> None:
    """So is one whose time is no number; all by the name of the place."""

    async def body() -> None:
        await (await opened(url)).close()
        for field, value, kind in (
            ("layout", "99", ProviderError),
            ("layout", "1", None),
            ("clock", "scaled:60", ClockMismatch),
            ("clock", "real", None),
            ("offset", "noon", ProviderError),
        ):
            await raw(url, "HSET", "meta", field, value)
            if kind is not None:
                with pytest.raises(kind, match="prefix=test"):
                    await opened(url, clock=Clock.real())

    asyncio.run(body())
