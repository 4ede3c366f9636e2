"""A transactional RPC of a run that turns all the time: the run stands still for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    Flow,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    go_to,
    rpc,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.engine.rpc_visits import LONGEST
from dexnb.errors import RpcLockConflictError
from dexnb.model.history import fold
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import fast, history, virtual

ROUNDS = Attribute("rounds", int)
SEEN = Attribute("seen", int)
CALLS = Attribute("calls", int)


class Turning(Step[None]):
    """Goes on to itself, twice in the time that the shortest RPC takes."""

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Count."""
        await asyncio.sleep(0.004)
        ROUNDS.set(context, ROUNDS.get(context) + 1)
        return go_to(Turning, None)


class Restless(Flow[None]):
    """Never comes to rest."""

    def get_steps(self) -> StepList[None]:
        """Give the Step."""
        return StepList.start_step(Turning())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give the Attributes."""
        return PersistenceSchema.of(ROUNDS, SEEN, CALLS)

    @rpc(is_transactional=True)
    async def see(self, context: AsyncContext) -> RPCResult[int]:
        """Note the rounds after a moment, in which the run goes on."""
        rounds, calls = ROUNDS.get(context), CALLS.get(context)
        await asyncio.sleep(0.01)
        SEEN.set(context, rounds)
        CALLS.set(context, calls + 1)
        return RPCResult(rounds)

    @rpc(is_transactional=True, lock_attributes=(SEEN.lock(),))
    async def see_locked(self, context: AsyncContext) -> RPCResult[int]:
        """Do so under a lock."""
        return await self.see(context)

    @rpc(is_transactional=True)
    async def dawdle(self, context: AsyncContext, seconds: float) -> RPCResult[int]:
        """Take long from the fourth try on, and fail if asked to."""
        await asyncio.sleep(0.01 if context.attempt < 4 else abs(seconds))
        if context.attempt == 4 and seconds < 0:
            message = "on purpose"
            raise ValueError(message)
        SEEN.set(context, 1)
        return RPCResult(context.attempt)


@asynccontextmanager
async def restless() -> AsyncIterator[tuple[Runtime, AsyncClient]]:
    """Open an engine with a run that turns."""
    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        client = AsyncClient(runtime)
        await client.start_flow(Restless(), "one", None)
        await asyncio.sleep(0.1)
        yield runtime, client


async def rounds(runtime: Runtime) -> int:
    """Give how far the run is."""
    found = await (await runtime.get("one")).attribute(ROUNDS)
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("method", [Restless.see, Restless.see_locked])
@virtual
async def test_a_run_stands_still_for_a_call_that_it_has_outrun(method: object) -> None:
    """What the RPC saw is what the run had when its changes were applied; then it goes on."""
    async with restless() as (runtime, client):
        seen = await client.invoke_rpc(method, "one")
        await asyncio.sleep(0.1)
        assert await rounds(runtime) > seen + 10
        events = await history(await runtime.get("one"))
        done = next(place for place, each in enumerate(events) if each.kind == "rpc_completed")
        assert fold(events[: done + 1]).attributes["rounds"] == seen
        assert fold(events).locks == {}


@virtual
async def test_calls_that_come_together_get_through_one_by_one() -> None:
    """None of them is lost, and none stands in another's way for ever."""
    async with restless() as (runtime, client):
        calls = [client.invoke_rpc(Restless.see, "one") for _ in range(2)]
        await asyncio.gather(*calls)
        assert await (await runtime.get("one")).attribute(CALLS) == 2


@virtual
async def test_a_call_that_takes_long_keeps_no_run_from_its_turns() -> None:
    """It conflicts as before, and no message waits for longer than the visit may last."""
    async with restless() as (runtime, client):
        call = asyncio.ensure_future(client.invoke_rpc(Restless.dawdle, "one", 0.6))
        before, still = await rounds(runtime), 0.0
        while not call.done():
            await asyncio.sleep(0.1)
            still = 0.0 if await rounds(runtime) > before else still + 0.1
            before = await rounds(runtime)
            assert still <= LONGEST + 0.1
        with pytest.raises(RpcLockConflictError, match="changed under each of its 5 tries"):
            await call


@virtual
async def test_a_call_that_fails_or_is_cancelled_lets_the_run_go_at_once() -> None:
    """Its error is the caller's; nothing is written."""
    async with restless() as (runtime, client):
        with pytest.raises(ValueError, match="on purpose"):
            await client.invoke_rpc(Restless.dawdle, "one", -0.1)
        before = await rounds(runtime)
        await asyncio.sleep(0.1)
        assert await rounds(runtime) > before + 10
        call = asyncio.ensure_future(client.invoke_rpc(Restless.dawdle, "one", 0.6))
        while await rounds(runtime) > before or not before:
            before = await rounds(runtime)
            await asyncio.sleep(0.05)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await asyncio.sleep(0.1)
        assert await rounds(runtime) > before + 10
        assert runtime.engine.orchestrator.visits.waiting == 0


@virtual
async def test_an_engine_that_gets_no_turn_gives_up_as_before() -> None:
    """Another one has all turns, and does not know of the call."""
    store = MemoryStore()
    deaf = FaultyProvider(
        MemoryProvider(store),
        [Fault("fetch_orchestration_items"), Fault("fetch_work_items")],
    )
    async with (
        Runtime(MemoryProvider(store), options=fast()) as works,
        Runtime(deaf, options=fast()) as asks,
    ):
        await AsyncClient(works).start_flow(Restless(), "one", None)
        asks.register(Restless())
        with pytest.raises(RpcLockConflictError, match="5 tries"):
            await AsyncClient(asks).invoke_rpc(Restless.see, "one")
