"""Broken connections, restarted servers, networks that swallow: nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine
from typing import Any

import psycopg
import pytest

from dexnb.clock import thread_time
from dexnb.errors import LeaseLost, ProviderError
from dexnb.providers import Beat
from dexnb.providers.postgres import link, reader
from tests.providers.postgres_case import Proxy, find, opened, start, store_of, take, take_run
from tests.providers.postgres_server import Server
from tests.providers.sqlite_case import HANDLERS, LONG, commit, message

pytestmark = pytest.mark.external("postgres")
pytest_plugins = ["tests.providers.postgres_fixtures"]

LISTENER = "% listens"


async def _elapsed(call: Coroutine[Any, Any, Any]) -> tuple[float, Any]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    found = await call
    return loop.time() - began, found


async def _until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


async def _hears(url: str, provider: Any, name: str) -> float:
    """Let another engine start a run; give how long the first one's parked fetch took to wake."""
    parked = asyncio.ensure_future(find(provider, 20.0))
    await asyncio.sleep(0.1)
    async with opened(url, "other") as other:
        await start(other, name)
        took, item = await _elapsed(_await(parked))
    assert item.item.run_id == f"run-{name}"
    await provider.ack_work_item(item.token)
    return float(took)


async def _await(task: asyncio.Future[Any]) -> Any:
    return await task


@pytest.mark.timing
def test_b10_a_terminated_listener_listens_again(
    postgres_server: Server, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Within two seconds wake-ups come at once again; one line in the log, and no spin."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            assert await _hears(postgres_url, provider, "a") < 1.0
            listener = store_of(provider).listener
            assert listener is not None
            assert postgres_server.cut(LISTENER) == 1
            await _until(lambda: listener.losses == 1 and listener.is_alive, 2.0)
            began, asked = thread_time(), sum(provider.asked.values())
            parked = asyncio.ensure_future(find(provider, 1.0))
            assert await parked is None
            assert thread_time() - began < 0.2
            assert sum(provider.asked.values()) - asked <= 4
            assert await _hears(postgres_url, provider, "b") < 1.0

    with caplog.at_level(logging.INFO):
        asyncio.run(body())
    assert len([each for each in caplog.records if "wake-ups was lost" in each.message]) == 1


@pytest.mark.timing
def test_b10_a_black_hole_is_noticed(postgres_server: Server, postgres_url: str) -> None:
    """A listener whose network swallows everything is told from one that hears nothing."""

    async def body() -> None:
        async with Proxy(postgres_server.port) as proxy:
            url = postgres_server.url("store", proxy.port)
            async with opened(url) as provider:
                listener = store_of(provider).listener
                assert listener is not None
                # The first connection commits, the second one listens.
                proxy.swallow(2)
                await _until(lambda: listener.losses == 1 and listener.is_alive, 4.0)
                assert await _hears(postgres_url, provider, "a") < 1.0

    asyncio.run(body())


def test_a_black_hole_on_every_connection_is_left_behind(
    postgres_server: Server, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls in it are made again on new connections, and done once."""
    monkeypatch.setattr(link, "REPLY_PATIENCE", 0.5)

    async def body() -> None:
        async with (
            Proxy(postgres_server.port) as proxy,
            opened(postgres_server.url("store", proxy.port)) as provider,
        ):
            await start(provider, "a")
            item = await take(provider)
            assert await provider.read_run(run_id="run-a") is not None
            proxy.swallow()
            ack = asyncio.ensure_future(provider.ack_work_item(item.token, message("a")))
            assert await provider.read_run(run_id="run-a") is not None
            await ack
            assert len((await take_run(provider)).messages) == 1
            assert (await provider.queue_depths()).work_items == 0

    asyncio.run(body())


def test_close_does_not_wait_for_a_server_that_is_gone(
    postgres_server: Server, postgres_url: str
) -> None:
    """Parked fetches return, waiting calls get an error that may be tried again."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            await start(provider, "a")
            postgres_server.stop(signal.SIGQUIT)
            try:
                calls = [
                    asyncio.ensure_future(provider.enqueue_for_orchestrator(message("a"))),
                    asyncio.ensure_future(provider.list_runs()),
                ]
                await asyncio.sleep(0.2)
                took, _ = await _elapsed(provider.close())
                assert took < 5.0
                await asyncio.wait(calls)
            finally:
                postgres_server.start()
            assert isinstance(calls[0].exception(), ProviderError)
            assert calls[1].cancelled() or isinstance(calls[1].exception(), ProviderError)

    asyncio.run(body())


def test_cut_connections_lose_and_double_nothing(
    postgres_server: Server, postgres_url: str
) -> None:
    """Turns and ends of attempts go on while all connections are terminated again and again."""
    runs = 40

    async def end(provider: Any, name: str) -> None:
        await start(provider, name)
        item = await find(provider, 10.0)
        assert item is not None
        assert await provider.record_beats([Beat(item.token, "1")]) == frozenset()
        await provider.ack_work_item(item.token, message(item.item.run_id[4:]))
        run = await provider.fetch_orchestration_item(LONG, 10.0)
        assert run is not None
        assert len(run.messages) == 1
        await provider.ack_orchestration_item(
            run.token, commit(run.run_id[4:], seqs=(run.version + 1,), status="COMPLETED")
        )

    async def body() -> None:
        cuts = 0
        async with opened(postgres_url) as provider:
            ending = asyncio.gather(*(end(provider, str(number)) for number in range(runs)))
            while not ending.done() and cuts < 30:
                cuts += await asyncio.to_thread(postgres_server.cut) > 0
                await asyncio.sleep(0.02)
            await ending
            listed = await provider.list_runs(limit=1000)
            assert [(run.status, run.version) for run in listed] == [("COMPLETED", 2)] * runs
            depths = await provider.queue_depths()
            assert (depths.messages, depths.work_items) == (0, 0)
        print(f"{cuts} cuts")
        assert cuts > 0

    asyncio.run(body())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_restarted_server_is_waited_for(
    postgres_server: Server, postgres_url: str, how: signal.Signals
) -> None:
    """Stopped in order or crashed: calls made meanwhile are answered, parked fetches park on."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            await start(provider, "a")
            item = await take(provider)
            # A fetch does not wait for the disk, but this does, for all that was before it, too.
            await provider.start_run(commit("z"))
            parked = asyncio.ensure_future(provider.fetch_orchestration_item(LONG, 20.0))
            await asyncio.to_thread(postgres_server.stop, how)
            ack = asyncio.ensure_future(provider.ack_work_item(item.token, message("a")))
            started = asyncio.ensure_future(provider.start_run(commit("b")))
            listed = asyncio.ensure_future(provider.list_runs())
            await asyncio.sleep(0.2)
            await asyncio.to_thread(postgres_server.start)
            assert (await started).created
            await ack
            assert len(await listed) in (2, 3)
            run = await parked
            assert run is not None
            assert (run.run_id, len(run.messages)) == ("run-a", 1)

    asyncio.run(body())


def test_a_server_that_stays_away_is_a_retryable_error(
    postgres_server: Server, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every call, with what to check; afterwards the store works again."""
    monkeypatch.setattr(reader, "PATIENCE", 0.2)

    async def body() -> None:
        async with opened(postgres_url) as provider:
            store_of(provider).transactions.patience = 0.2
            await start(provider, "a")
            await asyncio.to_thread(postgres_server.stop, signal.SIGQUIT)
            answers = await asyncio.gather(
                provider.start_run(commit("b")),
                provider.fetch_work_item(LONG, 0, HANDLERS),
                provider.read_run(run_id="run-a"),
                return_exceptions=True,
            )
            await asyncio.to_thread(postgres_server.start)
            for error in answers:
                assert isinstance(error, ProviderError)
                assert error.retryable
                assert "cannot be reached" in str(error)
            assert (await provider.start_run(commit("b"))).created
            assert (await take(provider)).deliveries == 1

    asyncio.run(body())


@pytest.mark.parametrize("applied", [True, False])
def test_a_lost_answer_to_commit_never_applies_twice(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, applied: bool
) -> None:
    """The connection breaks in the commit, before or behind it: the message is there once."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            await start(provider, "a")
            transactions = store_of(provider).transactions
            ask = transactions._link.ask  # noqa: SLF001 - where it breaks
            broken = 0

            async def breaking(steps: Any) -> Any:
                nonlocal broken
                if steps[-1][0] != "commit" or broken >= 3:
                    return await ask(steps)
                broken += 1
                if applied:
                    await ask(steps)
                transactions._link.sever()  # noqa: SLF001
                raise psycopg.OperationalError("the connection broke")

            monkeypatch.setattr(transactions._link, "ask", breaking)  # noqa: SLF001
            await provider.enqueue_for_orchestrator(message("a"))
            item = await take(provider)
            await provider.ack_work_item(item.token, message("a", '"end"'))
            run = await take_run(provider)
            assert broken == 3
            assert [each.text for each in run.messages] == ["{}", '"end"']
            with pytest.raises(LeaseLost):
                await provider.ack_work_item(item.token)

    asyncio.run(body())
