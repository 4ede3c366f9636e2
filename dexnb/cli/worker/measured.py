"""`Measured`: a store whose calls are watched: how long commits take, and which calls fail."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from dexnb.clock import perf_counter
from dexnb.engine.durations import Durations
from dexnb.errors import LeaseLost
from dexnb.providers import Commit, Provider


class StoreCounts:
    """What the calls to one store were like; belongs to the control loop."""

    def __init__(self) -> None:
        """Start with no call."""
        self.errors: Counter[str] = Counter()
        """Calls that the store has failed, by the Provider's method. A lost lease is no error."""
        self.commits = Durations()
        """Seconds of the calls that wrote a turn."""


def measured(provider: Provider, counts: StoreCounts) -> Provider:
    """Give a provider that passes every call on and counts it."""
    return cast("Provider", _Measured(provider, counts))


class _Measured:
    """Passes on whatever a provider has, so also what the contract is given later."""

    def __init__(self, provider: Provider, counts: StoreCounts) -> None:
        self._provider = provider
        self._counts = counts

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._provider, name)
        if not inspect.iscoroutinefunction(found):
            return found
        # Kept, so that this is asked once for each method.
        wrapped = self.__dict__[name] = self._watched(name, found)
        return wrapped

    def _watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        counts = self._counts

        @wraps(call)
        async def watched(*args: Any, **options: Any) -> Any:
            began = perf_counter()
            try:
                answer = await call(*args, **options)
            except LeaseLost:
                raise
            except Exception:
                counts.errors[name] += 1
                raise
            if any(isinstance(arg, Commit) for arg in args):
                counts.commits.add(perf_counter() - began)
            return answer

        return watched
