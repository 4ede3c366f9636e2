"""A Flow that clients talk to: it waits for payments, keeps Attributes and has RPCs."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeIndex,
    AttributeMap,
    AttributeMatch,
    Channel,
    ChannelMap,
    Clock,
    Context,
    Flow,
    IndexType,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    StepMovement,
    StepOptions,
    Stream,
    Timer,
    Wait,
    dead_end,
    force_complete,
    go_to,
    graceful_complete,
    heartbeat,
    rpc,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.providers import MemoryProvider, Provider
from dexnb.providers.sqlite import SqliteProvider
from tests.engine.flows import fast

PAID = Channel("paid", int)
LINES = ChannelMap("lines", str)
STATE = Attribute("state", str, AttributeIndex(IndexType.KEYWORD))
COUNT = Attribute("count", int, AttributeIndex(IndexType.INT, "times"))
NOTES = AttributeMap("notes", str)
PROGRESS = Stream("Progress", str, 10_000)

Test = Callable[[Runtime, AsyncClient], Coroutine[Any, Any, None]]


def provider_of(store: str, folder: Path) -> Provider:
    """Make a store of a kind."""
    return MemoryProvider() if store == "memory" else SqliteProvider(folder / "runs.db")


def on_each_store(test: Test) -> Callable[[str, Path], None]:
    """Run an async test on a virtual clock, with a runtime and a client on each kind of store."""

    @functools.wraps(test)
    def wrapper(store: str, tmp_path: Path) -> None:
        async def inside() -> None:
            async with (
                Runtime(provider_of(store, tmp_path), options=fast()) as runtime,
                AsyncClient(runtime) as client,
            ):
                await test(runtime, client)

        Clock.virtual().run(inside())

    names = ("store", "tmp_path")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in names]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # any function may
    marked: Callable[[str, Path], None] = pytest.mark.parametrize("store", ["memory", "sqlite"])(
        wrapper
    )
    return marked


async def open_order(client: AsyncClient, flow_id: str = "order") -> None:
    """Start an order, and wait until it waits for a payment."""
    await client.start_flow(Order(), flow_id, "a")
    await client.wait_for_attribute_match(flow_id, STATE, AttributeMatch.equal_to("waiting"))


class AwaitPaid(Step[str]):
    """Waits an hour for a payment."""

    async def wait_for(self, context: AsyncContext, input: str) -> Wait:
        """Wait for a payment or the end of the hour."""
        STATE.set(context, "waiting")
        hour = Timer.by_duration(timedelta(hours=1), condition_id="late")
        return Wait.any_of(PAID.for_one(), hour)

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Tell what came."""
        STATE.set(context, "late" if context.has_timer_fired() else "paid")
        PROGRESS.write(context, f"{input} is done")
        return go_to(Finish, list(PAID.results(context)))


class Finish(Step[list[int]]):
    """Ends the order."""

    async def execute(self, context: AsyncContext, input: list[int]) -> StepDecision:
        """Give what was paid and how the order stands."""
        await asyncio.sleep(1)
        return graceful_complete({"paid": input, "state": STATE.get(context)})


class Close(Step[str]):
    """Ends the order at once; what an RPC starts."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Complete with the input and where it came from."""
        return force_complete(f"{input} from {context.from_step_execution_id}")


class Hold(Step[None]):
    """Holds the lock of `count` for ten seconds; what an RPC starts."""

    def get_step_options(self) -> StepOptions:
        """Lock it."""
        return StepOptions(execute_lock_attributes=(COUNT.lock(),))

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Hold on."""
        await asyncio.sleep(10)
        return dead_end()


class Order(Flow[str]):
    """An order with RPCs of every kind."""

    def get_steps(self) -> StepList[str]:
        """Give the Steps."""
        return StepList.start_step(AwaitPaid()).other_steps(Finish(), Close(), Hold())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(PAID, LINES, STATE, COUNT, NOTES, PROGRESS)

    @rpc
    async def see(self, context: AsyncContext) -> RPCResult[dict[str, Any]]:
        """Tell how it stands."""
        sizes = {"paid": PAID.size(context), "lines": list(LINES.get_all_instance_keys(context))}
        return RPCResult({"state": STATE.get(context), "count": COUNT.get(context), **sizes})

    @rpc
    def add(self, context: Context, by: int) -> RPCResult[int]:
        """Count up, in a thread."""
        COUNT.set(context, COUNT.get(context) + by)
        return RPCResult(COUNT.get(context))

    @rpc(is_transactional=True)
    async def add_surely(self, context: AsyncContext, by: int) -> RPCResult[int]:
        """Count up after a second, in which others count too."""
        before = COUNT.get(context)
        await asyncio.sleep(1)
        COUNT.set(context, before + by)
        return RPCResult(context.attempt)

    @rpc(lock_attributes=(COUNT.lock(),))
    async def add_locked(self, context: AsyncContext, seconds: int) -> RPCResult[int]:
        """Count up under the lock, which it holds for so many seconds."""
        before = COUNT.get(context)
        await asyncio.sleep(seconds)
        COUNT.set(context, before + 1)
        return RPCResult(before + 1)

    @rpc(name="finish-it")
    async def finish(self, context: AsyncContext, why: str) -> RPCResult[None]:
        """Start the Step that ends the order."""
        done = RPCResult(None, (StepMovement.of(Close, why),))
        return done.with_canceling_steps(AwaitPaid)

    @rpc
    async def hold(self, context: AsyncContext) -> None:
        """Start the Step that locks, without an output."""

    @rpc
    async def start_holding(self, context: AsyncContext) -> RPCResult[None]:
        """Start the Step that locks."""
        return RPCResult(None, (StepMovement.of(Hold, None),))

    @rpc(load_channels=(PAID,), is_transactional=True)
    async def forget(self, context: AsyncContext, message_id: str) -> RPCResult[int]:
        """Delete a payment that nobody has taken yet."""
        PAID.delete(context, message_id or PAID.pending_messages(context)[0].message_id)
        return RPCResult(PAID.size(context))

    @rpc
    async def note(self, context: AsyncContext, text: str) -> RPCResult[str]:
        """Keep a note, publish it, record it, and read one that the call must load."""
        NOTES.set(context, "mine", text)
        LINES.publish(context, "a/b", text)
        context.record_event("noted", {"text": text})
        return RPCResult(NOTES.get(context, "other") or "nothing")

    @rpc(lock_attributes=(COUNT.lock(),))
    async def boom(self, context: AsyncContext, kind: str) -> RPCResult[None]:
        """Change something, and raise."""
        COUNT.set(context, 99)
        raise ERRORS[kind](kind)

    @rpc
    def boom_in_a_thread(self, context: Context, kind: str) -> RPCResult[None]:
        """Change something, and raise, in a thread."""
        COUNT.set(context, 99)
        raise ERRORS[kind](kind)

    @rpc(timeout=timedelta(seconds=5), lock_attributes=(COUNT.lock(),))
    async def slow(self, context: AsyncContext) -> RPCResult[None]:
        """Take longer than the timeout."""
        COUNT.set(context, 99)
        await asyncio.sleep(60)
        return RPCResult(None)

    @rpc
    async def misuse(self, context: AsyncContext, call: str) -> RPCResult[None]:
        """Make a call that only Steps may make."""
        made = MISUSES[call](context)
        if asyncio.iscoroutine(made):
            await made
        return RPCResult(None)

    @rpc
    async def talk(self, context: AsyncContext) -> None:
        """Print, also without an end of line."""
        print("async")
        print("line", end="")

    @rpc
    def talk_in_a_thread(self, context: Context) -> None:
        """Print, in a thread."""
        print("plain")

    @rpc
    async def lie(self, context: AsyncContext) -> RPCResult[int]:
        """Give an output of another type than it says."""
        return RPCResult("three")  # type: ignore[arg-type]  # the mistake


ERRORS: dict[str, type[BaseException]] = {
    "value": ValueError,
    "timeout": TimeoutError,
    "exit": SystemExit,
}
MISUSES: dict[str, Callable[[AsyncContext], Any]] = {
    "heartbeat": lambda context: context.heartbeat(1),
    "made heartbeat": lambda _: heartbeat(1),
    "get_last_heartbeat_value": lambda context: context.get_last_heartbeat_value(int),
    "has_last_heartbeat_value": lambda context: context.has_last_heartbeat_value(),
    "Stream Progress write": lambda context: PROGRESS.write(context, "x"),
    "set_step_execution_local": lambda context: context.set_step_execution_local("a", 1),
    "get_step_execution_local": lambda context: context.get_step_execution_local("a", int),
    "has_timer_fired": lambda context: context.has_timer_fired(),
    "wait_for_method_failed": lambda context: context.wait_for_method_failed(),
    "Channel paid results": PAID.results,
}
