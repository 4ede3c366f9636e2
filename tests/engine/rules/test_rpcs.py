"""What the rules say of RPCs: locks tried once, certain deletions, Steps added from outside."""

from __future__ import annotations

import asyncio

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    Channel,
    Context,
    Flow,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    dead_end,
    graceful_complete,
    rpc,
)
from dexnb.engine import Runtime
from dexnb.engine.async_client import AsyncClient
from dexnb.errors import ChannelMessageNotFoundError, RpcLockConflictError
from tests.engine.flows import finished
from tests.engine.rules.made import clock, on_stores, started

SEATS = Attribute("seats", int)
NOTES = Channel("notes", str)


class Holds(Step[str]):
    """Holds the lock for ten seconds."""

    def get_step_options(self) -> StepOptions:
        """Lock."""
        return StepOptions(execute_lock_attributes=(SEATS.lock(),))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Add one, in a while."""
        await asyncio.sleep(10)
        SEATS.set(context, SEATS.get(context) + 1)
        return dead_end()


class Ends(Step[str]):
    """Completes the Flow."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """End with the input."""
        return graceful_complete(input)


class Booking(Flow[str]):
    """Is talked to from outside."""

    def get_steps(self) -> StepList[str]:
        """Start with the Step that holds the lock."""
        return StepList.start_step(Holds()).other_steps(Ends())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Keep a number and notes."""
        return PersistenceSchema.of(SEATS, NOTES)

    @rpc(lock_attributes=(SEATS.lock(),))
    def book(self, context: Context) -> RPCResult[int]:
        """Add ten; give what there was."""
        before = SEATS.get(context)
        SEATS.set(context, before + 10)
        return RPCResult(before)

    @rpc(is_transactional=True)
    def drop(self, context: Context, message_id: str) -> RPCResult[bool]:
        """Delete a note for certain."""
        NOTES.delete(context, message_id)
        return RPCResult(True)

    @rpc
    def drop_if_there(self, context: Context, message_id: str) -> RPCResult[bool]:
        """Delete a note, or not."""
        NOTES.delete(context, message_id)
        return RPCResult(True)

    @rpc
    def finish(self, context: Context) -> RPCResult[None]:
        """Let the Flow end."""
        return RPCResult(None, (StepMovement.of(Ends, "from outside"),))


@pytest.mark.rule("2.9/rpc-once", "2.9/steps-wait")
@on_stores
async def test_an_rpc_does_not_wait_for_a_lock(runtime: Runtime) -> None:
    """It is refused at once, and has what it wants when the Step has ended."""
    run = await started(runtime, Booking(), "")
    async with AsyncClient(runtime) as client:
        await asyncio.sleep(1)
        with pytest.raises(RpcLockConflictError, match="seats"):
            await client.invoke_rpc(Booking.book, "flow")
        assert clock() < 2
        await asyncio.sleep(10)
        assert await client.invoke_rpc(Booking.book, "flow") == 1
    state = await run.state()
    assert (state.attributes, state.locks) == ({"seats": 11}, {})


@pytest.mark.rule("2.8/delete-transactional", "2.8/delete")
@on_stores
async def test_a_transactional_rpc_tells_that_a_message_was_gone(runtime: Runtime) -> None:
    """Another one does not mind."""
    run = await started(runtime, Booking(), "")
    async with AsyncClient(runtime) as client:
        await client.publish("flow", NOTES, "a")
        ((message_id, _),) = (await run.state()).channels["notes"]
        assert await client.invoke_rpc(Booking.drop, "flow", message_id)
        assert (await run.state()).channels == {}
        with pytest.raises(ChannelMessageNotFoundError, match="notes"):
            await client.invoke_rpc(Booking.drop, "flow", message_id)
        assert await client.invoke_rpc(Booking.drop_if_there, "flow", message_id)


@pytest.mark.rule("2.10/stays-open")
@on_stores
async def test_an_rpc_adds_a_step_to_a_flow_with_nothing_active(runtime: Runtime) -> None:
    """Which is what ends it."""
    run = await started(runtime, Booking(), "")
    await asyncio.sleep(1000)
    assert (await run.state()).active == {}
    async with AsyncClient(runtime) as client:
        await client.invoke_rpc(Booking.finish, "flow")
    assert (await finished(run)).output == "from outside"
