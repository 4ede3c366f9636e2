"""`patiently`: a client's call to the store, repeated while the store is only busy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dexnb.errors import ProviderError

T = TypeVar("T")

DELAYS = (0.05, 0.1, 0.2, 0.5, 1.0)


async def patiently(call: Callable[[], Awaitable[T]]) -> T:
    """Make a call that may be made twice, again after each retryable error, for about 2 s.

    A store that was patient by itself for longer is not asked again: its error says for how long.

    Raises:
        ProviderError: The error is not retryable, or the store stays busy.
    """
    loop = asyncio.get_running_loop()
    last = loop.time() + sum(DELAYS)
    for delay in DELAYS:
        try:
            return await call()
        except ProviderError as error:
            if not error.retryable or loop.time() >= last:
                raise
        await asyncio.sleep(delay)
    return await call()
