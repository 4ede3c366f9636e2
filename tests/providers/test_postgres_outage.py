"""A server that is away for longer than is waited for: every call is answered, all goes on."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

import dexnb as dex
from dexnb.engine import patience
from dexnb.errors import ProviderError
from dexnb.providers.postgres import reader, transaction
from tests.providers.postgres_case import opened, start, store_of, take
from tests.providers.postgres_server import Server
from tests.providers.sqlite_case import HANDLERS, LONG, commit, message

pytestmark = pytest.mark.external("postgres")
pytest_plugins = ["tests.providers.postgres_fixtures"]

PATIENCE = 0.1
ANSWERED = 10.0
"""Seconds, many times the patience, within which every call has its answer."""


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "PATIENCE", PATIENCE)
    monkeypatch.setattr(reader, "PATIENCE", PATIENCE)


@contextmanager
def _away(server: Server) -> Iterator[None]:
    server.stop(signal.SIGQUIT)
    try:
        yield
    finally:
        server.start()


async def _answers(*calls: Any) -> list[Any]:
    async with asyncio.timeout(ANSWERED):
        return await asyncio.gather(*calls, return_exceptions=True)


def _calls(provider: Any, count: int) -> list[Any]:
    """Give so many calls of different kinds, which go as one batch."""
    calls: tuple[Callable[[], Any], ...] = (
        lambda: provider.enqueue_for_orchestrator(message("a")),
        lambda: provider.fetch_work_item(LONG, 0, HANDLERS),
        lambda: provider.start_run(commit("b")),
        lambda: provider.abandon_work_item("0" * 32 + ".1.1", 0.0),
    )
    return [call() for call in calls[:count]]


def _refused(answers: list[Any], *, retryable: bool, text: str) -> None:
    for error in answers:
        assert isinstance(error, ProviderError), error
        assert error.retryable is retryable
        assert text in str(error)


@pytest.mark.parametrize("count", [1, 4])
def test_every_call_of_a_long_outage_is_answered(
    postgres_server: Server, postgres_url: str, count: int
) -> None:
    """Not only the first one: those behind find no connection from their beginning on."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            await start(provider, "a")
            with _away(postgres_server):
                for _ in range(3):
                    answers = await _answers(*_calls(provider, count))
                    _refused(answers, retryable=True, text="cannot be reached")
            assert not store_of(provider).writer.is_busy
            assert (await provider.start_run(commit("c"))).created
            assert (await take(provider)).deliveries == 1

    asyncio.run(body())


@pytest.mark.parametrize("count", [1, 4])
def test_every_call_is_answered_where_the_store_lets_nobody_in_any_more(
    postgres_server: Server, postgres_url: str, count: int
) -> None:
    """A database that was dropped is no outage, and is said at once, again and again."""
    postgres_server.run("CREATE DATABASE gone")
    url = postgres_server.url("store").replace("/postgres?", "/gone?")

    async def body() -> None:
        async with opened(url) as provider:
            await start(provider, "a")
            postgres_server.run("DROP DATABASE gone WITH (FORCE)")
            for _ in range(3):
                answers = await _answers(*_calls(provider, count))
                _refused(answers, retryable=False, text="does not exist")

    asyncio.run(body())


def test_a_failure_that_nobody_foresaw_answers_whoever_waits(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever breaks: a call that is never answered would hold an engine for ever."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            transactions = store_of(provider).transactions
            with monkeypatch.context() as patched:
                patched.setattr(transactions, "_batch", _breaks)
                for count in (1, 4):
                    for error in await _answers(*_calls(provider, count)):
                        assert isinstance(error, ProviderError)
                        assert "it broke" in str(error)
            assert (await provider.start_run(commit("c"))).created

    asyncio.run(body())


def _breaks(*_: object) -> Any:
    raise ArithmeticError("it broke")


class _Count(dex.Step[int]):
    async def execute(self, context: dex.AsyncContext, input: int) -> dex.StepDecision:
        for number in range(input):
            await context.heartbeat(number)
            await asyncio.sleep(0.05)
        return dex.graceful_complete(input)


class _CountFlow(dex.Flow[int]):
    def get_steps(self) -> dex.StepList[int]:
        return dex.StepList.start_step(_Count())


async def _until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(ANSWERED):
        while not condition():
            await asyncio.sleep(0.02)


def test_an_engine_goes_on_after_a_long_outage(
    postgres_server: Server, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dispatchers, running Steps and new starts, after many times the patience."""
    monkeypatch.setattr(patience, "DELAYS", (0.05,))

    async def body() -> None:
        options = dex.RuntimeOptions(worker_lock_timeout=timedelta(seconds=1))
        async with dex.Runtime(postgres_url, options=options) as runtime:
            running = await runtime.start(_CountFlow(), "running", 30)
            await _until(lambda: runtime.engine.worker.live)
            with _away(postgres_server):
                async with asyncio.timeout(ANSWERED):
                    with pytest.raises(ProviderError, match="cannot be reached"):
                        await runtime.start(_CountFlow(), "lost", 1)
                await asyncio.sleep(4 * PATIENCE)
            async with asyncio.timeout(3 * ANSWERED):
                assert (await running.wait()).status == "COMPLETED"
                new = await runtime.start(_CountFlow(), "new", 1)
                assert (await new.wait()).status == "COMPLETED"

    asyncio.run(body())


def test_a_lookup_that_is_left_does_not_complain(
    postgres_server: Server, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its caller has given up before it failed, and asyncio reports nothing that nobody read."""

    async def body() -> None:
        async with opened(postgres_url) as provider:
            with _away(postgres_server):
                for _ in range(2):
                    with pytest.raises(TimeoutError):
                        async with asyncio.timeout(PATIENCE / 4):
                            await provider.read_run(run_id="run-a")
                await _until(lambda: not store_of(provider).reader._reading)  # noqa: SLF001

    with caplog.at_level(logging.ERROR, "asyncio"):
        asyncio.run(body())
        gc.collect()
    assert [each.message for each in caplog.records if each.name == "asyncio"] == []
