"""`Case`: what a conformance test works with, and `case`, which makes it a test."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import wraps
from typing import Any

import pytest

from dexnb.clock import Clock
from dexnb.errors import LeaseLost, ProviderError
from dexnb.model.event import Event
from dexnb.providers import (
    Commit,
    Handlers,
    NewMessage,
    NewWorkItem,
    OrchestrationItem,
    Provider,
    Started,
    WorkItem,
)
from dexnb.testing.conformance.factory import ProviderFactory

FLOW_TYPE = "Polling"
STEP_TYPE = "Poll"
HANDLER = f"{FLOW_TYPE}/{STEP_TYPE}"
POLL_1 = f"{STEP_TYPE}-1"

Body = Callable[[Any, "Case"], Coroutine[Any, Any, None]]


def case(body: Body) -> Callable[[Any, ProviderFactory], None]:
    """Make a coroutine method a test that runs on the factory's clock."""

    @wraps(body)
    def test(self: Any, provider_factory: ProviderFactory) -> None:
        provider_factory.clock.run(_run(body, self, provider_factory))

    # pytest takes the arguments from here, not from what is wrapped.
    test.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # any function may
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for name in ("self", "provider_factory")
        ]
    )
    return test


async def _run(body: Body, test: Any, factory: ProviderFactory) -> None:
    used = Case(factory, await factory.create())
    try:
        await body(test, used)
    finally:
        await used.close()


class Case:
    """A fresh store, builders for what is written to it, and fetches that never wait.

    A run called `a` has the id `run-a` and the flow id `flow-a`.
    """

    def __init__(self, factory: ProviderFactory, provider: Provider) -> None:
        """Use an open provider."""
        self.factory = factory
        self.provider = provider
        self.handlers = Handlers({HANDLER})
        self.lock_timeout = factory.lock_timeout
        self._opened = [provider]

    async def close(self) -> None:
        """Close all providers of the test."""
        for provider in reversed(self._opened):
            await provider.close()

    async def second(self, owner: str = "engine-2", clock: Clock | None = None) -> Provider:
        """Open one more provider on the store."""
        provider = await self.factory.second(self.provider, owner, clock)
        self._opened.append(provider)
        return provider

    async def advance(self, seconds: float) -> None:
        """Let time pass."""
        await self.factory.advance(seconds)

    async def locks_run_out(self) -> None:
        """Let so much time pass that no lock of `lock_timeout` taken before is live."""
        await self.advance(self.lock_timeout * 1.1 + self.factory.short_poll_threshold)

    def event(self, name: str, seq: int) -> Event:
        """Make a durable event."""
        return Event(
            seq=seq,
            flow_id=f"flow-{name}",
            run_id=f"run-{name}",
            wall=1e9,
            time=1e9 + seq,
            kind="flow_started" if seq == 1 else "step_scheduled",
            payload={"seq": seq},
        )

    def commit(self, name: str, *, events: Sequence[int] = (), **parts: Any) -> Commit:
        """Make a turn of a run with events of these numbers."""
        parts = {"state": "{}", "status": "RUNNING", **parts}
        return Commit(
            run_id=f"run-{name}",
            flow_id=f"flow-{name}",
            flow_type=FLOW_TYPE,
            events=tuple(self.event(name, seq) for seq in events),
            **parts,
        )

    def turn(self, item: OrchestrationItem, *, events: int = 1, **parts: Any) -> Commit:
        """Make the turn that follows a fetched run's history with so many events."""
        numbers = range(item.version + 1, item.version + 1 + events)
        return self.commit(item.run_id.removeprefix("run-"), events=numbers, **parts)

    def work(self, name: str, step_execution_id: str = POLL_1, **parts: Any) -> NewWorkItem:
        """Make an attempt of a run's Step."""
        return NewWorkItem(
            run_id=f"run-{name}",
            flow_id=f"flow-{name}",
            flow_type=parts.pop("flow_type", FLOW_TYPE),
            step_type=step_execution_id.rpartition("-")[0],
            step_execution_id=step_execution_id,
            payload=parts.pop("payload", "{}"),
            **parts,
        )

    def message(self, name: str, text: str = '"hello"', visible_at: float = 0.0) -> NewMessage:
        """Make a message to a run."""
        return NewMessage(f"run-{name}", text, visible_at)

    async def start(self, name: str = "a", *, steps: Sequence[str] = (), **parts: Any) -> Started:
        """Start a run with these Step executions."""
        work = tuple(self.work(name, step) for step in steps)
        return await self.provider.start_run(
            self.commit(name, events=[1], work_items=work, **parts)
        )

    async def send(self, name: str = "a", *texts: str) -> None:
        """Send messages to a run, one after the other."""
        for text in texts or ('"hello"',):
            await self.provider.enqueue_for_orchestrator(self.message(name, text))

    async def find_run(self, provider: Provider | None = None) -> OrchestrationItem | None:
        """Fetch a run with messages, if there is one now."""
        provider = provider or self.provider
        return await provider.fetch_orchestration_item(self.lock_timeout, 0)

    async def find_work(self, provider: Provider | None = None) -> WorkItem | None:
        """Fetch a work item, if there is one now."""
        provider = provider or self.provider
        return await provider.fetch_work_item(self.lock_timeout, 0, self.handlers)

    async def take_run(self, provider: Provider | None = None) -> OrchestrationItem:
        """Fetch a run that must be there now."""
        item = await self.find_run(provider)
        assert item is not None, "no run could be fetched"
        return item

    async def take_work(self, provider: Provider | None = None) -> WorkItem:
        """Fetch a work item that must be there now."""
        item = await self.find_work(provider)
        assert item is not None, "no work item could be fetched"
        return item

    async def started_work(self, name: str = "a") -> WorkItem:
        """Start a run with one Step and fetch its first attempt."""
        await self.start(name, steps=[POLL_1])
        return await self.take_work()

    async def locked_run(self, name: str = "a") -> OrchestrationItem:
        """Start a run, send it a message and fetch it."""
        await self.start(name)
        await self.send(name)
        return await self.take_run()


async def refused(
    call: Callable[..., Awaitable[object]], *args: Any, **options: Any
) -> ProviderError:
    """Make a call that must fail for good; give its error."""
    with pytest.raises(ProviderError) as refusal:
        await call(*args, **options)
    error = refusal.value
    assert not error.retryable, f"{error} says that the same call may succeed later"
    return error


async def lost(call: Callable[..., Awaitable[object]], *args: Any, **options: Any) -> None:
    """Make a call whose token must not be live."""
    error = await refused(call, *args, **options)
    assert isinstance(error, LeaseLost), f"{error!r} should be LeaseLost"


def texts(item: OrchestrationItem) -> list[str]:
    """Give the texts of a fetched run's messages."""
    return [message.text for message in item.messages]


async def elapsed(call: Awaitable[object]) -> float:
    """Tell how long a call took on the loop's clock."""
    loop = asyncio.get_running_loop()
    before = loop.time()
    await call
    return loop.time() - before
