"""A server that goes away, comes again, is short of something, or holds what is damaged."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from redis import exceptions

from dexnb.clock import Clock, monotonic
from dexnb.errors import DexnbWarning, LeaseLost, ProviderError
from dexnb.providers import Beat, StreamWrite
from dexnb.providers.redis import RedisProvider, listener, store
from dexnb.providers.redis.address import parse
from dexnb.providers.redis.failures import provider_error
from tests.providers.redis_case import (
    HANDLERS,
    LONG,
    commit,
    lane_of,
    lose_next_answer,
    message,
    opened,
    raw,
    start,
    take,
    take_run,
    work,
)
from tests.providers.redis_server import (  # noqa: F401  fixtures
    Server,
    ask,
    own_server,
    server_fixture,
    url_fixture,
)

pytestmark = pytest.mark.external("redis")


async def again(call: Any, seconds: float = 10.0) -> Any:
    """Make a call until it does not fail for the moment."""
    end = monotonic() + seconds
    while True:
        try:
            return await call()
        except ProviderError as error:
            if not error.retryable or monotonic() > end:
                raise
        await asyncio.sleep(0.05)


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def test_cut_connections_lose_nothing_and_are_made_anew(url: str) -> None:
    """Calls that were under way may fail for now; a parked fetch is served all the same."""

    async def body() -> None:
        provider, other = await opened(url, "one"), await opened(url, "two")
        await start(provider, "a")
        item = await take(provider)
        parked = asyncio.ensure_future(provider.fetch_work_item(LONG, 10.0, HANDLERS))
        await asyncio.sleep(0.05)
        for kind in ("pubsub", "normal"):
            await ask(url, "CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
        before = lane_of(provider).commands
        await again(lambda: provider.renew_work_item_lock(item.token, LONG))
        if parked.done() and parked.exception() is not None:
            parked = asyncio.ensure_future(provider.fetch_work_item(LONG, 10.0, HANDLERS))
        await asyncio.sleep(1.0)
        assert lane_of(provider).commands - before < 20
        began = monotonic()
        await again(lambda: start(other, "b"))
        found = await parked
        assert found is not None
        assert found.item.run_id == "run-b"
        assert monotonic() - began < 1.5
        for each in (provider, other):
            await each.close()

    asyncio.run(body())


def test_a_half_open_connection_is_noticed_and_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """By silence after a question; until then and from then on a parked fetch is served."""
    monkeypatch.setattr(listener, "PING_INTERVAL", 0.2)
    monkeypatch.setattr(listener, "PING_PATIENCE", 0.2)

    async def body(server: Server) -> None:
        provider = await opened(f"{server.url}&socket_timeout=0.5")
        assert provider.store is not None
        ears = provider.store.listener
        await asyncio.sleep(0.5)
        assert ears.hears
        server.pause()
        await until(lambda: not ears.hears)
        assert await provider.watch()
        assert not await provider.watch()
        server.resume()
        await until(lambda: ears.hears)
        assert await provider.watch()
        other = await opened(server.url, "other")
        parked = asyncio.ensure_future(provider.fetch_work_item(LONG, 10.0, HANDLERS))
        await asyncio.sleep(0.05)
        await start(other, "a")
        assert await parked is not None
        for each in (provider, other):
            await each.close()

    with own_server() as server:
        asyncio.run(body(server))


def test_a_store_that_was_emptied_says_so_to_whoever_watches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For good, so that an engine can tell those who wait for its runs."""
    monkeypatch.setattr(store, "NOTE_INTERVAL", 0.05)

    async def watched(provider: RedisProvider) -> None:
        while True:
            await provider.watch()
            await asyncio.sleep(0.01)

    async def body(server: Server) -> None:
        provider = await opened(server.url)
        await start(provider, "a")
        await ask(server.url, "FLUSHALL")
        with pytest.raises(ProviderError, match="was emptied") as failure:
            await asyncio.wait_for(watched(provider), 5)
        assert not failure.value.retryable
        await provider.close()

    with own_server() as server:
        asyncio.run(body(server))


def test_a_server_killed_and_started_on_its_file_has_lost_nothing(
    recwarn: pytest.WarningsRecorder,
) -> None:
    """Items, locks, messages and scripts: calls fail for the moment and then go on."""

    async def body(server: Server) -> None:
        provider = await opened(server.url)
        await provider.start_run(commit("a", work_items=(work("a"), work("a", "Step-2"))))
        await provider.enqueue_for_orchestrator(message("a", '"kept"'))
        held = await take(provider)
        await provider.record_beats([Beat(held.token, '"seen"')])
        server.kill()
        before = lane_of(provider).commands
        with pytest.raises(ProviderError, match="cannot be reached") as failure:
            await provider.fetch_work_item(LONG, 5.0, HANDLERS)
        assert failure.value.retryable
        await asyncio.sleep(0.3)
        assert lane_of(provider).commands - before < 5
        await asyncio.to_thread(server.start)
        run = await again(lambda: take_run(provider))
        assert [each.text for each in run.messages] == ['"kept"']
        assert (await take(provider)).item.step_execution_id == "Step-2"
        await provider.abandon_work_item(held.token)
        assert (await take(provider)).item.checkpoint == '"seen"'
        await provider.close()

    with own_server() as server:
        asyncio.run(body(server))


def test_an_ack_whose_answer_was_lost_is_known_by_its_token(url: str) -> None:
    """The second try finds the token used up, and the turn is there once."""

    async def body() -> None:
        provider = await opened(url)
        await start(provider, "a")
        await provider.enqueue_for_orchestrator(message("a"))
        run = await take_run(provider)
        turn = commit("a", seqs=(2,), state='"next"')
        connection = await lane_of(provider).connected()
        await connection.send_command("CLIENT", "REPLY", "OFF")
        connection.socket_timeout = 0.2
        with pytest.raises(ProviderError) as failure:
            await provider.ack_orchestration_item(run.token, turn)
        assert failure.value.retryable
        with pytest.raises(LeaseLost):
            await provider.ack_orchestration_item(run.token, turn)
        record = await provider.read_run(run_id="run-a")
        assert record is not None
        assert (record.version, record.state) == (2, '"next"')
        await provider.close()

    asyncio.run(body())


def test_what_is_sent_again_after_a_lost_answer_is_there_once(url: str) -> None:
    """A message and Stream messages; equal ones that are sent on purpose are there twice."""

    async def body() -> None:
        provider = await opened(url)
        await start(provider, "a")
        said = StreamWrite("Flow", "s", "flow-a", "run-a", "client", "1", 1.5, 10**6)
        writes = [said, replace(said, capacity=1)]
        for _ in range(3):
            await lose_next_answer(provider)
            with pytest.raises(ProviderError) as failure:
                await provider.enqueue_for_orchestrator(message("a"))
            assert failure.value.retryable
            await lose_next_answer(provider)
            with pytest.raises(ProviderError):
                await provider.write_stream(writes)
        for _ in range(2):
            await provider.enqueue_for_orchestrator(message("a"))
            assert await provider.write_stream(writes) == (True, False)
        assert len((await take_run(provider)).messages) == 2
        assert len(await provider.read_stream("Flow", "s")) == 2
        await provider.close()

    asyncio.run(body())


def test_what_is_damaged_is_set_aside_alone(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """A work item and a run of a wrong kind stop neither their queue nor a batch, and are told."""

    async def body() -> None:
        provider = await opened(url)
        for name in ("a", "b", "c"):
            await start(provider, name)
            await provider.enqueue_for_orchestrator(message(name))
        for kind in ("work:1", "run:1", "inbox:2"):
            await raw(url, "DEL", kind)
            await raw(url, "SET", kind, "something else")
        await raw(url, "HDEL", "work:2", "payload")
        good = await take(provider)
        assert good.item.run_id == "run-c"
        assert await provider.fetch_work_item(LONG, 0, HANDLERS) is None
        assert (await take_run(provider)).run_id == "run-c"
        assert await provider.fetch_orchestration_item(LONG, 0) is None
        await provider.enqueue_for_orchestrator(message("b"))
        lost = await provider.record_beats([Beat("w1.x", "1"), Beat(good.token, "2")])
        assert lost == {"w1.x"}
        assert [run.run_id for run in await provider.list_runs()] == ["run-c", "run-b"]
        with pytest.raises(ProviderError, match="cannot be read") as failure:
            await provider.read_run(run_id="run-a")
        assert not failure.value.retryable
        await provider.close()

    with caplog.at_level(logging.ERROR, "dexnb"):
        asyncio.run(body())
    told = [record.getMessage() for record in caplog.records]
    for name in ("work item 1", "work item 2", "run 1", "run 2"):
        assert any(f"set aside: {name}:" in each for each in told), told


def test_bytes_that_are_no_text_reach_the_engine_as_something_it_refuses(url: str) -> None:
    """It counts such deliveries itself, and ends what was delivered too often."""

    async def body() -> None:
        provider = await opened(url)
        await start(provider, "a", "b")
        await raw(url, "HSET", "work:1", "payload", b"\xff\x00")
        assert (await take(provider)).item.payload == "\\xff\0"
        assert (await take(provider)).item.run_id == "run-b"
        await provider.close()

    asyncio.run(body())


def test_a_prefix_that_holds_something_else_is_refused_for_good(url: str) -> None:
    """With the place and what to do."""

    async def body() -> None:
        await raw(url, "SET", "meta", "something else")
        with pytest.raises(ProviderError, match="give another prefix") as failure:
            await opened(url)
        assert not failure.value.retryable

    asyncio.run(body())


def test_a_server_without_memory_refuses_for_now_and_changes_nothing() -> None:
    """What was there is there, and work goes on when there is room again."""

    async def body(server: Server) -> None:
        provider = await opened(server.url)
        await start(provider, "a")
        await ask(server.url, "CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(ProviderError, match="no memory left") as failure:
            await start(provider, "b")
        assert failure.value.retryable
        assert await provider.read_run(run_id="run-b") is None
        await ask(server.url, "CONFIG", "SET", "maxmemory", "0")
        await start(provider, "b")
        assert (await provider.queue_depths()).work_items == 2
        await provider.close()

    with own_server() as server:
        asyncio.run(body(server))


def test_a_server_that_can_lose_what_it_took_gives_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also one that does not tell; the right settings give none."""

    async def told(server: Server) -> str:
        caplog.clear()
        with pytest.warns(DexnbWarning) as warnings:
            provider = await opened(server.url)
        await provider.close()
        (text,) = [str(warning.message) for warning in warnings]
        assert [record.getMessage() for record in caplog.records] == [text]
        return text

    async def body(server: Server) -> None:
        assert "keeps no append-only file" in await told(server)
        await ask(server.url, "CONFIG", "SET", "appendonly", "yes")
        assert "appendfsync everysec" in await told(server)
        await ask(server.url, "CONFIG", "SET", "appendfsync", "always")
        await (await opened(server.url)).close()
        await ask(server.url, "ACL", "SETUSER", "default", "-config")
        assert "CONFIG GET is refused" in await told(server)

    with own_server(appendonly="no", appendfsync="everysec") as server:
        asyncio.run(body(server))


def test_a_server_that_throws_keys_away_gives_a_warning() -> None:
    """Whichever keys it takes first, and however much room there is yet: a run is many keys."""
    policies = ("allkeys-lru", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-ttl")

    async def body(server: Server) -> None:
        for memory in ("0", "100mb"):
            await ask(server.url, "CONFIG", "SET", "maxmemory", memory)
            for policy in policies:
                await ask(server.url, "CONFIG", "SET", "maxmemory-policy", policy)
                with pytest.warns(DexnbWarning, match=f"{policy}.*set maxmemory-policy noeviction"):
                    provider = await opened(server.url)
                await provider.close()
            await ask(server.url, "CONFIG", "SET", "maxmemory-policy", "noeviction")
            await (await opened(server.url)).close()

    with own_server() as server:
        asyncio.run(body(server))


def test_a_wrong_login_is_refused_at_once_and_later_for_the_moment() -> None:
    """At open for good; a password that changes under an open store may change back."""

    async def body(server: Server) -> None:
        provider = await opened(server.url)
        await ask(server.url, "CONFIG", "SET", "requirepass", "other")
        await ask(f"{server.url}&password=other", "CLIENT", "KILL", "TYPE", "normal")
        for _ in range(2):
            with pytest.raises(ProviderError) as failure:
                await provider.queue_depths()
            assert failure.value.retryable
        assert "refuses the login" in str(failure.value)
        with pytest.raises(ProviderError, match="refuses the login") as failure:
            await RedisProvider(f"{server.url}&password=wrong").open(Clock.real(), "other")
        assert not failure.value.retryable
        await provider.close()

    with own_server() as server:
        asyncio.run(body(server))


@pytest.mark.parametrize(
    ("error", "text", "retryable"),
    [
        (exceptions.BusyLoadingError("loading"), "reading its data", True),
        (exceptions.ReadOnlyError("no"), "is a replica", True),
        (exceptions.ResponseError("BUSY Redis is busy running a script"), "script", True),
        (exceptions.ResponseError("MISCONF Errors writing to the AOF file"), "disk", True),
        (exceptions.ResponseError("NOREPLICAS Not enough good replicas"), "replicas", True),
        (exceptions.MovedError("1 10.0.0.1:7000"), "cluster", False),
        (exceptions.NoPermissionError("no"), "ACL", False),
        (exceptions.ResponseError("ERR unknown command"), "refused", False),
        (exceptions.TimeoutError("late"), "cannot be reached", True),
    ],
)
def test_each_failure_says_what_to_do_and_whether_to_try_again(
    error: Exception, text: str, *, retryable: bool
) -> None:
    """With operation and place."""
    failure = provider_error("ack_work_item", parse("redis://host", "dexnb"), error)
    assert failure.retryable is retryable
    assert "ack_work_item: redis://host:6379/0" in str(failure)
    assert text in str(failure)
