"""States of runs that are at hand, so that a turn needs no message and no fetch."""

from __future__ import annotations

import asyncio
from typing import Any

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import FaultyProvider
from tests.engine.flows import crash, finished, flow, virtual


async def second_time(context: AsyncContext, input: Any) -> StepDecision:
    """Be killed in the first attempt, and end in the second."""
    if context.attempt == 1:
        await asyncio.sleep(3600)
    return graceful_complete(context.attempt)


@virtual
async def test_what_a_killed_engine_left_ends_without_a_turn_of_its_own() -> None:
    """The run is looked at when its Step begins again, and is at hand from then on."""
    store = MemoryStore()
    killed = Runtime(MemoryProvider(store))
    await killed.__aenter__()
    await killed.start(flow(second_time), "flow")
    await asyncio.sleep(1)
    await crash(killed)
    provider = FaultyProvider(MemoryProvider(store))
    async with Runtime(provider) as runtime:
        runtime.register(flow(second_time))
        result = await finished(await runtime.get("flow"))
        assert (result.status, result.output) == ("COMPLETED", 2)
    assert provider.calls["ack_work_item_with_turn"] == 1
    assert provider.calls["ack_orchestration_item"] == 0
