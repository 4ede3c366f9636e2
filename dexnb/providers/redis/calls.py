"""Calls of an open store that several methods of the contract share."""

from __future__ import annotations

from typing import Any

from dexnb.providers.redis.encoding import micros, raw
from dexnb.providers.redis.store import Store


def now_of(store: Store) -> int:
    """Give store time for what is due, as scripts take it."""
    return micros(store.clock.now())


def lease_of(store: Store) -> int:
    """Give store time for locks, as scripts take it."""
    return micros(store.clock.lease())


async def abandon(
    store: Store, operation: str, script: str, token: str, delay: float, *, uncounted: bool
) -> None:
    """Give back what a token has locked, visible after so many seconds."""
    visible_at = micros(store.clock.now() + delay) if delay > 0 else 0
    times = now_of(store), lease_of(store)
    await store.run(operation, script, *times, raw(token), visible_at, int(uncounted), token=token)


async def ack_work(
    store: Store,
    operation: str,
    token: str,
    message: list[Any],
    retry: list[Any],
    turn: list[Any],
) -> bool:
    """End an attempt with a message, a retry or a turn; tell whether the turn was applied."""
    times = now_of(store), lease_of(store)
    arguments = *times, raw(token), *message, *retry, *turn
    _, dropped, applied = await store.run(operation, "ack_work", *arguments, token=token)
    store.tell_dropped(dropped)
    return bool(applied)
