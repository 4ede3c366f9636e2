"""Clients: ending runs, waiting for them, talking to their Channels, Attributes and Steps."""

from __future__ import annotations

import asyncio
import inspect
from datetime import timedelta
from typing import Any, cast

import pytest

import dexnb
from dexnb import (
    AsyncContext,
    AttributeMatch,
    FlowConfig,
    FlowStatus,
    StepDecision,
    StepDurability,
    StepExecutionId,
    StopFlowOptions,
    StopType,
    TimerId,
    WaitForAttributeOptions,
    WaitForStepCompletionOptions,
    force_fail,
    graceful_complete,
)
from dexnb.engine import AsyncClient, Client, Runtime, Session
from dexnb.errors import (
    DefinitionError,
    DexnbError,
    FlowNotActiveOrNotFoundError,
    FlowNotFoundError,
    LongPollTimeoutError,
    LoopBoundError,
    RequestTimeoutError,
    RunNotFound,
    RuntimeClosed,
    ValueMappingError,
)
from dexnb.providers import MemoryProvider
from tests.engine.flows import flow, history
from tests.engine.orders import (
    COUNT,
    LINES,
    NOTES,
    PAID,
    PROGRESS,
    STATE,
    Order,
    on_each_store,
    open_order,
)

ORDER = Order()


def now() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


async def kinds(runtime: Runtime, flow_id: str) -> list[str]:
    """Name what happened in the newest run of an id."""
    return [event.kind for event in await history(await runtime.get(flow_id))]


async def ends(context: AsyncContext, input: str) -> StepDecision:
    """Complete or fail as it is told."""
    return force_fail("told so") if input == "fail" else graceful_complete(input)


ENDS = flow(ends, name="Ends")


@on_each_store
async def test_wait_for_flow_gives_a_failed_flow_as_a_result(
    runtime: Runtime, client: AsyncClient
) -> None:
    """It is returned, not raised; a wait that gives up leaves the run alone."""
    await client.start_flow(ENDS, "ends", "fail")
    result = await client.wait_for_flow("ends", timedelta(seconds=5))
    assert (result.status, result.error_type) == ("FAILED", "STEP_DECISION_FAILED")
    assert result.error_message == "told so"
    await open_order(client)
    with pytest.raises(LongPollTimeoutError, match="order runs on after 5 s"):
        await client.wait_for_flow("order", 5)
    assert (await client.describe_flow("order")).status == "RUNNING"


@on_each_store
async def test_stop_flow_ends_a_run_in_three_ways(runtime: Runtime, client: AsyncClient) -> None:
    """CANCEL by default, TERMINATE, and FAIL with a reason; it has ended when the call returns."""
    for kind, status, error in (
        (None, "CANCELED", ""),
        (StopType.TERMINATE, "TERMINATED", ""),
        (StopType.FAIL, "FAILED", "CLIENT_API_FAILED"),
    ):
        flow_id = f"order-{status}"
        await open_order(client, flow_id)
        options = None if kind is None else StopFlowOptions(kind, "no stock")
        await client.stop_flow(flow_id, options)
        result = await client.wait_for_flow(flow_id)
        assert (result.status, result.error_type) == (status, error)
        assert result.error_message == ("" if kind is None else "no stock")
        with pytest.raises(FlowNotActiveOrNotFoundError, match=f"has ended {status}"):
            await client.stop_flow(flow_id)


@on_each_store
async def test_describe_flow_tells_of_the_newest_run(runtime: Runtime, client: AsyncClient) -> None:
    """Its ids, its type, how it stands and when it began."""
    began = runtime.engine.provider.clock.lease()
    run_id = await client.start_flow(ORDER, "order", "a")
    info = await client.describe_flow("order")
    assert (info.flow_id, info.run_id, info.flow_type) == ("order", run_id, "Order")
    assert info.status == FlowStatus.RUNNING
    assert info.started_at.timestamp() == pytest.approx(began)


@on_each_store
async def test_an_id_that_was_never_started_is_told_apart(
    runtime: Runtime, client: AsyncClient
) -> None:
    """What only reads says not found; what needs an open run says that there is none."""
    runtime.register(ORDER)
    match, execution = AttributeMatch.equal_to("x"), StepExecutionId("AwaitPaid")
    for read in (
        client.wait_for_flow("no"),
        client.describe_flow("no"),
        client.read_stream("no", PROGRESS),
        client.write_stream("no", PROGRESS, "me", "x"),
        client.list_stream_messages("no", PROGRESS, 5),
        client.wait_for_attribute_match("no", STATE, match),
        client.wait_for_step_completion("no", execution),
    ):
        with pytest.raises(FlowNotFoundError, match="no run of flow id 'no' is in this store"):
            await read
    for change in (
        client.stop_flow("no"),
        client.publish("no", PAID, 1),
        client.update_flow_config("no", FlowConfig()),
        client.skip_timer("no", execution, TimerId.by_condition_index(0)),
    ):
        with pytest.raises(FlowNotActiveOrNotFoundError, match="start it first"):
            await change
    assert issubclass(FlowNotFoundError, RunNotFound)


@on_each_store
async def test_publish_ends_a_wait(runtime: Runtime, client: AsyncClient) -> None:
    """By the definition and by its name; of a map into one instance."""
    await open_order(client)
    await client.publish("order", LINES, "one", "a/b")
    await (await runtime.get("order")).publish("lines", "two", "c")
    assert (await client.invoke_rpc(Order.see, "order"))["lines"] == ["a/b", "c"]
    await client.publish("order", "paid", 12)
    result = await client.wait_for_flow("order")
    assert result.output == {"paid": [12], "state": "paid"}
    with pytest.raises(FlowNotActiveOrNotFoundError, match="order has ended COMPLETED"):
        await client.publish("order", PAID, 1)


@on_each_store
async def test_publish_is_checked_at_the_call(runtime: Runtime, client: AsyncClient) -> None:
    """What cannot be a message never reaches the history."""
    await open_order(client)
    before = await kinds(runtime, "order")
    for mistake, error, text in (
        ((PAID, "x"), ValueMappingError, "int requires int, got str"),
        ((LINES, "x"), DefinitionError, "instance is ''"),
        ((PAID, 1, "x"), DefinitionError, "leave it out, Channel paid has none"),
        (("other", 1), DefinitionError, "Order has no Channel 'other'; its Channels: lines, paid"),
        ((STATE, 1), DefinitionError, "is no Channel or ChannelMap"),
        ((dexnb.Channel("paid", str), "x"), DefinitionError, "paid value_type is str and int"),
    ):
        with pytest.raises(error, match=text):
            await client.publish("order", *mistake)
    assert await kinds(runtime, "order") == before


@on_each_store
async def test_wait_for_attribute_match_gives_the_value(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Of an Attribute and of an instance of a map; at once if it matches already."""
    await open_order(client)
    wait = client.wait_for_attribute_match("order", COUNT, AttributeMatch.greater_than(5))
    above = asyncio.ensure_future(wait)
    await client.invoke_rpc(Order.add, "order", 3)
    await asyncio.sleep(1)
    assert not above.done()
    await client.invoke_rpc(Order.add, "order", 4)
    assert await above == 7
    assert await client.wait_for_attribute_match("order", COUNT, AttributeMatch.equal_to(7)) == 7
    seconds = WaitForAttributeOptions(request_timeout=5)
    match = AttributeMatch.equal_to("x")
    with pytest.raises(RequestTimeoutError, match="AttributeMap notes/mine of order did not match"):
        await client.wait_for_attribute_match("order", NOTES, "mine", match, seconds)
    late = asyncio.ensure_future(client.wait_for_attribute_match("order", STATE, match))
    await asyncio.sleep(1)
    await client.stop_flow("order")
    with pytest.raises(FlowNotActiveOrNotFoundError, match="ended CANCELED, and Attribute state"):
        await late


@on_each_store
async def test_a_match_that_could_never_hold_is_refused(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Another type, another Flow's Attribute, no match at all."""
    await open_order(client)
    with pytest.raises(ValueMappingError, match="str requires str, got int"):
        await client.wait_for_attribute_match("order", STATE, AttributeMatch.equal_to(3))
    other = dexnb.Attribute("other", str)
    with pytest.raises(DefinitionError, match="Order has no Attribute 'other'"):
        await client.wait_for_attribute_match("order", other, AttributeMatch.equal_to("x"))
    with pytest.raises(DefinitionError, match=r"is 'x': give AttributeMatch\.equal_to\('x'\), as"):
        await client.wait_for_attribute_match("order", STATE, "x")


@on_each_store
async def test_skip_timer_makes_it_count_as_fired(runtime: Runtime, client: AsyncClient) -> None:
    """By its id and by its place among the Timers, in no time."""
    by = {"id": TimerId.by_condition_id("late"), "index": TimerId.by_condition_index(0)}
    for how, timer in by.items():
        await open_order(client, how)
        await client.skip_timer(how, StepExecutionId("AwaitPaid"), timer)
        assert (await client.wait_for_flow(how)).output == {"paid": [], "state": "late"}
        fired = [e for e in await history(await runtime.get(how)) if e.kind == "timer_fired"]
        assert [event.payload["skipped"] for event in fired] == [True]
    assert now() == pytest.approx(2)


@on_each_store
async def test_skip_timer_names_what_waits(runtime: Runtime, client: AsyncClient) -> None:
    """An execution that does not wait, a Timer that is none."""
    await open_order(client)
    late = TimerId.by_condition_id("late")
    with pytest.raises(DefinitionError, match="'Finish-1' of order does not wait; waiting: Await"):
        await client.skip_timer("order", StepExecutionId("Finish"), late)
    for timer in (TimerId.by_condition_id("soon"), TimerId.by_condition_index(1)):
        with pytest.raises(DefinitionError, match=r"AwaitPaid-1 waits for no Timer .*: 'late'"):
            await client.skip_timer("order", StepExecutionId("AwaitPaid"), timer)


@on_each_store
async def test_wait_for_step_completion_waits_for_an_execution(
    runtime: Runtime, client: AsyncClient
) -> None:
    """One that has not begun yet, too; or the run ends without it."""
    await open_order(client)
    options = WaitForStepCompletionOptions(request_timeout=timedelta(seconds=5))
    with pytest.raises(RequestTimeoutError, match="AwaitPaid-1 of order has not ended within 5 s"):
        await client.wait_for_step_completion("order", StepExecutionId("AwaitPaid"), options)
    wait = client.wait_for_step_completion("order", StepExecutionId("Finish"))
    finish = asyncio.ensure_future(wait)
    never = asyncio.ensure_future(
        client.wait_for_step_completion("order", StepExecutionId("Finish", 2))
    )
    await client.publish("order", PAID, 1)
    await client.wait_for_step_completion("order", StepExecutionId("AwaitPaid"))
    assert not finish.done()
    await finish
    await client.wait_for_step_completion("order", StepExecutionId("Finish"))
    with pytest.raises(FlowNotActiveOrNotFoundError, match="COMPLETED without an execution Fin"):
        await never


@on_each_store
async def test_an_execution_of_a_step_that_the_flow_lacks_is_refused(
    runtime: Runtime, client: AsyncClient
) -> None:
    """It would be waited for without end; an id as histories show it is told apart."""
    await open_order(client)
    late = TimerId.by_condition_id("late")
    for name, text in (
        ("Nope", r"Order has no Step 'Nope'; its Steps: .*AwaitPaid, .*Finish"),
        ("AwaitPaid-1", r"no Step 'AwaitPaid-1': give StepExecutionId\('AwaitPaid', 1\)"),
    ):
        with pytest.raises(DefinitionError, match=text):
            await client.wait_for_step_completion("order", StepExecutionId(name))
        with pytest.raises(DefinitionError, match=text):
            await client.skip_timer("order", StepExecutionId(name), late)


@on_each_store
async def test_update_flow_config_changes_what_later_steps_run_under(
    runtime: Runtime, client: AsyncClient
) -> None:
    """It is in the history when the call returns; what has no effect says so."""
    await open_order(client)
    await client.update_flow_config("order", FlowConfig(step_durability=StepDurability.ASYNC))
    run = await runtime.get("order")
    assert (await run.state()).config == {"step_durability": "ASYNC"}
    await client.update_flow_config("order", FlowConfig())
    assert (await run.state()).config == {"step_durability": "ASYNC"}
    wrong: Any = "ASYNC"
    with pytest.raises(DefinitionError, match="step_durability"):
        await client.update_flow_config("order", FlowConfig(step_durability=wrong))


@on_each_store
async def test_a_closed_client_says_so(runtime: Runtime, client: AsyncClient) -> None:
    """Its runtime goes on."""
    assert await client.health_check() is True
    await client.close()
    with pytest.raises(RuntimeClosed, match="the client is closed"):
        await client.health_check()
    assert await AsyncClient(runtime).health_check()


def test_an_async_client_on_another_loop_is_named() -> None:
    """Awaited elsewhere than its runtime runs, it says so and what to use."""
    with Session(MemoryProvider) as session:
        client = AsyncClient(session.runtime)
        with pytest.raises(LoopBoundError, match="await it there, or use dexnb"):
            asyncio.run(client.health_check())
        assert session.call(client.health_check()) is True


def public(class_: type) -> dict[str, inspect.Signature]:
    """Give the public methods of a class."""
    return {
        name: inspect.signature(method)
        for name, method in vars(class_).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


def test_both_clients_have_the_same_methods() -> None:
    """Names, parameters and their defaults; only that one is awaited differs."""
    assert public(Client) == public(AsyncClient)
    for name in public(Client):
        assert inspect.iscoroutinefunction(getattr(AsyncClient, name))
        assert not inspect.iscoroutinefunction(getattr(Client, name))


def test_a_client_does_it_all_by_plain_calls() -> None:
    """On a session of its own in memory, which is closed with it."""
    with dexnb.Client("memory:", flows=[ORDER]) as client:
        run_id = client.start_flow(ORDER, "order", "a")
        match = AttributeMatch.equal_to("waiting")
        assert client.wait_for_attribute_match("order", STATE, match) == "waiting"
        assert client.invoke_rpc(Order.add, "order", 2) == 2
        client.write_stream("order", PROGRESS, "shop", "hello")
        assert client.read_stream("order", PROGRESS).value == "hello"
        assert len(client.list_stream_messages("order", PROGRESS, 5).messages) == 1
        client.update_flow_config("order", FlowConfig())
        assert client.describe_flow("order").run_id == run_id
        client.publish("order", PAID, 3)
        client.wait_for_step_completion("order", StepExecutionId("AwaitPaid"))
        assert client.wait_for_flow("order", 60).single_output(dict[str, Any])["paid"] == [3]
        assert client.search_flows("times = 2", 5).entries[0].flow_id == "order"
        assert client.health_check() is True
        with pytest.raises(DexnbError):
            client.stop_flow("order")
    with pytest.raises(RuntimeClosed):
        client.health_check()


def test_an_async_client_of_what_is_no_runtime_is_refused() -> None:
    """A session has plain clients."""
    with Session(MemoryProvider) as session:
        for wrong in (session, "memory:", None):
            with pytest.raises(DefinitionError, match=r"runtime is .*: give an open Runtime, or"):
                AsyncClient(cast("Any", wrong))
