"""Turns that were applied though the store never said so: who waits learns of them all the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import flow, virtual

PATIENCE = 60.0

LOST = Fault("ack_orchestration_item", {1}, applied=True)
LOST_END = Fault("ack_work_item_with_turn", {1}, applied=True)


async def last(context: AsyncContext, input: Any) -> StepDecision:
    """Go on until the run is stopped."""
    await asyncio.sleep(3600)
    return graceful_complete()


async def end(context: AsyncContext, input: Any) -> StepDecision:
    """Complete after a while."""
    await asyncio.sleep(1)
    return graceful_complete(context.attempt)


def blind(provider: FaultyProvider) -> None:
    """Let the next look at a run fail for good."""
    provider.faults.append(
        Fault("read_run", {provider.calls["read_run"] + 1}, retryable=False),
    )


@pytest.mark.parametrize(
    "faults",
    [
        (LOST,),
        (LOST, Fault("ack_orchestration_item", {2}, retryable=False)),
        (LOST, Fault("ack_orchestration_item", range(2, 7))),
    ],
    ids=["cannot be looked at", "is refused then", "is never answered"],
)
def test_an_end_whose_answer_is_lost_reaches_who_waits(faults: tuple[Fault, ...]) -> None:
    """However the store goes on: the engine cannot know whether its turn has ended the run."""

    @virtual
    async def body() -> None:
        provider = FaultyProvider(MemoryProvider(), faults)
        async with Runtime(provider) as runtime:
            run = await runtime.start(flow(last), "flow")
            waits = asyncio.create_task(run.wait(PATIENCE))
            await asyncio.sleep(1)
            if len(faults) == 1:
                blind(provider)
            await run.stop(reason="because")
            result = await waits
            assert (result.status, result.error_message) == ("CANCELED", "because")

    body()


@pytest.mark.parametrize(
    "faults",
    [(LOST_END,), (LOST_END, Fault("ack_work_item_with_turn", {2}, retryable=False))],
    ids=["cannot be looked at", "is refused then"],
)
def test_a_steps_end_whose_answer_is_lost_reaches_who_waits(faults: tuple[Fault, ...]) -> None:
    """The turn that went into the store with it has ended the run."""

    @virtual
    async def body() -> None:
        provider = FaultyProvider(MemoryProvider(), faults)
        async with Runtime(provider) as runtime:
            run = await runtime.start(flow(end), "flow")
            waits = asyncio.create_task(run.wait(PATIENCE))
            await asyncio.sleep(0.5)
            if len(faults) == 1:
                blind(provider)
            result = await waits
            assert (result.status, result.output) == ("COMPLETED", 1)

    body()
