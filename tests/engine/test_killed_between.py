"""A process that dies between the end of a run and the start of the one that follows it.

A store knows no commit for both. So the same request, made of another process, completes the first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from dexnb import (
    IdReusePolicy,
    StartFlowOptions,
    StepExecutionId,
    TimeTravelOptions,
    TimeTravelType,
)
from dexnb.clock import wall_time
from dexnb.engine import AsyncClient, Runtime
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import crash, fast, history, virtual
from tests.engine.orders import PAID, Order, open_order

Request = Callable[[AsyncClient], Awaitable[str]]

ANYWAY = StartFlowOptions(
    id_reuse_policy=IdReusePolicy.ALLOW_TERMINATE_IF_RUNNING,
    ignore_already_started=True,
    request_id="again",
)


def start(client: AsyncClient) -> Awaitable[str]:
    """Start another run in place of the open one."""
    return client.start_flow(Order(), "order", "b", ANYWAY)


def travel(options: TimeTravelOptions) -> Request:
    """Go on from a point of the open one."""
    return lambda client: client.time_travel("order", options)


def at(seconds: float) -> datetime:
    """Give the time so many seconds from now."""
    return datetime.fromtimestamp(wall_time() + seconds, UTC)


def requests() -> dict[str, Request]:
    """Give each kind of request, as it is made now."""
    types = TimeTravelType
    later = TimeTravelOptions(types.HISTORY_EVENT_TIME, history_event_time=at(60))
    step = StepExecutionId("AwaitPaid", 1)
    return {
        "start": start,
        "beginning": travel(TimeTravelOptions(types.BEGINNING)),
        "time": travel(TimeTravelOptions(types.HISTORY_EVENT_TIME, history_event_time=at(0))),
        "later": travel(later),
        "step": travel(TimeTravelOptions(types.STEP_EXECUTION_ID, step_execution_id=step)),
    }


KINDS = ("start", "beginning", "time", "later", "step")


async def die(store: MemoryStore, kind: str) -> tuple[str, Request]:
    """Die at the start of the new run; give the old one's id, and the request."""
    provider = FaultyProvider(MemoryProvider(store))
    runtime = Runtime(provider, options=fast())
    await runtime.engine.start()
    client = AsyncClient(runtime)
    await open_order(client)
    await asyncio.sleep(5)
    old = (await runtime.get("order")).run_id
    request = requests()[kind]
    provider.faults.append(Fault("start_run", cut=True))
    calling = asyncio.ensure_future(request(client))
    await provider.severed.wait()
    await asyncio.sleep(1)
    assert not calling.done()
    # What is left of the process reaches its store no more.
    runtime.engine.provider = provider.inner
    await crash(runtime)
    return old, request


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_the_same_request_completes_it(kind: str) -> None:
    """From the same point; the new run is there once, and works."""
    store = MemoryStore()
    old, request = await die(store, kind)
    async with Runtime(MemoryProvider(store), options=fast()) as runtime:
        runtime.register(Order())
        client = AsyncClient(runtime)
        run = await runtime.get("order")
        assert (run.run_id, await run.status()) == (old, "TERMINATED")
        await asyncio.sleep(600)
        new = await request(client)
        assert [each.run_id for each in await runtime.runs()] == [new, old]
        run = await runtime.get("order")
        kept = [each.kind for each in await history(run)]
        assert "stop_requested" not in kept
        assert ("wait_started" in kept) == (kind in ("time", "later"))
        await client.publish("order", PAID, 1)
        assert (await run.wait(60)).status == "COMPLETED"
