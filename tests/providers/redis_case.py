"""What the tests of the Redis provider write to a store."""

from __future__ import annotations

from typing import Any

from dexnb.clock import Clock
from dexnb.providers import OrchestrationItem, WorkItem
from dexnb.providers.redis import RedisProvider
from dexnb.providers.redis.lane import Lane
from tests.providers.redis_server import ask
from tests.providers.sqlite_case import HANDLERS, LONG, commit, message, work

__all__ = [
    "HANDLERS",
    "LONG",
    "commit",
    "key",
    "lane_of",
    "lose_next_answer",
    "message",
    "opened",
    "raw",
    "start",
    "take",
    "take_run",
    "work",
]


async def opened(url: str, owner: str = "engine", clock: Clock | None = None) -> RedisProvider:
    """Open a provider."""
    provider = RedisProvider(url)
    await provider.open(clock or Clock.real(), owner)
    return provider


async def start(provider: RedisProvider, *names: str) -> None:
    """Start runs with one work item each."""
    for name in names:
        await provider.start_run(commit(name, work_items=(work(name),)))


async def take(provider: RedisProvider, lock_timeout: float = LONG) -> WorkItem:
    """Fetch a work item that must be there."""
    item = await provider.fetch_work_item(lock_timeout, 0, HANDLERS)
    assert item is not None, "no work item could be fetched"
    return item


async def take_run(provider: RedisProvider) -> OrchestrationItem:
    """Fetch a run that must be there."""
    item = await provider.fetch_orchestration_item(LONG, 0)
    assert item is not None, "no run could be fetched"
    return item


def lane_of(provider: RedisProvider) -> Lane:
    """Give the connection that carries a provider's calls."""
    assert provider.store is not None
    return provider.store.lane


async def lose_next_answer(provider: RedisProvider) -> None:
    """Let the connection break when the server has done what it was asked next."""
    connection = await lane_of(provider).connected()
    reading = connection.read_response

    async def lost(*arguments: Any, **options: Any) -> Any:
        """Take the answer, and say that there is none."""
        await reading(*arguments, **options)
        raise ConnectionResetError

    connection.read_response = lost  # type: ignore[method-assign]  # the fault


def key(url: str, name: str) -> str:
    """Name a key of the store under a test's address."""
    return f"{{{url.rpartition('prefix=')[2]}}}:{name}"


async def raw(url: str, command: str, name: str, *arguments: Any) -> Any:
    """Send a command about a key, behind the provider's back."""
    return await ask(url, command, key(url, name), *arguments)
