"""Waits for runs that begin without a look at the store."""

from __future__ import annotations

import asyncio
from typing import Any

from dexnb import Clock, StepDecision, graceful_complete
from dexnb.engine import Runtime, RuntimeOptions
from dexnb.engine.turn import turn
from dexnb.flow.context import AsyncContext
from dexnb.model.message import Published, Stop
from dexnb.model.run_state import RunState
from dexnb.providers import Handlers, MemoryProvider, MemoryStore, NewMessage, RunRecord
from tests.engine.flows import flow, virtual


class CountingProvider(MemoryProvider):
    """Counts the looks at runs."""

    looks = 0

    async def read_run(self, *, run_id: str = "", flow_id: str = "") -> RunRecord | None:
        """Count and look."""
        self.looks += 1
        return await super().read_run(run_id=run_id, flow_id=flow_id)


async def end(context: AsyncContext, input: Any) -> StepDecision:
    """Complete at once."""
    return graceful_complete(input)


async def looks_of_a_run() -> int:
    """Run a Flow to its end; count the looks at it."""
    provider = CountingProvider()
    async with Runtime(provider) as runtime:
        run = await runtime.start(flow(end), "flow", 1)
        result = await run.wait(10)
        assert (result.status, result.completions[0].document) == ("COMPLETED", 1)
        return provider.looks


def test_a_run_that_was_started_here_is_waited_for_without_a_look() -> None:
    """Its end is told by the turn that writes it."""
    assert asyncio.run(looks_of_a_run()) == 0


@virtual
async def test_in_time_that_jumps_every_wait_begins_with_a_look() -> None:
    """There is nothing to gain, and no half second to wait for the one that was left out."""
    assert await looks_of_a_run() == 1


def test_an_end_that_nobody_tells_of_is_seen_soon() -> None:
    """Somebody else writes to the store, and the engine that waits learns nothing of it."""

    async def body() -> None:
        store = MemoryStore()
        idle = RuntimeOptions(worker_concurrency=0, orchestration_concurrency=1)
        async with Runtime(MemoryProvider(store), options=idle) as runtime:
            run = await runtime.start(flow(end), "flow", 1)
            other = MemoryProvider(store)
            await other.open(Clock.real(), "other")
            handlers = Handlers(runtime.engine.registry.handlers)
            record = await other.read_run(run_id=run.run_id)
            (work,) = await other.fetch_work_items(60, 0, handlers, 1)
            assert record is not None
            state = RunState.from_text(record.state)
            ending = turn(state, [Stop("CANCEL", "because")], time=1.0, wall=1.0)
            assert await other.ack_work_item_with_turn(
                work.token, NewMessage(run.run_id, "{}"), ending
            )
            result = await run.wait(10)
            assert (result.status, result.error_message) == ("CANCELED", "because")
            await other.close()

    asyncio.run(body())


async def rest(context: AsyncContext, input: Any) -> StepDecision:
    """Go on for long."""
    await asyncio.sleep(3600)
    return graceful_complete(input)


def ended(record: RunRecord) -> str | None:
    """Give how a run has ended."""
    return None if record.status == "RUNNING" else record.status


@virtual
async def test_of_two_turns_at_once_who_waits_hears_of_the_newer_one() -> None:
    """It comes before the one who waits could look at the first."""
    async with Runtime(MemoryProvider()) as runtime:
        run = await runtime.start(flow(rest), "flow", 1)
        endings, state = runtime.engine.endings, await run.state()
        waits = asyncio.create_task(endings.until(run.run_id, ended))
        await asyncio.sleep(1)
        for message in (Published("Orders", [1], "world", "one"), Stop("CANCEL", "because")):
            endings.changed(turn(state, [message], time=1.0, wall=1.0), state)
        async with asyncio.timeout(10):
            assert await waits == "CANCELED"


@virtual
async def test_who_is_to_look_at_the_store_does_so_whatever_turn_is_told_then() -> None:
    """That turn may be older than what another process has done."""
    store = MemoryStore()
    async with Runtime(MemoryProvider(store)) as runtime:
        run = await runtime.start(flow(rest), "flow", 1)
        endings, state = runtime.engine.endings, await run.state()
        waits = asyncio.create_task(endings.until(run.run_id, ended))
        await asyncio.sleep(1)
        older = turn(state, [Published("Orders", [1], "world", "one")], time=1.0, wall=1.0)
        store.runs[run.run_id].status = "CANCELED"
        endings.look()
        endings.changed(older, state)
        async with asyncio.timeout(10):
            assert await waits == "CANCELED"


def test_two_that_wait_share_nothing_that_could_be_changed() -> None:
    """Each has a result of its own."""

    async def both(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(0.05)
        return graceful_complete([1])

    async def body() -> None:
        async with Runtime(MemoryProvider()) as runtime:
            run = await runtime.start(flow(both), "flow", 1)
            one, other = await asyncio.gather(run.wait(10), run.wait(10))
            one.completions[0].document.append(2)
            assert other.completions[0].document == [1]

    asyncio.run(body())
