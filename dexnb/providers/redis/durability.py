"""Tell whoever connects what a crash of the server can cost, where it can cost anything."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

from dexnb.errors import DexnbWarning, ProviderError
from dexnb.providers.redis.encoding import text

LOG = logging.getLogger("dexnb")

_KEEPS = "noeviction"
_UNKNOWN = "unknown"
_FIX = "set appendonly yes and appendfsync always in its configuration"


async def check(place: str, command: Callable[..., Awaitable[Any]]) -> None:
    """Warn unless the server has every commit on its disk before it answers, and keeps it all."""
    try:
        append_only = await _setting(command, "appendonly")
        fsync = await _setting(command, "appendfsync")
        policy = await _setting(command, "maxmemory-policy")
    except ProviderError as error:
        if error.retryable:
            raise
        warn(
            f"{place} does not let its durability be looked up (CONFIG GET is refused): "
            f"unless appendonly is yes and appendfsync always, its crash can lose runs, and unless "
            f"maxmemory-policy is {_KEEPS}, a full memory loses them"
        )
        return
    if policy not in (_KEEPS, _UNKNOWN):
        warn(
            f"{place} throws away keys when its memory is full (maxmemory-policy {policy}), and "
            f"runs with them; set maxmemory-policy {_KEEPS} in its configuration"
        )
    if append_only != "yes":
        warn(f"{place} keeps no append-only file: its crash loses runs; {_FIX}")
    elif fsync != "always":
        warn(
            f"{place} writes its append-only file to disk later (appendfsync {fsync}): a crash of "
            f"its machine loses what was acknowledged last; {_FIX}"
        )


def warn(message: str) -> None:
    """Say it as a warning and on the logger `dexnb`."""
    LOG.warning("%s", message)
    warnings.warn(message, DexnbWarning, stacklevel=2)


async def _setting(command: Callable[..., Awaitable[Any]], name: str) -> str:
    answer = await command("open", "CONFIG", "GET", name)
    return text(answer[1]) if len(answer) > 1 else _UNKNOWN
