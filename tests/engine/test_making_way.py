"""A run that is terminated so that another of its flow id can be started."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from dexnb import (
    Clock,
    IdReusePolicy,
    StartFlowOptions,
    StepExecutionId,
    TimeTravelOptions,
    TimeTravelType,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.errors import ProviderError, RuntimeClosed
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import fast, finished
from tests.engine.orders import Order, on_each_store, open_order, provider_of
from tests.engine.test_subflows import CHILD, Parent, child_id

BEGINNING = TimeTravelOptions(TimeTravelType.BEGINNING)
ANYWAY = StartFlowOptions(id_reuse_policy=IdReusePolicy.ALLOW_TERMINATE_IF_RUNNING)


@on_each_store
async def test_a_subflow_that_is_taken_back_tells_its_parent_only_its_new_end(
    runtime: Runtime, client: AsyncClient
) -> None:
    """The parent waits on, and gets what the new run gives, under the new run's id."""
    runtime.register(CHILD)
    parent = await runtime.start(Parent(), "parent", [20])
    await client.wait_for_step_completion("parent", StepExecutionId("sys:subflow", 1))
    await asyncio.sleep(10)
    child = child_id("parent", "Both", 0)
    new = await client.time_travel(child, BEGINNING)
    result = await finished(parent)
    assert [each[1:] for each in result.output] == [["COMPLETED", b"20 up"]]
    assert asyncio.get_running_loop().time() == pytest.approx(30)
    assert (await runtime.get(child)).run_id == new


Call = Callable[[AsyncClient], Coroutine[Any, Any, str]]
CALLS: dict[str, Call] = {
    "time_travel": lambda client: client.time_travel("order", BEGINNING),
    "start": lambda client: client.start_flow(Order(), "order", "b", ANYWAY),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_a_store_that_cannot_start_the_new_run_leaves_a_call_to_be_made_again(
    store: str, call: Call, tmp_path: Path
) -> None:
    """The error says that the old run has ended and that calling again works; it does."""

    async def scenario() -> None:
        faulty = FaultyProvider(provider_of(store, tmp_path))
        async with Runtime(faulty, options=fast()) as runtime, AsyncClient(runtime) as client:
            await open_order(client)
            old = (await runtime.get("order")).run_id
            faulty.faults.append(Fault("start_run", retryable=False))
            with pytest.raises(ProviderError) as caught:
                await call(client)
            text = f"run {old} of flow id order was terminated to make way, and no new one was"
            assert text in str(caught.value)
            assert str(caught.value).endswith("started: call again, which works")
            assert (caught.value.operation, caught.value.retryable) == ("start_run", False)
            assert await (await runtime.get("order")).status() == "TERMINATED"
            faulty.faults.clear()
            new = await call(client)
            assert new != old
            run = await runtime.get("order")
            assert (run.run_id, await run.status()) == (new, "RUNNING")

    Clock.virtual().run(scenario())


def test_a_runtime_that_is_closed_meanwhile_says_so_too(tmp_path: Path) -> None:
    """The next one on the same store can be called."""

    async def scenario() -> None:
        provider = FaultyProvider(provider_of("sqlite", tmp_path))
        async with Runtime(provider, options=fast()) as runtime, AsyncClient(runtime) as client:
            await open_order(client)
            provider.faults.append(Fault("start_run", delay=5))
            travel = asyncio.ensure_future(client.time_travel("order", BEGINNING))
            await asyncio.sleep(1)
            closing = asyncio.ensure_future(runtime.close())
            with pytest.raises(RuntimeClosed, match="call again, which works"):
                await travel
            await closing
        async with (
            Runtime(provider_of("sqlite", tmp_path), options=fast()) as runtime,
            AsyncClient(runtime) as client,
        ):
            runtime.register(Order())
            assert await client.time_travel("order", BEGINNING)

    Clock.virtual().run(scenario())


@on_each_store
async def test_a_parent_hears_of_its_subflow_behind_a_time_travel_that_had_failed(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Between the two calls it waits, because the first one has promised it a new run."""
    runtime.register(CHILD)
    parent = await runtime.start(Parent(), "parent", [20])
    await client.wait_for_step_completion("parent", StepExecutionId("sys:subflow", 1))
    child = child_id("parent", "Both", 0)
    provider = runtime.engine.provider
    start_run = provider.start_run

    async def refuse(commit: Any) -> Any:
        raise ProviderError("start_run", "disk is full", retryable=False)

    provider.start_run = refuse  # type: ignore[method-assign]  # as a store that is full
    with pytest.raises(ProviderError, match="disk is full"):
        await client.time_travel(child, BEGINNING)
    provider.start_run = start_run  # type: ignore[method-assign]  # and is cleaned up
    await asyncio.sleep(5)
    assert await parent.status() == "RUNNING"
    await client.time_travel(child, BEGINNING)
    assert [each[2] for each in (await finished(parent)).output] == [b"20 up"]
