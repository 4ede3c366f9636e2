"""Deliveries that were lost with their engine say nothing against a run that can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import AsyncRun, Runtime
from dexnb.flow.context import AsyncContext
from dexnb.model.message import Published, encode_message
from dexnb.providers import MemoryProvider, NewMessage, OrchestrationItem
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import fast, flow, step, virtual

LOST = 12
"""More than a message that cannot be read may have."""

SETTINGS = fast(orchestrator_lock_timeout=timedelta(seconds=1), max_attempts=10)


class Counting(MemoryProvider):
    """A store that notes how often the messages of each fetch were delivered."""

    def __init__(self) -> None:
        """Start with none."""
        super().__init__()
        self.counts: list[int] = []

    async def fetch_orchestration_items(
        self, lock_timeout: float, poll_timeout: float, limit: int
    ) -> Sequence[OrchestrationItem]:
        """Note it."""
        items = await super().fetch_orchestration_items(lock_timeout, poll_timeout, limit)
        self.counts += [item.attempt_count for item in items]
        return items


async def hold(context: AsyncContext, input: Any) -> StepDecision:
    """Work for an hour."""
    await asyncio.sleep(3600)
    return graceful_complete(None)


async def started(runtime: Runtime) -> AsyncRun:
    """Start a run that works for long, and let it begin."""
    run = await runtime.start(flow(step(hold)), "flow")
    await asyncio.sleep(1)
    return run


async def publish(run: AsyncRun, request_id: str) -> None:
    """Send a message that can be read."""
    message = NewMessage(run.run_id, encode_message(Published("Lost", [1], "world", request_id)))
    await run._engine.provider.enqueue_for_orchestrator(message)  # noqa: SLF001 - to any Channel


async def lose_deliveries(store: FaultyProvider, run: AsyncRun) -> None:
    """Send a message whose deliveries are lost on their way, as with an engine that crashes."""
    store.faults = [Fault("fetch_orchestration_items", applied=True)]
    counts: list[int] = getattr(store.inner, "counts", [])
    # The fetch that waits already is not struck, and takes the first.
    await publish(run, "first")
    await asyncio.sleep(0.5)
    await publish(run, "lost")
    while max(counts, default=0) < LOST:
        await asyncio.sleep(0.5)
    store.faults = []


@virtual
async def test_a_refused_turn_behind_lost_deliveries_ends_nothing() -> None:
    """The run can be read, and its turns have failed once: they are tried again."""
    store = FaultyProvider(Counting())
    async with Runtime(store, options=SETTINGS) as runtime:
        run = await started(runtime)
        await lose_deliveries(store, run)
        refused = store.calls["ack_orchestration_item"] + 1
        store.faults = [Fault("ack_orchestration_item", {refused}, retryable=False)]
        await asyncio.sleep(5)
        assert store.calls["ack_orchestration_item"] == refused + 1
        state = await run.state()
        assert (state.status, state.requests) == ("RUNNING", ["first", "lost"])


@virtual
async def test_a_message_that_cannot_be_read_counts_its_own_deliveries() -> None:
    """It may come ten times, like any, whatever became of those beside it."""
    store = FaultyProvider(Counting())
    async with Runtime(store, options=SETTINGS) as runtime:
        run = await started(runtime)
        await lose_deliveries(store, run)
        await store.enqueue_for_orchestrator(NewMessage(run.run_id, "{"))
        await asyncio.sleep(9)
        assert await run.status() == "RUNNING"
        assert (await run.wait(10)).error_message.startswith("Poison: ")


@pytest.mark.parametrize(("refusals", "status"), [(10, "RUNNING"), (11, "FAILED")])
@virtual
async def test_a_run_whose_turns_fail_every_time_is_closed_at_last(
    refusals: int, status: str
) -> None:
    """As many as a message that cannot be read may have; each turn that is applied counts anew."""
    store = FaultyProvider(Counting())
    async with Runtime(store, options=SETTINGS) as runtime:
        run = await started(runtime)
        for number in range(2):
            called = store.calls["ack_orchestration_item"]
            calls = range(called + 1, called + 1 + refusals)
            store.faults = [Fault("ack_orchestration_item", calls, retryable=False)]
            await publish(run, f"{number}")
            await asyncio.sleep(30)
            assert await run.status() == status
        error = (await run.state()).error_message
        assert ("injected fault" in error) == (status == "FAILED")
