"""RPCs: methods of a Flow that run here, and change an open run in one turn."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta

import pytest

from dexnb import (
    AsyncContext,
    Context,
    Flow,
    PersistenceSchema,
    RPCInvokeOptions,
    RPCResult,
    StepList,
    StopFlowOptions,
    StopType,
    rpc,
)
from dexnb.engine import AsyncClient, Runtime, Session
from dexnb.errors import (
    ChannelMessageNotFoundError,
    ContextCallError,
    DefinitionError,
    FlowNotActiveOrNotFoundError,
    InvalidStepResultError,
    RequestTimeoutError,
    RpcLockConflictError,
    ValueMappingError,
)
from dexnb.providers import MemoryProvider
from tests.engine.flows import history, telemetry
from tests.engine.orders import (
    COUNT,
    MISUSES,
    NOTES,
    PAID,
    Finish,
    Order,
    on_each_store,
    open_order,
)

ORDER = Order()


@on_each_store
async def test_an_rpc_reads_and_writes_in_one_turn(runtime: Runtime, client: AsyncClient) -> None:
    """What it wrote is there for the next call; by the class's method and by an instance's."""
    await open_order(client)
    assert await client.invoke_rpc(Order.add, "order", 2) == 2
    assert await client.invoke_rpc(ORDER.add, "order", 3) == 5
    seen = await client.invoke_rpc(Order.see, "order")
    assert seen == {"state": "waiting", "count": 5, "paid": 0, "lines": []}
    run = await runtime.get("order")
    assert await run.rpc(Order.add, 1) == 6
    assert await run.attribute(COUNT) == 6
    completed = [event for event in await history(run) if event.kind == "rpc_completed"]
    assert [event.payload["writes"]["attributes"] for event in completed] == [
        {"count": 2},
        {"count": 5},
        {"count": 6},
    ]


@on_each_store
async def test_an_rpc_that_only_reads_leaves_no_history(
    runtime: Runtime, client: AsyncClient
) -> None:
    """However often it is asked; None is an output too."""
    await open_order(client)
    before = await history(await runtime.get("order"))
    for _ in range(3):
        await client.invoke_rpc(Order.see, "order")
    assert await client.invoke_rpc(Order.hold, "order") is None
    assert await history(await runtime.get("order")) == before


@on_each_store
async def test_an_rpc_starts_and_cancels_steps(runtime: Runtime, client: AsyncClient) -> None:
    """By its own name; the Step sees that an RPC led to it, and only a Step closes the Flow."""
    await open_order(client)
    assert await client.invoke_rpc(Order.finish, "order", "enough") is None
    result = await client.wait_for_flow("order")
    assert result.output == "enough from sys:rpc"
    kinds = [event.kind for event in await history(await runtime.get("order"))]
    assert kinds.count("step_cancelled") == 1


@on_each_store
async def test_an_rpc_publishes_and_records(runtime: Runtime, client: AsyncClient) -> None:
    """All of one call stands in one event; map instances are read only where they are loaded."""
    await open_order(client)
    with pytest.raises(DefinitionError, match="AttributeMap notes instance 'other' is not loaded"):
        await client.invoke_rpc(Order.note, "order", "x")
    options = RPCInvokeOptions(load_attribute_map_instances=(NOTES.load("other"),))
    assert await client.invoke_rpc(Order.note, "order", "x", options=options) == "nothing"
    run = await runtime.get("order")
    writes = (await history(run))[-1].payload["writes"]
    assert writes["recorded"] == {"noted": {"text": "x"}}
    assert await run.attribute(NOTES, "mine") == "x"
    assert (await client.invoke_rpc(Order.see, "order"))["lines"] == ["a/b"]


@on_each_store
async def test_rpc_locks_are_tried_once_and_a_conflict_is_raised(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Against another RPC, and against a Step that holds the lock; afterwards they are free."""
    await open_order(client)
    first = asyncio.ensure_future(client.invoke_rpc(Order.add_locked, "order", 5))
    await asyncio.sleep(1)
    with pytest.raises(RpcLockConflictError, match="locked: count; call again"):
        await client.invoke_rpc(Order.add_locked, "order", 5)
    assert await first == 1
    await client.invoke_rpc(Order.start_holding, "order")
    await asyncio.sleep(1)
    with pytest.raises(RpcLockConflictError, match="locked: count"):
        await client.invoke_rpc(Order.add_locked, "order", 0)
    await asyncio.sleep(10)
    assert await client.invoke_rpc(Order.add_locked, "order", 0) == 2


@on_each_store
async def test_a_call_can_lock_map_instances_of_its_own(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Two calls that name the same instance exclude each other; other instances do not."""
    await open_order(client)

    def locks(instance: str) -> RPCInvokeOptions:
        return RPCInvokeOptions(lock_attribute_map_instances=(NOTES.lock(instance),))

    call = client.invoke_rpc(Order.add_surely, "order", 1, options=locks("a"))
    first = asyncio.ensure_future(call)
    await asyncio.sleep(0.5)
    with pytest.raises(RpcLockConflictError, match="locked: notes/a"):
        await client.invoke_rpc(Order.add, "order", 1, options=locks("a"))
    await client.invoke_rpc(Order.see, "order", options=locks("b"))
    await first


@on_each_store
async def test_a_transactional_rpc_is_made_again_when_the_run_has_changed(
    runtime: Runtime, client: AsyncClient
) -> None:
    """No count is lost; one that is outrun each time gives up by name."""
    await open_order(client)
    surely = asyncio.ensure_future(client.invoke_rpc(Order.add_surely, "order", 10))
    await asyncio.sleep(0.5)
    await client.invoke_rpc(Order.add, "order", 1)
    assert await surely == 2, "it took two tries"
    assert await (await runtime.get("order")).attribute(COUNT) == 11
    surely = asyncio.ensure_future(client.invoke_rpc(Order.add_surely, "order", 10))
    for _ in range(6):
        await asyncio.sleep(0.9)
        await client.invoke_rpc(Order.add, "order", 1)
    with pytest.raises(RpcLockConflictError, match="changed under each of its 5 tries"):
        await surely


@on_each_store
async def test_a_transactional_rpc_cannot_delete_what_is_gone(
    runtime: Runtime, client: AsyncClient
) -> None:
    """It raises and changes nothing; a message that is pending is deleted."""
    await open_order(client)
    run = await runtime.get("order")
    with pytest.raises(ChannelMessageNotFoundError, match="paid has no pending message 77"):
        await client.invoke_rpc(Order.forget, "order", "77")
    await client.publish("order", PAID, 5)
    await client.wait_for_flow("order")
    with pytest.raises(FlowNotActiveOrNotFoundError, match="order has ended COMPLETED"):
        await run.rpc(Order.forget, "1")


@on_each_store
async def test_a_transactional_rpc_deletes_a_pending_message(
    runtime: Runtime, client: AsyncClient
) -> None:
    """While nobody waits for the Channel, a message stays until it is deleted."""
    await open_order(client)
    await client.publish("order", PAID, 5)
    await client.publish("order", PAID, 6)
    assert await client.invoke_rpc(Order.forget, "order", "") == 0
    assert (await client.invoke_rpc(Order.see, "order"))["paid"] == 0


@on_each_store
async def test_an_error_of_the_method_is_raised_as_itself(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Nothing is written, and its locks are free at once."""
    await open_order(client)
    for method in (Order.boom, Order.boom_in_a_thread):
        for kind, error in (("value", ValueError), ("timeout", TimeoutError)):
            with pytest.raises(error, match=kind) as caught:
                await client.invoke_rpc(method, "order", kind)
            assert type(caught.value) is error
        with pytest.raises(SystemExit):
            await client.invoke_rpc(method, "order", "exit")
    assert await client.invoke_rpc(Order.add_locked, "order", 0) == 1
    events = await (await runtime.get("order")).events()
    reasons = [event.payload["reason"] for event in events if event.kind == "rpc_refused"]
    assert reasons == [
        f"failed with {name}" for name in ("ValueError", "TimeoutError", "SystemExit")
    ]


@on_each_store
async def test_an_rpc_that_outlasts_its_timeout_is_given_up(
    runtime: Runtime, client: AsyncClient
) -> None:
    """After just the timeout; nothing is written, and its locks are free."""
    await open_order(client)
    began = asyncio.get_running_loop().time()
    with pytest.raises(RequestTimeoutError, match=r"RPC Order\.slow of order .* timeout of 5 s"):
        await client.invoke_rpc(Order.slow, "order")
    assert asyncio.get_running_loop().time() - began == pytest.approx(5)
    assert await client.invoke_rpc(Order.add_locked, "order", 0) == 1


@on_each_store
async def test_a_caller_that_is_cancelled_leaves_no_lock(
    runtime: Runtime, client: AsyncClient
) -> None:
    """An interrupted cell must not lock the run until the timeout."""
    await open_order(client)
    call = asyncio.ensure_future(client.invoke_rpc(Order.add_locked, "order", 50))
    await asyncio.sleep(1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await client.invoke_rpc(Order.add_locked, "order", 0) == 1


@on_each_store
async def test_what_only_steps_have_is_refused_by_name(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Heartbeat, Stream, locals and the wait's results; also as ValueError."""
    await open_order(client)
    for call in MISUSES:
        with pytest.raises(ContextCallError, match=call.replace("made ", "")) as caught:
            await client.invoke_rpc(Order.misuse, "order", call)
        assert isinstance(caught.value, ValueError)


@on_each_store
async def test_prints_of_an_rpc_go_to_its_run(runtime: Runtime, client: AsyncClient) -> None:
    """Never to whichever cell is running: it has no step execution there."""
    await open_order(client)
    await client.invoke_rpc(Order.talk, "order")
    await client.invoke_rpc(Order.talk_in_a_thread, "order")
    logs = await telemetry(await runtime.get("order"), "log")
    assert [event.payload["line"] for event in logs] == ["async", "line", "plain"]
    assert {(event.step_execution_id, event.attempt) for event in logs} == {("", 0)}


@on_each_store
async def test_an_rpc_needs_an_open_run(runtime: Runtime, client: AsyncClient) -> None:
    """One that ends during the call ends the call, even if the method knows nothing of it."""
    with pytest.raises(FlowNotActiveOrNotFoundError, match="no run of flow id 'nobody'"):
        await client.invoke_rpc(Order.see, "nobody")
    await open_order(client)
    with pytest.raises(FlowNotActiveOrNotFoundError, match="no run 'other' of flow id 'order'"):
        await client.invoke_rpc(Order.see, "order", run_id="other")
    late = asyncio.ensure_future(client.invoke_rpc(Order.add_surely, "order", 1))
    await asyncio.sleep(0.5)
    await client.stop_flow("order", StopFlowOptions(StopType.TERMINATE))
    with pytest.raises(FlowNotActiveOrNotFoundError, match="order has ended TERMINATED"):
        await late
    with pytest.raises(FlowNotActiveOrNotFoundError, match="order has ended TERMINATED"):
        await client.invoke_rpc(Order.see, "order")


@on_each_store
async def test_an_rpc_may_be_called_by_its_name(runtime: Runtime, client: AsyncClient) -> None:
    """As Attributes and Channels may, where the Flow is registered."""
    await open_order(client)
    assert await client.invoke_rpc("add", "order", 3) == 3
    assert await (await runtime.get("order")).rpc("add", 4) == 7
    with pytest.raises(DefinitionError, match="Order has no RPC 'abort'; its RPCs: add, add_l"):
        await client.invoke_rpc("abort", "order")
    with pytest.raises(ValueMappingError, match=r"input of Order\.add: int requires int, got str"):
        await client.invoke_rpc("add", "order", "2")


@on_each_store
async def test_mistakes_in_a_call_are_named(runtime: Runtime, client: AsyncClient) -> None:
    """A method that is no RPC, of another Flow, an input or an output that does not fit."""
    await open_order(client)
    for mistake, text in (
        ((Order.get_steps, "order"), "under @rpc"),
        ((Other().see_it, "order"), "order is a run of Order, and see_it is an RPC of Other"),
        ((Other.see_it, "order"), "Order has no RPC 'see_it'; its RPCs: add, add_locked"),
    ):
        with pytest.raises(DefinitionError, match=text):
            await client.invoke_rpc(*mistake)
    with pytest.raises(ValueMappingError, match=r"input of Order\.add: int requires int, got str"):
        await client.invoke_rpc(Order.add, "order", "2")
    with pytest.raises(InvalidStepResultError, match=r"output of Order\.lie: int requires int"):
        await client.invoke_rpc(Order.lie, "order")


class Other(Flow[list[int]]):
    """Another Flow with an RPC."""

    def get_steps(self) -> StepList[list[int]]:
        """Give the Steps."""
        return StepList.start_step(Finish())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what the Step reads."""
        return ORDER.get_persistence_schema()

    @rpc
    async def see_it(self, context: AsyncContext) -> RPCResult[int]:
        """Give a number."""
        return RPCResult(1)


class Threads(Order):
    """An order that tells on which threads its RPCs run."""

    @rpc
    async def here(self, context: AsyncContext) -> RPCResult[str]:
        """Name the thread of async ones."""
        return RPCResult(threading.current_thread().name)

    @rpc
    def there(self, context: Context) -> RPCResult[str]:
        """Name the thread of plain ones."""
        return RPCResult(threading.current_thread().name)


class Patient(Order):
    """An order with an RPC that works until it is told to stop."""

    stopped = threading.Event()

    @rpc(timeout=timedelta(milliseconds=500))
    def work(self, context: Context) -> RPCResult[None]:
        """Work on in a thread, which nobody can interrupt."""
        while not context.is_cancellation_requested():
            threading.Event().wait(0.01)
        self.stopped.set()
        return RPCResult(None)


def test_a_plain_rpc_learns_that_nobody_waits_for_it_any_more() -> None:
    """Its caller has its timeout at once; the thread ends when the method looks."""
    with Session(MemoryProvider) as session:
        run = session.start(Patient(), "patient", "a")
        with pytest.raises(RequestTimeoutError):
            run.rpc(Patient.work)
        assert Patient.stopped.wait(30)
        run.stop("TERMINATE")


def test_rpcs_run_beside_the_engine_and_never_on_its_control_loop() -> None:
    """In a session async ones run on the loop of the Steps, plain ones in threads of their own."""
    with Session(MemoryProvider) as session:
        run = session.start(Threads(), "threads", "a")
        assert run.rpc(Threads.here) == "dexnb-steps"
        assert run.rpc(Threads.there).startswith("dexnb-rpc")
        assert run.rpc(Threads.add, 3) == 3
        assert run.attribute("count") == 3
        with pytest.raises(ValueError, match="value"):
            run.rpc(Threads.boom, "value")
        run.stop("TERMINATE")
