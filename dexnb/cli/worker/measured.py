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

WRITES = frozenset(
    {
        "start_run",
        "enqueue_for_orchestrator",
        "ack_orchestration_item",
        "abandon_orchestration_item",
        "renew_orchestration_item_lock",
        "ack_work_item",
        "ack_work_item_with_turn",
        "abandon_work_item",
        "renew_work_item_lock",
        "renew_work_item_locks",
        "record_beats",
        "write_stream",
        "append_telemetry",
    }
)
"""Calls that change the store, where they do not refuse to. A fetch may change nothing."""

MOST_FAILED_WRITES = 2
"""Failures in a row that are no single call's fault any more."""

UNWRITTEN_SECONDS = 30.0
"""What fails to be written is tried again sooner; after so long nothing waits to be written."""


class StoreCounts:
    """What the calls to one store were like; belongs to the control loop."""

    def __init__(self) -> None:
        """Start with no call."""
        self.errors: Counter[str] = Counter()
        """Calls that the store has failed, by the Provider's method. A lost lease is no error."""
        self.commits = Durations()
        """Seconds of the calls that wrote a turn."""
        self._failed_writes = 0
        self._failure: Exception | None = None
        self._failed_at = 0.0

    @property
    def unwritten(self) -> Exception | None:
        """Give why nothing can be written at present, by the newest tries."""
        if self._failed_writes < MOST_FAILED_WRITES:
            return None
        return self._failure if perf_counter() - self._failed_at < UNWRITTEN_SECONDS else None

    def wrote(self, failure: Exception | None) -> None:
        """Take how a call that writes has ended."""
        self._failed_writes = 0 if failure is None else self._failed_writes + 1
        self._failure, self._failed_at = failure, perf_counter()


def measured(provider: Provider, counts: StoreCounts) -> Provider:
    """Give a provider that passes every call on and counts it."""
    return cast("Provider", _Measured(provider, counts))


class _Measured:
    """Passes on whatever a provider has, so also what the contract is given later."""

    def __init__(self, provider: Provider, counts: StoreCounts) -> None:
        self._provider = provider
        self._counts = counts

    def __getattr__(self, name: str) -> Any:
        if name == "_provider":
            # One that is being copied is asked for this before it has anything.
            raise AttributeError(name)
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
            except Exception as error:
                counts.errors[name] += 1
                if name in WRITES:
                    counts.wrote(error)
                raise
            if name in WRITES:
                counts.wrote(None)
            if any(isinstance(arg, Commit) for arg in args):
                counts.commits.add(perf_counter() - began)
            return answer

        return watched
