"""A server that refuses for a while: what it was asked about is not taken for damaged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from dexnb.errors import LeaseLost, ProviderError
from dexnb.providers import Beat, StreamWrite, TelemetryChunk, WorkItem
from dexnb.providers.redis import RedisProvider
from tests.providers.redis_case import (
    HANDLERS,
    LONG,
    commit,
    message,
    opened,
    start,
    take,
    take_run,
)
from tests.providers.redis_server import Server, ask, own_server

pytestmark = pytest.mark.external("redis")

SHORT = 0.01
"""Seconds of a lease that is over at once."""

Command = tuple[Any, ...]

TROUBLES: dict[str, tuple[Command, Command]] = {
    "OOM": (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
    "NOREPLICAS": (
        ("CONFIG", "SET", "min-replicas-to-write", "1"),
        ("CONFIG", "SET", "min-replicas-to-write", "0"),
    ),
    "READONLY": (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")),
    "no HSET": (("ACL", "SETUSER", "default", "-hset"), ("ACL", "SETUSER", "default", "+hset")),
    "no HGET": (("ACL", "SETUSER", "default", "-hget"), ("ACL", "SETUSER", "default", "+hget")),
    "no HLEN": (("ACL", "SETUSER", "default", "-hlen"), ("ACL", "SETUSER", "default", "+hlen")),
}
"""What makes a server refuse, and what ends that."""


@pytest.fixture(scope="module", name="own")
def own_fixture() -> Iterator[Server]:
    """Give a server that these tests may spoil for a while."""
    with own_server() as server:
        yield server


def _calls(provider: RedisProvider, token: str) -> list[Callable[[], Any]]:
    """Give a call of each kind; those that fetch come first."""
    said = StreamWrite("Flow", "s", "flow-a", "run-a", "client", "1", 1.5, 10**6)
    return [
        partial(provider.fetch_work_item, SHORT, 0, HANDLERS),
        partial(provider.fetch_orchestration_item, SHORT, 0),
        partial(provider.read_run, run_id="run-a"),
        partial(provider.list_runs),
        partial(provider.record_beats, [Beat(token, "1")]),
        partial(provider.enqueue_for_orchestrator, message("a")),
        partial(provider.start_run, commit("new")),
        partial(provider.write_stream, [said]),
        partial(provider.append_telemetry, [TelemetryChunk("run-a", 1, 1, "{}")]),
    ]


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_is_asked_for_while_a_server_refuses_is_set_aside_by_nobody(
    own: Server, trouble: str
) -> None:
    """Work, runs and messages are there when it does not refuse any more, leases too."""
    begin, end = TROUBLES[trouble]

    async def body() -> None:
        prefix = trouble.replace(" ", "-")
        url = f"{own.url}&prefix={prefix}"
        provider = await opened(url)
        await start(provider, "a", "b", "c")
        for name in ("a", "b"):
            await provider.enqueue_for_orchestrator(message(name))
        held = await take(provider)
        await take(provider, SHORT)
        assert await provider.fetch_orchestration_item(SHORT, 0) is not None
        await asyncio.sleep(2 * SHORT)
        await ask(url, *begin)
        try:
            refused = await _refused(provider, held)
        finally:
            await ask(url, *end)
        assert refused > 0
        assert await ask(url, "EXISTS", f"{{{prefix}}}:broken") == 0
        await _all_is_there(provider, held)
        await provider.close()

    asyncio.run(body())


async def _refused(provider: RedisProvider, held: WorkItem) -> int:
    """Make all calls; tell how many of them were refused, and see that no lease counts as lost."""
    refused = 0
    for call in _calls(provider, held.token):
        try:
            answer = await call()
        except LeaseLost:
            pytest.fail(f"a live lease: {call}")
        except ProviderError:
            refused += 1
        else:
            assert answer != frozenset({held.token}), "a live lease"
    return refused


async def _all_is_there(provider: RedisProvider, held: WorkItem) -> None:
    """See that everything comes, once what was fetched in between is free again."""
    await asyncio.sleep(2 * SHORT)
    found = [held, await take(provider), await take(provider)]
    assert {item.item.run_id for item in found} == {"run-a", "run-b", "run-c"}
    for item in found:
        await provider.ack_work_item(item.token)
    assert {(await take_run(provider)).run_id for _ in range(2)} == {"run-a", "run-b"}
    runs = {run.run_id for run in await provider.list_runs()}
    assert runs >= {"run-a", "run-b", "run-c"}


def test_work_that_was_refused_comes_when_there_is_room_again(own: Server) -> None:
    """With its first attempt, and the message with it."""

    async def body() -> None:
        url = f"{own.url}&prefix=room"
        provider = await opened(url)
        await start(provider, "a")
        await provider.enqueue_for_orchestrator(message("a"))
        begin, end = TROUBLES["OOM"]
        await ask(url, *begin)
        with pytest.raises(ProviderError, match="no memory left") as failure:
            await provider.fetch_work_item(LONG, 0, HANDLERS)
        assert failure.value.retryable
        await ask(url, *end)
        assert (await take(provider)).deliveries == 1
        assert len((await take_run(provider)).messages) == 1
        await provider.close()

    asyncio.run(body())
