"""A Flow that waits, locks, branches and starts another one, for the demo."""

# ruff: noqa: INP001 - a script among the page's files, no part of a package

from __future__ import annotations

import asyncio
from datetime import timedelta

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    Channel,
    Flow,
    PersistenceSchema,
    RPCResult,
    StartFlowOptions,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    SubFlow,
    Timer,
    Wait,
    dead_end,
    go_to_many,
    graceful_complete,
    rpc,
)
from dexnb.engine import Runtime
from dexnb.engine.run import AsyncRun

ORDERS = Channel("orders", dict)
PAYMENTS = Channel("payments", float)
STATE = Attribute("state", str)
STOCK = Attribute("stock", int)
NOTES = AttributeMap("notes", str)
OPEN_FOR = timedelta(minutes=4)


class Collect(Step[int]):
    """Waits for two orders, four minutes at most."""

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Open the shop."""
        await asyncio.sleep(1)
        STATE.set(context, "open")
        NOTES.set(context, "opened by", "the demo")
        closing = Timer.by_duration(OPEN_FOR, condition_id="closing")
        return Wait.any_of(ORDERS.at_least(2), closing)

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Reserve what was ordered, and have it paid and shipped."""
        await asyncio.sleep(2)
        STATE.set(context, "selling")
        orders = ORDERS.results(context)
        ways = [StepMovement.of(Reserve, order) for order in orders]
        return go_to_many(*ways, StepMovement.of(Bill, 30.0), StepMovement.of(Ship, "parcel 7"))


class Reserve(Step[dict]):  # type: ignore[type-arg]  # whatever was ordered
    """Takes from the stock, one at a time."""

    def get_step_options(self) -> StepOptions:
        """Lock the stock."""
        return StepOptions(execute_lock_attributes=(STOCK.lock(),))

    async def execute(self, context: AsyncContext, input: dict) -> StepDecision:  # type: ignore[type-arg]
        """Count down."""
        await asyncio.sleep(25)
        STOCK.set(context, STOCK.get(context) - int(input["count"]))
        return dead_end()


class Bill(Step[float]):
    """Waits for the money."""

    async def wait_for(self, context: AsyncContext, input: float) -> Wait:
        """Wait for a payment, or remind after a minute."""
        reminder = Timer.by_duration(timedelta(seconds=60), condition_id="reminder")
        return Wait.any_of(PAYMENTS.for_one(), reminder)

    async def execute(self, context: AsyncContext, input: float) -> StepDecision:
        """Complete, or wait on."""
        if context.has_timer_fired():
            NOTES.set(context, "reminded", f"of {input}")
            return go_to_many(StepMovement.of(Bill, input))
        STATE.set(context, "paid")
        return graceful_complete(input)


class Ship(Step[str]):
    """Waits for the parcel."""

    async def wait_for(self, context: AsyncContext, input: str) -> Wait:
        """Start its Flow."""
        slow = Timer.by_duration(timedelta(seconds=150), condition_id="slow")
        return Wait.any_of(SubFlow.run(Parcel(), input), slow)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Complete with where it is."""
        return graceful_complete(SubFlow.get_flow_id(context))


class Deliver(Step[str]):
    """Takes its time."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Beat on the way."""
        for mile in range(11):
            await context.heartbeat(mile)
            await asyncio.sleep(10)
        return graceful_complete(input)


class Parcel(Flow[str]):
    """What a shop ships."""

    def get_steps(self) -> StepList[str]:
        """Give the Step."""
        return StepList.start_step(Deliver())


class Shop(Flow[int]):
    """A shop that is open for a while."""

    def get_steps(self) -> StepList[int]:
        """Give the Steps."""
        return StepList.start_step(Collect()).other_steps(Reserve(), Bill(), Ship())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(ORDERS, PAYMENTS, STATE, STOCK, NOTES)

    @rpc(lock_attributes=(STOCK.lock(),))
    async def restock(self, context: AsyncContext, count: int) -> RPCResult[int]:
        """Add to the stock."""
        await asyncio.sleep(3)
        STOCK.set(context, STOCK.get(context) + count)
        return RPCResult(STOCK.get(context))


async def sell(runtime: Runtime) -> AsyncRun:
    """Open a shop and be its customers."""
    runtime.register(Parcel())
    options = StartFlowOptions().with_attribute(STOCK, 12)
    run = await runtime.start(Shop(), "shop-1", 1, options=options)
    await asyncio.sleep(22)
    await run.publish(ORDERS, {"item": "teapot", "count": 2})
    await asyncio.sleep(10)
    await run.rpc(Shop.restock, 5)
    await asyncio.sleep(12)
    await run.publish(ORDERS, {"item": "kettle", "count": 1})
    await asyncio.sleep(95)
    await run.publish(PAYMENTS, 30.0)
    return run
