"""Flows that wait, lock, are called and start others, and the scenes that are made of them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Channel,
    ChannelMap,
    Flow,
    FlowConfig,
    FlowTimeoutPolicy,
    PersistenceSchema,
    RetryPolicy,
    RPCResult,
    StartFlowOptions,
    Step,
    StepDecision,
    StepDurability,
    StepExecutionId,
    StepList,
    StepMovement,
    StepOptions,
    SubFlow,
    Timer,
    TimeTravelOptions,
    TimeTravelType,
    Wait,
    WaitForFailurePolicy,
    dead_end,
    force_complete,
    force_complete_if_channels_empty,
    go_to_many,
    graceful_complete,
    rpc,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.engine.run import AsyncRun
from dexnb.errors import RpcLockConflictError
from dexnb.model.message import Published, TimerFired

ORDERS = Channel("orders", str)
LINES = ChannelMap("lines", int)
STATE = Attribute("state", str)
COUNT = Attribute("count", int)
NOTES = AttributeMap("notes", dict)
ODD = "a/b <b> \U0001f98a"


def seconds(number: float, name: str | None = None) -> Any:
    """Make a Timer."""
    return Timer.by_duration(timedelta(seconds=number), condition_id=name)


class Collect(Step[int]):
    """Waits for two orders, under a lock; its first wait_for fails."""

    def get_step_options(self) -> StepOptions:
        """Try again after a second, count under a lock."""
        return StepOptions(
            wait_for_lock_attributes=(COUNT.lock(),),
            wait_for_retry=RetryPolicy(maximum_attempts=3),
            execute_lock_attributes=(COUNT.lock(), STATE.lock()),
            execute_load_channels=(ORDERS,),
        )

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Write what is written before a wait."""
        await asyncio.sleep(0.5)
        if context.attempt == 1:
            message = "not yet"
            raise ConnectionError(message)
        STATE.set(context, "collecting")
        NOTES.set(context, ODD, {"why": ODD, "raw": b"\x00\xff"})
        NOTES.set(context, "gone", {})
        LINES.publish(context, ODD, 1)
        context.set_step_execution_local("since", 3)
        late = seconds(300, "late")
        return Wait.any_of(ORDERS.for_n(2), late, seconds(60))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Go on in three branches."""
        COUNT.set(context, COUNT.get(context) + len(ORDERS.results(context)))
        NOTES.delete(context, "gone")
        for message in ORDERS.pending_messages(context)[:1]:
            ORDERS.delete(context, message.message_id)
        context.record_event("collected", {"by": ODD})
        await asyncio.sleep(1)
        ways = [StepMovement.of(Count, number) for number in (1, 2)]
        return go_to_many(*ways, StepMovement.of(Ship, "parcel"))


class Count(Step[int]):
    """Counts under a lock: one execution waits for the other."""

    def get_step_options(self) -> StepOptions:
        """Lock what is counted."""
        return StepOptions(execute_lock_attributes=(COUNT.lock(),))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Take some time."""
        await asyncio.sleep(2 + input)
        COUNT.set(context, COUNT.get(context) + 10)
        return graceful_complete(input)


class Ship(Step[str]):
    """Waits for another Flow, and a Timer that is skipped."""

    async def wait_for(self, context: AsyncContext, input: str) -> Wait:
        """Start it."""
        return Wait.all_of(SubFlow.run(Parcel(), input), seconds(400, "slow"))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Complete unless an order is left."""
        STATE.set(context, SubFlow.get_condition_results(context).status)
        left = StepMovement.of(Clear, None)
        return force_complete_if_channels_empty("shipped", left, ORDERS)


class Clear(Step[None]):
    """Takes what is left, without a wait that takes time."""

    async def wait_for(self, context: AsyncContext, input: None) -> Wait:
        """Wait for nothing."""
        return Wait.skip_immediately()

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """End the Flow."""
        return force_complete("cleared")


class Order(Flow[int]):
    """An order that is called while it is open."""

    def get_flow_type(self) -> str:
        """Give a name with a space."""
        return "An order"

    def get_steps(self) -> StepList[int]:
        """Give the Steps."""
        return StepList.start_step(Collect()).other_steps(Count(), Ship(), Clear())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(ORDERS, LINES, STATE, COUNT, NOTES)

    @rpc(lock_attributes=(COUNT.lock(),))
    async def add(self, context: AsyncContext, by: int) -> RPCResult[int]:
        """Count up for a second."""
        await asyncio.sleep(1)
        COUNT.set(context, COUNT.get(context) + by)
        ORDERS.publish(context, f"by rpc {by}")
        return RPCResult(COUNT.get(context))


class Pack(Step[str]):
    """Waits a little."""

    async def wait_for(self, context: AsyncContext, input: str) -> Wait:
        """Wait for a label."""
        return Wait.until(seconds(20))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Give the parcel."""
        return graceful_complete(input)


class Parcel(Flow[str]):
    """What an order starts."""

    def get_steps(self) -> StepList[str]:
        """Give the Step."""
        return StepList.start_step(Pack())


class Unsure(Step[None]):
    """Cannot say what it waits for, and goes on without."""

    def get_step_options(self) -> StepOptions:
        """Proceed."""
        return StepOptions(
            wait_for_retry=RetryPolicy(maximum_attempts=1),
            wait_for_failure=WaitForFailurePolicy.PROCEED,
        )

    async def wait_for(self, context: AsyncContext, input: None) -> Wait:
        """Raise."""
        message = f"no idea {ODD}"
        raise LookupError(message)

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Wait for the timeout."""
        await asyncio.sleep(3600)
        return dead_end()


class Limited(Flow[None]):
    """Handles its own timeout."""

    def get_steps(self) -> StepList[None]:
        """Give the Step."""
        return StepList.start_step(Unsure())

    async def handle_timeout(self, context: AsyncContext) -> StepDecision:
        """Complete."""
        await asyncio.sleep(1)
        return force_complete("late")


async def ordered(runtime: Runtime, run: AsyncRun) -> None:
    """Publish orders, call, skip a Timer, until the end."""
    runtime.register(Parcel())
    await asyncio.sleep(0.2)
    try:
        await run.rpc(Order.add, 5)
    except RpcLockConflictError:
        await asyncio.sleep(4)
    await run.rpc(Order.add, 7)
    await asyncio.sleep(3)
    await runtime.engine.send(run.run_id, Published("orders", ["first", ODD]))
    await asyncio.sleep(0.5)
    await run.publish(ORDERS, "third")
    await asyncio.sleep(29)
    await runtime.engine.send(run.run_id, TimerFired("Ship-1", 1, skipped=True))
    await run.wait()


async def half_collected(runtime: Runtime, run: AsyncRun) -> None:
    """Stop looking in the middle of the wait, while an RPC holds a lock."""
    await asyncio.sleep(5)
    await run.publish(ORDERS, "first")
    await asyncio.sleep(20)
    call = asyncio.ensure_future(run.rpc(Order.add, 1))
    # The runtime closes before; an error that nobody asks for would be told at any later time.
    call.add_done_callback(lambda done: done.cancelled() or done.exception())
    asyncio.get_running_loop().call_later(0.6, call.cancel)
    await asyncio.sleep(0.5)


async def queued(runtime: Runtime, run: AsyncRun) -> None:
    """Stop looking while execute queues for a lock that an RPC holds."""
    await half_collected(runtime, run)
    await run.publish(ORDERS, "second")


async def timed_out(runtime: Runtime, run: AsyncRun) -> None:
    """Change the settings, then run into the timeout."""
    await asyncio.sleep(10)
    async with AsyncClient(runtime) as client:
        await client.update_flow_config(
            run.flow_id, FlowConfig(step_durability=StepDurability.ASYNC)
        )
    await run.wait()


async def taken_back(runtime: Runtime, run: AsyncRun) -> AsyncRun:
    """Go back to where the orders were collected, and on from there."""
    runtime.register(Parcel())
    await asyncio.sleep(5)
    await runtime.engine.send(run.run_id, Published("orders", ["first", "second", "third"]))
    await run.publish(ORDERS, "fourth")
    await asyncio.sleep(10)
    options = TimeTravelOptions(
        TimeTravelType.STEP_EXECUTION_ID,
        step_execution_id=StepExecutionId("Ship", 1),
        reason=ODD,
    )
    async with AsyncClient(runtime) as client:
        await client.time_travel(run.flow_id, options)
    travelled = await runtime.get(run.flow_id)
    await asyncio.sleep(30)
    return travelled


async def with_two_parents(runtime: Runtime, run: AsyncRun) -> AsyncRun:
    """Give the SubFlow of a run that was taken back while that ran."""
    await taken_back(runtime, run)
    return await runtime.get(f"SubFlow:{run.flow_id}-Ship-1-0")


ORDER = Order()
STARTED = StartFlowOptions().with_attribute(COUNT, 100)
LIMITED = StartFlowOptions(
    start_delay=timedelta(seconds=5),
    timeout=timedelta(seconds=40),
    timeout_policy=FlowTimeoutPolicy.HANDLER,
)
