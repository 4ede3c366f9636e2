"""How an RPC ends when something else ends: its process, the session, a turn before its own."""

from __future__ import annotations

import asyncio
import itertools
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    Clock,
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
    rpc,
)
from dexnb.engine import AsyncClient, Runtime, Session
from dexnb.engine.rpc_call import OUTRUN
from dexnb.errors import RpcLockConflictError, RuntimeClosed, WaitTimeout
from dexnb.providers import MemoryProvider
from dexnb.providers.sqlite import SqliteProvider
from tests.engine.flows import fast, history, virtual, with_runtime

SLOT = Attribute("slot", int)
BEATS = Attribute("beats", int)
HOUR = timedelta(hours=1)


class Rest(Step[str]):
    """Keeps the run open."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Sleep for a day."""
        await asyncio.sleep(86_400)
        return dead_end()


class Deploy(Step[str]):
    """Works under the lock."""

    def get_step_options(self) -> StepOptions:
        """Lock the slot."""
        return StepOptions(execute_lock_attributes=(SLOT.lock(),))

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Take a minute."""
        await asyncio.sleep(60)
        return dead_end()


class Slots(Flow[str]):
    """A run with RPCs that hold a lock for long."""

    def get_steps(self) -> StepList[str]:
        """Give the Steps."""
        return StepList.start_step(Rest()).other_steps(Deploy())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(SLOT, BEATS)

    @rpc(lock_attributes=(SLOT.lock(),), timeout=HOUR)
    async def hold(self, context: AsyncContext, seconds: int) -> RPCResult[int]:
        """Hold the lock, and count."""
        await asyncio.sleep(seconds)
        SLOT.set(context, SLOT.get(context) + 1)
        return RPCResult(SLOT.get(context))

    @rpc(lock_attributes=(SLOT.lock(),), timeout=HOUR)
    def hold_in_a_thread(self, context: Context) -> RPCResult[None]:
        """Hold the lock until nobody waits any more."""
        STARTED.set()
        while not context.is_cancellation_requested():
            threading.Event().wait(0.01)
        return RPCResult(None)

    @rpc(lock_attributes=(SLOT.lock(),), is_transactional=True, timeout=HOUR)
    async def hold_surely(self, context: AsyncContext, seconds: int) -> RPCResult[int]:
        """Hold the lock; tell which try it is."""
        await asyncio.sleep(seconds)
        SLOT.set(context, 7)
        return RPCResult(context.attempt)

    @rpc(is_transactional=True)
    async def claim(self, context: AsyncContext) -> RPCResult[float]:
        """Note when it is run."""
        TRIES.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.01)
        SLOT.set(context, 1)
        return RPCResult(0.0)

    @rpc
    async def beat(self, context: AsyncContext) -> RPCResult[None]:
        """Change the run."""
        BEATS.set(context, BEATS.get(context) + 1)
        return RPCResult(None)

    @rpc
    async def deploy(self, context: AsyncContext) -> RPCResult[None]:
        """Start a Step that locks."""
        return RPCResult(None, (StepMovement.of(Deploy, ""),))

    @rpc(lock_attributes=(SLOT.lock(),))
    async def leave(self, context: AsyncContext, how: str) -> RPCResult[None]:
        """Raise what ends a program, or a task."""
        raise LEAVE[how]

    @rpc
    def leave_in_a_thread(self, context: Context, how: str) -> RPCResult[None]:
        """Raise it in a thread."""
        raise LEAVE[how]


STARTED = threading.Event()
TRIES: list[float] = []
LEAVE: dict[str, type[BaseException]] = {
    "exit": SystemExit,
    "interrupt": KeyboardInterrupt,
    "cancel": asyncio.CancelledError,
}


def test_a_close_ends_calls_and_leaves_no_lock(tmp_path: Path) -> None:
    """The callers are told, and the next runtime has the lock, long before its half minute."""

    async def closes() -> None:
        runtime = Runtime(SqliteProvider(tmp_path / "runs.db"), options=fast())
        async with runtime:
            run = await runtime.start(Slots(), "slots", "x")
            locking = asyncio.ensure_future(run.rpc(Slots.hold, 1000))
            await asyncio.sleep(1)
            other = asyncio.ensure_future(run.rpc(Slots.hold_surely, 1000))
            free = asyncio.ensure_future(run.rpc(Slots.claim))
            with pytest.raises(RpcLockConflictError):
                await other
            await free
            waiting = asyncio.ensure_future(run.rpc(Slots.hold, 1000))
        for call in (locking, waiting):
            with pytest.raises((RuntimeClosed, RpcLockConflictError)) as caught:
                await call
            assert call is waiting or caught.type is RuntimeClosed

    async def goes_on() -> None:
        async with Runtime(SqliteProvider(tmp_path / "runs.db"), options=fast()) as runtime:
            run = await runtime.start(Slots(), "slots", "x")
            await asyncio.sleep(1)
            assert await run.rpc(Slots.hold, 0) == 2
            await run.stop("TERMINATE")

    Clock.virtual().run(closes())
    Clock.virtual().run(goes_on())


def test_a_session_that_is_closed_ends_a_call_in_a_thread() -> None:
    """The method learns it, and its caller has RuntimeClosed."""
    STARTED.clear()
    session = Session(MemoryProvider)
    run = session.start(Slots(), "slots", "x")
    raised: list[BaseException] = []

    def calls() -> None:
        try:
            run.rpc(Slots.hold_in_a_thread)
        except BaseException as error:  # noqa: BLE001 - it is looked at below
            raised.append(error)

    caller = threading.Thread(target=calls)
    caller.start()
    assert STARTED.wait(30)
    session.close()
    caller.join(30)
    assert [type(error) for error in raised] == [RuntimeClosed]


@with_runtime
async def test_a_long_call_keeps_its_lock_by_renewing_it(runtime: Runtime) -> None:
    """For ten minutes; a transactional one takes its own renewals for no change of the run."""
    run = await runtime.start(Slots(), "slots", "x")
    assert await run.rpc(Slots.hold, 600) == 1
    renewals = [e for e in await history(run) if e.kind == "rpc_started" and "until" in e.payload]
    assert len(renewals) > 10
    assert await run.rpc(Slots.hold_surely, 100) == 1
    changed = asyncio.ensure_future(run.rpc(Slots.hold_surely, 100))
    await asyncio.sleep(50)
    await run.rpc(Slots.beat)
    assert await changed == 2
    assert (await run.state()).locks == {}
    await run.stop("TERMINATE")


@virtual
async def test_the_lock_of_a_dead_caller_ends_within_half_a_minute() -> None:
    """Whatever its timeout: nobody renews it."""
    provider = MemoryProvider()
    async with Runtime(provider, options=fast()) as runtime:
        run = await runtime.start(Slots(), "slots", "x")
        call = asyncio.ensure_future(run.rpc(Slots.hold, 1000))
        await asyncio.sleep(45)
        state = await run.state()
        (holder,) = state.locks.values()
        # What a killed process does: no renewal and no word at its end.
        engine = runtime.engine
        send = engine.send

        async def drop(run_id: str, message: Any) -> None:
            if getattr(message, "request_id", "") != holder:
                await send(run_id, message)

        engine.send = drop  # type: ignore[method-assign]  # the fault
        await asyncio.sleep(31)
        assert (await run.state()).locks == {}
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await run.stop("TERMINATE")


@with_runtime
async def test_a_wait_that_is_over_names_the_lock_that_a_step_waits_for(runtime: Runtime) -> None:
    """And who holds it: a Step, or an RPC."""
    run = await runtime.start(Slots(), "slots", "x")
    await run.rpc(Slots.deploy)
    await run.rpc(Slots.deploy)
    text = "; Deploy-2 waits for the lock of slot, held by Deploy-1; it was left alone"
    with pytest.raises(WaitTimeout, match=text):
        await run.wait(5)
    await asyncio.sleep(120)
    call = asyncio.ensure_future(run.rpc(Slots.hold, 1000))
    await asyncio.sleep(1)
    await run.rpc(Slots.deploy)
    with pytest.raises(WaitTimeout, match="Deploy-3 waits for the lock of slot, held by an RPC"):
        await run.wait(5)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await run.stop("TERMINATE")


@pytest.mark.parametrize("how", LEAVE)
def test_an_rpc_that_leaves_the_program_leaves_the_session_open(how: str) -> None:
    """It is raised where the RPC was called, the lock is free, and the session works on."""
    with Session(MemoryProvider) as session:
        run = session.start(Slots(), "slots", "x")
        for method in (Slots.leave, Slots.leave_in_a_thread):
            with pytest.raises(LEAVE[how]) as caught:
                run.rpc(method, how)
            assert not isinstance(caught.value, RuntimeClosed)
        assert session.is_open
        refused = [event for event in run.events() if event.kind == "rpc_refused"]
        reason = f"failed with {LEAVE[how].__name__}"
        assert [event.payload["reason"] for event in refused] == [reason]
        run.rpc(Slots.beat)
        assert run.attribute(BEATS) == 1
        run.stop("TERMINATE")


@virtual
async def test_a_transactional_rpc_pauses_longer_before_each_try() -> None:
    """So that it does not run into the same burst of changes again and again.

    A run that never comes to rest stands still for it in the end.
    """
    TRIES.clear()
    async with (
        Runtime(MemoryProvider(), options=fast()) as runtime,
        AsyncClient(runtime) as client,
    ):
        run = await runtime.start(Slots(), "slots", "x")

        async def beats() -> None:
            while True:
                await client.invoke_rpc(Slots.beat, "slots")
                await asyncio.sleep(0.005)

        busy = asyncio.ensure_future(beats())
        await client.invoke_rpc(Slots.claim, "slots")
        busy.cancel()
        await asyncio.gather(busy, return_exceptions=True)
        await run.stop("TERMINATE")
    pauses = [later - earlier - 0.01 for earlier, later in itertools.pairwise(TRIES)]
    assert len(pauses) == OUTRUN
    for number, pause in enumerate(pauses):
        longest = 0.025 * 2**number
        assert longest / 2 <= pause <= longest + 0.02
