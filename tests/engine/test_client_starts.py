"""Starting Flows under ids that may have been used, and with what they begin."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    AttributeMatch,
    FlowStatus,
    IdReusePolicy,
    StartFlowOptions,
    StepDecision,
    force_fail,
    graceful_complete,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.errors import (
    DefinitionError,
    FlowAlreadyStartedError,
    FlowDefinitionError,
    ValueMappingError,
)
from tests.engine.flows import flow
from tests.engine.orders import (
    COUNT,
    NOTES,
    STATE,
    Order,
    on_each_store,
)

ORDER = Order()


def now() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


async def ends(context: AsyncContext, input: str) -> StepDecision:
    """Complete or fail as it is told."""
    return force_fail("told so") if input == "fail" else graceful_complete(input)


ENDS = flow(ends, name="Ends")


@on_each_store
async def test_a_used_id_is_refused_by_default(runtime: Runtime, client: AsyncClient) -> None:
    """While its run is open and when that has ended, however it ended."""
    run_id = await client.start_flow(ORDER, "order", "a")
    with pytest.raises(FlowAlreadyStartedError, match="order has an open run of Order: use"):
        await client.start_flow(ORDER, "order", "a")
    await client.stop_flow("order")
    text = "order was used by a run of Order that ended CANCELED, and id_reuse_policy is DEFAULT"
    with pytest.raises(FlowAlreadyStartedError, match=text):
        await client.start_flow(ORDER, "order", "a")
    assert (await client.describe_flow("order")).run_id == run_id


POLICIES: dict[IdReusePolicy, dict[str, bool]] = {
    IdReusePolicy.DEFAULT: {"open": False, "failed": False, "completed": False},
    IdReusePolicy.DISALLOW: {"open": False, "failed": False, "completed": False},
    IdReusePolicy.ALLOW_IF_PREVIOUS_FAILED: {"open": False, "failed": True, "completed": False},
    IdReusePolicy.ALLOW_IF_NOT_RUNNING: {"open": False, "failed": True, "completed": True},
    IdReusePolicy.ALLOW_TERMINATE_IF_RUNNING: {"open": True, "failed": True, "completed": True},
}


@on_each_store
async def test_each_reuse_policy_says_what_an_id_may_follow(
    runtime: Runtime, client: AsyncClient
) -> None:
    """An open run, a failed one and a completed one; a terminated one makes way first."""
    for policy, allowed in POLICIES.items():
        options = StartFlowOptions(id_reuse_policy=policy)
        for before, may in allowed.items():
            flow_id = f"{policy.name}-{before}"
            if before == "open":
                first = await client.start_flow(ORDER, flow_id, "a")
            else:
                first = await client.start_flow(ENDS, flow_id, before.removesuffix("ed"))
                await client.wait_for_flow(flow_id)
            if may:
                assert await client.start_flow(ENDS, flow_id, "x", options) != first
                assert (await client.wait_for_flow(flow_id)).output == "x"
            else:
                with pytest.raises(FlowAlreadyStartedError):
                    await client.start_flow(ENDS, flow_id, "x", options)
    found = await client.search_flows('status = "TERMINATED"', 10)
    assert [entry.flow_id for entry in found.entries] == ["ALLOW_TERMINATE_IF_RUNNING-open"]


@on_each_store
async def test_a_repeated_request_id_gives_the_run_that_is_there(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Only with ignore_already_started, and only the same request."""
    one = StartFlowOptions(request_id="r-1", ignore_already_started=True)
    run_id = await client.start_flow(ORDER, "order", "a", one)
    assert await client.start_flow(ORDER, "order", "a", one) == run_id
    await client.stop_flow("order")
    assert await client.start_flow(ORDER, "order", "a", one) == run_id
    for other in (
        StartFlowOptions(request_id="r-2", ignore_already_started=True),
        StartFlowOptions(request_id="r-1"),
        StartFlowOptions(ignore_already_started=True),
    ):
        with pytest.raises(FlowAlreadyStartedError):
            await client.start_flow(ORDER, "order", "a", other)


@on_each_store
async def test_a_repeated_request_id_is_no_way_into_a_run_of_another_flow(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Open or ended, by a client and by a runtime: it is not what was asked for."""
    one = StartFlowOptions(request_id="r-1", ignore_already_started=True)
    await client.start_flow(ORDER, "order", "a", one)
    for state in ("has an open run of Order", "was used by a run of Order"):
        with pytest.raises(FlowAlreadyStartedError, match=f"order {state}.*r-1.*, not of Ends"):
            await client.start_flow(ENDS, "order", "x", one)
        with pytest.raises(FlowAlreadyStartedError, match=f"order {state}.*, not of Ends"):
            await runtime.start(ENDS, "order", "x", options=one)
        if "open" in state:
            await client.stop_flow("order")


@on_each_store
async def test_starts_of_one_id_at_once_make_one_run(runtime: Runtime, client: AsyncClient) -> None:
    """All others are refused."""
    starts = [client.start_flow(ORDER, "order", "a") for _ in range(5)]
    done = await asyncio.gather(*starts, return_exceptions=True)
    assert sum(isinstance(each, FlowAlreadyStartedError) for each in done) == 4
    assert len(await runtime.runs()) == 1


@on_each_store
async def test_a_start_says_what_the_run_begins_with(runtime: Runtime, client: AsyncClient) -> None:
    """Initial values, a delay and a timeout."""
    options = (
        StartFlowOptions(start_delay=timedelta(minutes=5), timeout=timedelta(minutes=30))
        .with_attribute(COUNT, 7)
        .with_attribute(NOTES, "a b", "hello")
    )
    await client.start_flow(ORDER, "order", "a", options)
    run = await runtime.get("order")
    assert (await run.attribute(COUNT), await run.attribute(NOTES, "a b")) == (7, "hello")
    assert await run.attribute(NOTES, "other") is None
    await client.wait_for_attribute_match("order", STATE, AttributeMatch.equal_to("waiting"))
    assert now() == pytest.approx(300)
    result = await client.wait_for_flow("order")
    assert (result.status, result.error_type) == ("FAILED", "FLOW_TIMEOUT")
    assert now() == pytest.approx(1800)
    assert result.status == FlowStatus.FAILED


@on_each_store
async def test_a_start_is_checked_before_anything_is_stored(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Ids, inputs and options are refused by name."""
    with pytest.raises(FlowDefinitionError, match="flow_id"):
        await client.start_flow(ORDER, "a/b", "a")
    with pytest.raises(ValueMappingError, match="str requires str, got int"):
        await client.start_flow(ORDER, "order", 3)
    policy: Any = "FAIL"
    with pytest.raises(FlowDefinitionError, match="timeout_policy"):
        await client.start_flow(ORDER, "order", "a", StartFlowOptions(timeout_policy=policy))
    assert await runtime.runs() == []


@on_each_store
async def test_a_runtime_keeps_its_habit_unless_a_policy_is_named(
    runtime: Runtime, client: AsyncClient
) -> None:
    """It attaches to an open id and follows a closed one; a named policy holds as for a client."""
    one = await runtime.start(
        ORDER, "order", "a", options=StartFlowOptions().with_attribute(COUNT, 1)
    )
    two = await runtime.start(ORDER, "order", "a", options=StartFlowOptions())
    assert one.run_id == two.run_id
    options = StartFlowOptions(id_reuse_policy=IdReusePolicy.DISALLOW)
    with pytest.raises(FlowAlreadyStartedError):
        await runtime.start(ORDER, "order", "a", options=options)
    options = StartFlowOptions(id_reuse_policy=IdReusePolicy.ALLOW_TERMINATE_IF_RUNNING)
    three = await runtime.start(ORDER, "order", "a", options=options)
    assert await one.status() == "TERMINATED"
    await three.stop()
    await three.wait()
    again = StartFlowOptions(request_id="r", ignore_already_started=True)
    four = await runtime.start(ORDER, "order", "a", options=again)
    await four.stop()
    await four.wait()
    assert (await runtime.start(ORDER, "order", "a", options=again)).run_id == four.run_id
    assert three.run_id != one.run_id


@on_each_store
async def test_empty_values_are_no_options(runtime: Runtime, client: AsyncClient) -> None:
    """Only None stands for the default."""
    wrong: Any
    for wrong in ("", [], {}, 0, False):
        with pytest.raises(FlowDefinitionError, match=r"Order.options.*give StartFlowOptions"):
            await client.start_flow(ORDER, "order", "a", wrong)
        with pytest.raises(FlowDefinitionError, match=r"Order.options.*give StartFlowOptions"):
            await runtime.start(ORDER, "order", "a", options=wrong)
    for wrong in ("", [], 0, False):
        with pytest.raises(DefinitionError, match="overrides is"):
            await runtime.start(ORDER, "order", "a", overrides=wrong)
    assert await runtime.runs() == []
