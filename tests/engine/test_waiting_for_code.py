"""What a run says of code that it waits for, beside the Flow and the Step themselves."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Channel,
    ChannelMap,
    Flow,
    StepDecision,
    StepOptions,
    Timer,
    Wait,
    graceful_complete,
)
from dexnb.engine import AsyncRun, Runtime
from dexnb.providers import MemoryProvider, MemoryStore
from tests.engine.flows import fast, finished, virtual
from tests.engine.rules.made import flow_of, started, waits

NOTES = Channel("notes", str)
LINES = ChannelMap("lines", str)
COUNT = Attribute("count", int)
PARTS = AttributeMap("parts", int)
KEEPS = (NOTES, LINES, COUNT, PARTS)


async def ends(context: AsyncContext, input: Any) -> StepDecision:
    """End."""
    return graceful_complete("done")


async def either(context: AsyncContext, input: Any) -> Wait:
    """Wait for messages of a Channel and of a map, or ten seconds."""
    late = Timer.by_duration(timedelta(seconds=10))
    return Wait.any_of(NOTES.for_one(), LINES.for_one("a/b"), late)


async def a_while(context: AsyncContext, input: Any) -> Wait:
    """Wait for ten seconds."""
    return Wait.until(Timer.by_duration(timedelta(seconds=10)))


async def left_waiting(store: MemoryStore, made: Flow[Any]) -> None:
    """Start a run of a Flow and leave it while it waits."""
    async with Runtime(MemoryProvider(store), options=fast()) as runtime:
        await started(runtime, made)
        await asyncio.sleep(1)


async def text_under(runtime: Runtime, made: Flow[Any]) -> tuple[AsyncRun, str]:
    """Register other code; give the run and what it says then."""
    runtime.register(made)
    run = await runtime.get("flow")
    return run, await run.waiting_for_code()


FIX = "; list it in get_persistence_schema()"


@pytest.mark.parametrize(
    ("keeps", "text"),
    [
        (KEEPS, ""),
        ((LINES,), "Channel notes, which is not listed by Flow TestFlow; its Channels: lines"),
        (
            (NOTES,),
            "ChannelMap lines/a%2Fb, which is not listed by Flow TestFlow; its Channels: notes",
        ),
        ((), "Channel notes, which is not listed by Flow TestFlow; its Channels: none"),
        (
            (NOTES, Channel("lines", str)),
            (
                "ChannelMap lines/a%2Fb, which is listed as Channel by Flow TestFlow; "
                "its Channels: lines, notes"
            ),
        ),
    ],
)
def test_a_channel_that_a_step_waits_for_and_the_flow_lost_is_named(
    keeps: tuple[Any, ...], text: str
) -> None:
    """Missing, or of another kind; nothing is said once the Flow lists it again."""

    @virtual
    async def inside() -> None:
        store, step = MemoryStore(), waits(ends, either)
        await left_waiting(store, flow_of(step, keeps=KEEPS))
        async with Runtime(MemoryProvider(store), options=fast()) as runtime:
            run, found = await text_under(runtime, flow_of(step, keeps=keeps))
            assert found == (text and f"waits for code: Ends-1 waits for {text}{FIX}")
            assert (await text_under(runtime, flow_of(step, keeps=KEEPS)))[1] == ""
            assert (await finished(run)).output == "done"
            assert await run.waiting_for_code() == ""

    inside()


@virtual
async def test_an_attribute_that_a_step_is_to_lock_and_the_flow_lost_is_named() -> None:
    """A plain one and one of a map, while the Step waits for what comes before."""
    locks = StepOptions(execute_lock_attributes=(COUNT.lock(), PARTS.lock("a")))
    locking = waits(ends, a_while, options=locks)
    store = MemoryStore()
    await left_waiting(store, flow_of(locking, keeps=KEEPS))
    async with Runtime(MemoryProvider(store), options=fast()) as runtime:
        for keeps, what, known in (
            ((PARTS,), "Attribute count", "parts"),
            ((COUNT,), "AttributeMap parts/a", "count"),
        ):
            run, found = await text_under(runtime, flow_of(waits(ends, a_while), keeps=keeps))
            text = f"locks {what}, which is not listed by Flow TestFlow; its Attributes: {known}"
            assert found == f"waits for code: Ends-1 {text}{FIX}"
        assert (await finished(run)).output == "done"


@virtual
async def test_a_wait_whose_method_has_gone_says_nothing_because_it_goes_on() -> None:
    """The Step waits no more in new code; the wait that has begun ends as it was asked for."""
    store = MemoryStore()
    await left_waiting(store, flow_of(waits(ends, either), keeps=KEEPS))
    async with Runtime(MemoryProvider(store), options=fast()) as runtime:
        run, found = await text_under(runtime, flow_of(waits(ends), keeps=KEEPS))
        assert found == ""
        assert (await finished(run)).output == "done"
