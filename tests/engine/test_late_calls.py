"""A context works as long as its method: what comes later is refused and not lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    Channel,
    ChannelMap,
    Context,
    Flow,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepList,
    SubFlow,
    Wait,
    dead_end,
    force_fail,
    graceful_complete,
    rpc,
)
from dexnb.engine import Runtime
from dexnb.errors import ContextCallError
from tests.engine.flows import finished, with_runtime

A = Attribute("a", int)
CH = Channel("ch", int)
TOPICS = ChannelMap("topics", int)

KEPT: list[Any] = []
"""The contexts of the methods that have run."""

CALLS: dict[str, Callable[[Any], Any]] = {
    "Attribute a set": lambda context: A.set(context, 9),
    "Attribute a delete": A.delete,
    "Attribute a get": A.get,
    "Channel ch publish": lambda context: CH.publish(context, 1),
    "Channel ch size": CH.size,
    "ChannelMap topics get_all_instance_keys": TOPICS.get_all_instance_keys,
    "record_event": lambda context: context.record_event("e", 1),
}
OF_STEPS: dict[str, Callable[[Any], Any]] = {
    "set_step_execution_local": lambda context: context.set_step_execution_local("k", 1),
    "get_step_execution_local": lambda context: context.get_step_execution_local("k", int),
    "has_timer_fired": lambda context: context.has_timer_fired(),
    "SubFlow.get_condition_results": SubFlow.get_condition_results,
    "Channel ch results": CH.results,
}


class Late(Flow[str]):
    """Keeps the contexts of its methods."""

    def get_steps(self) -> StepList[str]:
        """Give the Steps."""
        return StepList.start_step(Quiet()).other_steps(Busy(), Fails(), Plainly())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what they keep."""
        return PersistenceSchema.of(A, CH, TOPICS)

    @rpc
    async def look(self, context: AsyncContext) -> RPCResult[int]:
        """Read."""
        KEPT.append(context)
        return RPCResult(A.get(context))

    @rpc
    def write(self, context: Context) -> RPCResult[None]:
        """Write, in a thread."""
        KEPT.append(context)
        A.set(context, 1)
        return RPCResult(None)

    @rpc
    async def fail(self, context: AsyncContext) -> RPCResult[None]:
        """Write, and fail."""
        KEPT.append(context)
        A.set(context, 99)
        raise ValueError


class Quiet(Step[str]):
    """Never touches the data."""

    async def wait_for(self, context: AsyncContext, input: str) -> Wait:
        """Wait for a message."""
        KEPT.append(context)
        return Wait.until(CH.for_one())

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Go on."""
        KEPT.append(context)
        return dead_end()


class Busy(Step[str]):
    """Writes."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Write and go on."""
        KEPT.append(context)
        A.set(context, 2)
        return graceful_complete()


class Plainly(Step[str]):
    """Never touches the data, in a thread."""

    def execute(self, context: Context, input: str) -> StepDecision:
        """Go on."""
        KEPT.append(context)
        return force_fail("told so")


class Fails(Step[str]):
    """Fails."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """Raise."""
        KEPT.append(context)
        raise ValueError


def starting(first: Step[str]) -> Flow[str]:
    """Give the Flow with another start Step."""
    body = {"get_steps": lambda _: StepList.start_step(first)}
    made: Flow[str] = type("Late", (Late,), body)()
    return made


def check_over(context: Any, calls: dict[str, Callable[[Any], Any]]) -> None:
    """Make each call, which must be refused by its name."""
    for name, late in calls.items():
        with pytest.raises(ContextCallError, match="the method has ended") as caught:
            late(context)
        assert caught.value.operation == name


@with_runtime
async def test_the_context_of_an_rpc_ends_with_its_method(runtime: Runtime) -> None:
    """One that reads, one that writes, one that fails: nothing goes through it any more."""
    KEPT.clear()
    run = await runtime.start(Late(), "late", "x")
    await run.rpc(Late.look)
    await run.rpc(Late.write)
    with pytest.raises(ValueError, match=r"^$"):
        await run.rpc(Late.fail)
    contexts = [each for each in KEPT if not each.step_execution_id]
    assert len(contexts) == 3
    for context in contexts:
        check_over(context, CALLS)
        assert context.flow_id == "late"
    assert await run.attribute(A) == 1
    await run.stop("TERMINATE")


@pytest.mark.parametrize("first", [Quiet(), Busy(), Plainly(), Fails()])
def test_the_context_of_a_step_ends_with_its_method(first: Step[str]) -> None:
    """Whether it had used the data or not, and however it ended; of wait_for too."""

    async def check(runtime: Runtime) -> None:
        KEPT.clear()
        run = await runtime.start(starting(first), "late", "x")
        await asyncio.sleep(0.5)
        if isinstance(first, Quiet):
            await run.publish(CH, 1)
        if isinstance(first, Quiet):
            await asyncio.sleep(1)
        if isinstance(first, Quiet | Fails):
            await run.stop("TERMINATE")
        await finished(run, 60)
        assert len(KEPT) == (2 if isinstance(first, Quiet) else 1)
        for context in KEPT:
            check_over(context, {**CALLS, **OF_STEPS})

    with_runtime(check)()
