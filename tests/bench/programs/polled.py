"""What a poll round does beside the engine, the same in every program that polls."""

from __future__ import annotations

import asyncio

CALL_SECONDS = 0.003
TIMEOUT_SECONDS = 5.0


async def ask() -> str:
    """Ask an external system that answers after 3 ms."""
    await asyncio.sleep(CALL_SECONDS)
    return "RUNNING"


async def call() -> str:
    """Ask it with a deadline."""
    return await asyncio.wait_for(ask(), TIMEOUT_SECONDS)
