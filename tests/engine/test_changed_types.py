"""A run whose code was changed so that what it keeps cannot be read: it says how to go on."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncClient,
    AsyncContext,
    Attribute,
    Channel,
    Flow,
    PersistenceSchema,
    StartFlowOptions,
    Step,
    StepDecision,
    StepExecutionId,
    StepList,
    Timer,
    TimeTravelOptions,
    TimeTravelStepMethod,
    TimeTravelType,
    Wait,
    graceful_complete,
)
from dexnb.engine import Runtime
from dexnb.providers import MemoryProvider, MemoryStore
from tests.engine.flows import fast, finished, virtual


def typed(input: type, kept: type, paid: type) -> Flow[Any]:
    """Make the Flow with these types of its input, its Attribute and its Channel."""
    attribute: Attribute[Any] = Attribute("kept", kept)
    channel: Channel[Any] = Channel("paid", paid)

    class Reads(Step[Any]):
        async def wait_for(self, context: AsyncContext, input: Any) -> Wait:
            return Wait.all_of(Timer.by_duration(timedelta(seconds=10)), channel.for_one())

        async def execute(self, context: AsyncContext, input: Any) -> StepDecision:
            (message,) = channel.results(context)
            return graceful_complete([input, attribute.get(context), message])

    class Typed(Flow[Any]):
        def get_steps(self) -> StepList[Any]:
            return StepList.start_step(Reads())

        def get_persistence_schema(self) -> PersistenceSchema:
            return PersistenceSchema.of(attribute, channel)

    for method in (Reads.wait_for, Reads.execute):
        method.__annotations__["input"] = input
    return Typed()


AGAIN = TimeTravelOptions(
    TimeTravelType.STEP_EXECUTION_ID,
    step_execution_id=StepExecutionId("Reads"),
    step_method=TimeTravelStepMethod.EXECUTE,
)


@pytest.mark.parametrize(
    ("types", "what"),
    [
        ((str, int, int), "input of Typed.Reads-1 of flow: value must be str, stands 1"),
        ((int, str, int), "Attribute kept get: value must be str, stands 2"),
        ((int, int, str), "Channel paid results: value must be str, stands 3"),
    ],
)
def test_a_run_that_has_failed_of_a_changed_type_goes_on_with_corrected_code(
    types: tuple[type, type, type], what: str
) -> None:
    """It is told what cannot be read, that other code has stored it, and what to do."""

    @virtual
    async def inside() -> None:
        store, good = MemoryStore(), typed(int, int, int)
        async with Runtime(MemoryProvider(store), options=fast()) as runtime:
            begun = StartFlowOptions().with_attribute(Attribute("kept", int), 2)
            run = await runtime.start(good, "flow", 1, options=begun)
            await run.publish("paid", 3)
            await asyncio.sleep(1)
        async with Runtime(MemoryProvider(store), options=fast()) as runtime:
            runtime.register(typed(*types))
            result = await finished(await runtime.get("flow"))
            assert result.status == "FAILED"
            assert f"{what}; other code has stored it: declare its type" in result.error_message
            assert "goes on from there by Client.time_travel" in result.error_message
            runtime.register(good)
            await AsyncClient(runtime).time_travel("flow", AGAIN)
            assert (await finished(await runtime.get("flow"))).output == [1, 2, 3]

    inside()
