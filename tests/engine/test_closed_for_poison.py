"""What a run that is closed for a message that cannot be read leaves behind: as any other end."""

from __future__ import annotations

import asyncio
from typing import Any

from dexnb import Flow, Step, StepDecision, StepList, SubFlow, Wait, graceful_complete
from dexnb.engine import AsyncRun, Runtime
from dexnb.flow.context import AsyncContext
from dexnb.model.history import fold
from dexnb.providers import NewMessage
from tests.engine.flows import flow, step, with_runtime


async def nap(context: AsyncContext, input: Any) -> StepDecision:
    """Work for a minute."""
    await asyncio.sleep(60)
    return graceful_complete(None)


class Ask(Step[Any]):
    """Waits for a SubFlow and completes with how that ended."""

    async def wait_for(self, context: AsyncContext, input: Any) -> Wait:
        """Start it."""
        return Wait.until(SubFlow.run(flow(step(nap, name="Nap"), name="Child"), None))

    async def execute(self, context: AsyncContext, input: Any) -> StepDecision:
        """Tell."""
        return graceful_complete(SubFlow.get_condition_results(context).status)


class Parent(Flow[Any]):
    """Asks."""

    def get_steps(self) -> StepList[Any]:
        """Give the Step."""
        return StepList.start_step(Ask())


async def spoil(runtime: Runtime, run: AsyncRun) -> None:
    """Send what cannot be read."""
    await asyncio.sleep(1)
    await runtime.engine.provider.enqueue_for_orchestrator(NewMessage(run.run_id, "{"))


@with_runtime
async def test_its_state_is_the_fold_of_its_history(runtime: Runtime) -> None:
    """What was active is cancelled, and what it had is kept."""
    run = await runtime.start(flow(step(nap, name="Nap")), "flow", 7)
    await spoil(runtime, run)
    assert (await run.wait(30)).error_message.startswith("Poison: ")
    state = await run.state()
    durable = [event for event in await run.events() if event.durable]
    assert [event.kind for event in durable][-2:] == ["step_cancelled", "flow_closed"]
    assert fold(durable) == state
    assert state.input == 7


@with_runtime
async def test_its_parent_is_told(runtime: Runtime) -> None:
    """As of any SubFlow that fails; it would wait for ever."""
    run = await runtime.start(Parent(), "flow")
    await asyncio.sleep(1)
    (child,) = [each for each in await runtime.runs() if each.flow_id != "flow"]
    await spoil(runtime, child)
    assert (await run.wait(60)).output == "FAILED"
