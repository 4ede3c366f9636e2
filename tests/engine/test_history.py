"""A17: a long wait costs no history, and bounded memory."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider
from dexnb.testing import FaultyProvider
from tests.engine.flows import fast, finished, flow, history, step, virtual

ROUNDS = 50_000
MEGABYTE = 1 << 20


async def status() -> str:
    """Ask the job, which takes a moment."""
    await asyncio.sleep(0.01)
    return "RUNNING"


@pytest.mark.rule("2.3/no-history")
@virtual
async def test_a17_fifty_thousand_unchanged_rounds_leave_less_than_twenty_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """History has the Steps, not the rounds; the telemetry keeps to its budget; beats overwrite."""
    blocks: list[int] = []

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        for number in range(ROUNDS):
            await context.heartbeat(await status())
            await asyncio.sleep(0.99)
            if number in (ROUNDS // 5, ROUNDS - 1):
                blocks.append(sys.getallocatedblocks())
        return graceful_complete()

    store = FaultyProvider(MemoryProvider())
    budget = 4 * MEGABYTE
    async with Runtime(store, options=fast(telemetry_bytes=budget)) as runtime:
        run = await runtime.start(flow(step(waits, method=1e6)), "flow")
        await finished(run)
        rows = len(await history(run))
        weighed = runtime.engine.telemetry.bytes
        kept = sum(len(chunk.text) for chunk in await store.read_telemetry(run.run_id))
    assert asyncio.get_running_loop().time() == pytest.approx(ROUNDS, rel=0.01)
    assert rows < 20
    assert weighed <= budget
    assert kept <= 512_000
    assert store.calls["record_beats"] == 1
    growth = blocks[1] / blocks[0] - 1
    assert growth < 0.1
    with capsys.disabled():
        print(
            f"\nA17: {ROUNDS} rounds: {rows} history rows, telemetry {weighed / MEGABYTE:.1f} MB "
            f"of {budget / MEGABYTE:.0f}, {kept / 1000:.0f} kB in the store, memory blocks "
            f"{growth:+.1%} from round {ROUNDS // 5} to the last"
        )
