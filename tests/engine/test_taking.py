"""Work that a file hands over to its engine with the commit of the turn that enqueues it."""

from __future__ import annotations

import asyncio
import contextvars
from pathlib import Path
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime, RuntimeOptions
from dexnb.flow.context import AsyncContext
from dexnb.providers.sqlite import SqliteProvider
from dexnb.testing import FaultyProvider
from tests.engine.flows import finished, flow

WHOSE: contextvars.ContextVar[str] = contextvars.ContextVar("whose", default="nobody's")


async def whose(context: AsyncContext, input: Any) -> StepDecision:
    """Complete with what the context says."""
    return graceful_complete(WHOSE.get())


def test_a_flow_on_a_file_of_its_own_needs_no_fetch(tmp_path: Path) -> None:
    """Its Step begins with the commit of the start, in the engine's context."""

    async def body() -> None:
        provider = FaultyProvider(SqliteProvider(tmp_path / "x.db"))
        WHOSE.set("the engine's")
        async with Runtime(provider) as runtime:
            runtime.register(flow(whose))
            await asyncio.sleep(0.2)
            before = provider.calls["fetch_work_items"]
            WHOSE.set("the caller's")
            result = await finished(await runtime.start(flow(whose), "flow"), 10)
            assert result.output == "the engine's"
            assert provider.calls["fetch_work_items"] == before

    asyncio.run(body())


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_there_are_never_more_attempts_than_slots(tmp_path: Path, slots: int) -> None:
    """And those that found none begin as soon as others have ended, the oldest first."""
    running: list[int] = []
    begun: list[int] = []
    most = 0

    async def counts(context: AsyncContext, input: int) -> StepDecision:
        nonlocal most
        running.append(input)
        begun.append(input)
        most = max(most, len(running))
        await asyncio.sleep(0.01)
        running.remove(input)
        return graceful_complete()

    async def body() -> None:
        options = RuntimeOptions(worker_concurrency=slots)
        async with Runtime(SqliteProvider(tmp_path / "x.db"), options=options) as runtime:
            counting = flow(counts)
            runtime.register(counting)
            await asyncio.sleep(0.2)
            for batch in range(3):
                numbers = range(batch * 10, batch * 10 + 10)
                starts = (runtime.start(counting, f"flow-{n}", n) for n in numbers)
                runs = await asyncio.gather(*starts)
                for run in runs:
                    assert (await run.wait(10)).status == "COMPLETED"

    asyncio.run(body())
    assert most == slots
    assert begun == sorted(begun)
