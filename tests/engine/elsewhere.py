"""Calls of another module than the Step's, as a client library makes them."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Self


async def status(suspensions: int = 1) -> str:
    """Ask; one call that talks to its server several times."""
    for _ in range(suspensions):
        await asyncio.sleep(0.01)
    return "RUNNING"


async def wait_between_polls() -> None:
    """Sleep on behalf of the caller: from outside it is a call like any other."""
    await asyncio.sleep(5)


async def lines(count: int) -> AsyncIterator[str]:
    """Read lines as they come."""
    for number in range(count):
        await asyncio.sleep(0.01)
        yield str(number)


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method as libraries do."""

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await function(*args, **kwargs)

    return wrapper


class Client:
    """A client that is opened and closed by calls."""

    async def __aenter__(self) -> Self:
        """Connect."""
        await asyncio.sleep(0.01)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Disconnect."""
        await asyncio.sleep(0.01)
