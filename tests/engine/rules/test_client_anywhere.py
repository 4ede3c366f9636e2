"""C01: every call of a client works in plain code, in a running loop and in a thread, the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

import dexnb
from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMatch,
    Channel,
    Context,
    Flow,
    FlowConfig,
    PersistenceSchema,
    RPCResult,
    Step,
    StepDecision,
    StepDurability,
    StepExecutionId,
    StepList,
    StopFlowOptions,
    Stream,
    TimerId,
    TimeTravelOptions,
    TimeTravelType,
    Wait,
    graceful_complete,
    rpc,
)
from dexnb.engine.client import Client

COUNT = Attribute("count", int)
NOTES = Channel("notes", str)
PROGRESS = Stream("Progress", str, 1 << 20)


class Awaits(Step[int]):
    """Waits for an hour and a note."""

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Keep the input, and wait."""
        COUNT.set(context, input)
        hour = dexnb.Timer.by_duration(timedelta(hours=1), condition_id="hour")
        return Wait.all_of(hour, NOTES.for_one())

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Give the note."""
        return graceful_complete(list(NOTES.results(context)))


class Awaiting(Flow[int]):
    """One Step, and a question that may be asked meanwhile."""

    def get_steps(self) -> StepList[int]:
        """Have one Step."""
        return StepList.start_step(Awaits())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Keep one of each."""
        return PersistenceSchema.of(COUNT, NOTES, PROGRESS)

    @rpc
    def ask(self, context: Context, more: int) -> RPCResult[int]:
        """Add to what is kept."""
        return RPCResult(COUNT.get(context) + more)


def everything(client: Client) -> list[Any]:
    """Call each method once; give what they answer."""
    made = client.start_flow(Awaiting(), "flow", 5)
    step = StepExecutionId(Awaits)
    client.write_stream("flow", PROGRESS, "me", "half")
    client.update_flow_config("flow", FlowConfig(step_durability=StepDurability.ASYNC))
    answers = [
        client.wait_for_attribute_match("flow", COUNT, AttributeMatch.equal_to(5)),
        client.invoke_rpc(Awaiting.ask, "flow", 2),
        client.describe_flow("flow").run_id == made,
        len(client.search_flows('status = "RUNNING"', 10).entries),
        client.read_stream("flow", PROGRESS).value,
        len(client.list_stream_messages("flow", PROGRESS, 10).messages),
    ]
    client.skip_timer("flow", step, TimerId.by_condition_id("hour"))
    client.publish("flow", NOTES, "a note")
    client.wait_for_step_completion("flow", step)
    answers.append(client.wait_for_flow("flow", 20).output)
    answers.append(client.time_travel("flow", TimeTravelOptions(TimeTravelType.BEGINNING)) == made)
    client.stop_flow("flow", StopFlowOptions())
    return [*answers, client.wait_for_flow("flow").status, client.health_check()]


def in_plain_code(call: Callable[[], list[Any]]) -> list[Any]:
    """Call it as a script does."""
    return call()


def in_a_running_loop(call: Callable[[], list[Any]]) -> list[Any]:
    """Call it as a cell does, whose loop is running."""

    async def cell() -> list[Any]:
        return call()

    return asyncio.run(cell())


def in_a_thread(call: Callable[[], list[Any]]) -> list[Any]:
    """Call it as a callback of a library does."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(call).result(30)


@pytest.mark.parametrize("where", [in_plain_code, in_a_running_loop, in_a_thread])
def test_c01_every_call_of_a_client_works_the_same_everywhere(
    where: Callable[[Callable[[], list[Any]]], list[Any]],
) -> None:
    """Without a word about a running loop, and with asyncio as it is."""
    before = (asyncio.run, asyncio.get_event_loop, asyncio.BaseEventLoop.run_forever)
    with dexnb.open("memory:") as session, Client(session) as client:
        answers = where(lambda: everything(client))
    assert answers == [5, 7, True, 1, "half", 1, ["a note"], False, "CANCELED", True]
    assert before == (asyncio.run, asyncio.get_event_loop, asyncio.BaseEventLoop.run_forever)
