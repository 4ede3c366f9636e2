"""A SubFlow is started once, though two attempts of its starter are at it at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.engine.subflow_start import begin_or_join
from dexnb.flow.context import AsyncContext
from dexnb.flow.mapping import map_start
from dexnb.flow.start_options import StartFlowOptions
from dexnb.model.json_text import from_text
from dexnb.model.message import encode_message
from dexnb.providers import MemoryProvider
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import fast, flow, virtual


async def end(context: AsyncContext, input: Any) -> StepDecision:
    """Complete at once."""
    return graceful_complete(input)


@virtual
async def test_a_start_that_comes_behind_the_end_of_the_same_subflow_starts_nothing() -> None:
    """The attempt that lost its lease was held up; the next one's SubFlow has ended meanwhile."""
    late = Fault("start_run", {1}, retryable=None, delay=5)
    async with Runtime(FaultyProvider(MemoryProvider(), [late]), options=fast()) as runtime:
        engine = runtime.engine
        registered = engine.register(flow(end, name="Child"))
        start = map_start(registered, "child", 1, {}, StartFlowOptions())
        document = {"start": from_text(encode_message(start), "start"), "flow_id": "child"}
        parent = {"run_id": "run", "step_execution_id": "Ask-1", "condition": 0}
        held_up = asyncio.ensure_future(begin_or_join(engine, document, parent))
        await asyncio.sleep(1)
        told = await begin_or_join(engine, document, parent)
        await engine.wait_closed(told["run_id"])
        assert asyncio.get_running_loop().time() == pytest.approx(1)
        assert (await held_up)["run_id"] == told["run_id"]
        await asyncio.sleep(10)
        assert len(await runtime.runs()) == 1
