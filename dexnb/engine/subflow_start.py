"""The internal Step that starts a SubFlow, or finds the one that was started before."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dexnb.engine.moving import result_document
from dexnb.engine.turn import SUBFLOW
from dexnb.flow.context import AsyncContext
from dexnb.flow.handler import Handler
from dexnb.flow.registry import RegisteredStep
from dexnb.flow.step import Step
from dexnb.model.decision import Decision
from dexnb.model.message import ParentAdded, Start, message_from
from dexnb.model.run_state import RunState
from dexnb.model.settings import StepSettings
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

Result = dict[str, Any]


def subflow_step(engine: Engine) -> RegisteredStep:
    """Give what every Flow gets that may wait for a SubFlow."""
    handler = Handler(mode="async", input_type=Any)
    return RegisteredStep(SUBFLOW, SubFlowStep(engine), handler, StepSettings())


class SubFlowStep(Step[Any]):
    """Starts a SubFlow, once however often it is delivered.

    Its decision is a dead end whose output is what is known of the SubFlow: that it runs, or how it
    ended. The turn hands that to the Step that waits.
    """

    def __init__(self, engine: Engine) -> None:
        """Start SubFlows in this engine's store."""
        self._engine = engine

    def get_step_type(self) -> str:
        """Give the name that no user's Step can have."""
        return SUBFLOW

    async def execute(self, context: AsyncContext, input: Any) -> Decision:
        """Start it on the control loop, to which the engine's calls belong."""
        run_id, key = context.run_id, context.step_execution_id
        loop = self._engine.control.loop
        begun = asyncio.run_coroutine_threadsafe(start_subflow(self._engine, run_id, key), loop)
        result = await asyncio.wrap_future(begun)
        return Decision("dead_end", output=result, has_output=result is not None)


async def start_subflow(engine: Engine, run_id: str, step_execution_id: str) -> Result | None:
    """Start the SubFlow that an execution of the internal Step stands for.

    Gives what is known of it, or None where the execution was cancelled meanwhile.
    """
    record = await engine.record(run_id=run_id)
    active = {} if record is None else RunState.from_text(record.state).active
    step = active.get(step_execution_id)
    if step is None:
        return None
    # From the state, because what the Step itself is given was decoded.
    document = step.movement.input
    parent = {
        "run_id": run_id,
        "step_execution_id": step.from_step_execution_id,
        "condition": document["condition"],
    }
    return await begin_or_join(engine, document, parent)


async def begin_or_join(engine: Engine, document: Result, parent: dict[str, Any]) -> Result:
    """Start a SubFlow for a parent, or add the parent to one that goes on; give what is known.

    A run that this parent has started or joined before is its SubFlow, however it ended.
    """
    start: Start = message_from(document["start"], Start)
    start = replace(start, flow_id=document["flow_id"], parent=parent)
    while True:
        child = await engine.record(flow_id=start.flow_id)
        if child is not None:
            found = await _join(engine, child, parent)
            if found is not None:
                return found
        started = await engine.begin_run(start)
        if started.created:
            return {**_RUNNING, "flow_id": start.flow_id, "run_id": started.run_id}


_RUNNING: Result = {"status": "RUNNING", "completions": [], "error_type": "", "error_message": ""}


async def _join(engine: Engine, child: RunRecord, parent: dict[str, Any]) -> Result | None:
    """Give what is known of a run that was started before; None if another must replace it."""
    state = RunState.from_text(child.state)
    if parent in state.parents or state.status == "COMPLETED":
        return result_document(state)
    if state.closed:
        # The one policy there is: RESTART_IF_PREVIOUS_EXITS_ABNORMALLY.
        return None
    await engine.send(child.run_id, ParentAdded(parent))

    def joined(record: RunRecord) -> RunState | None:
        now = RunState.from_text(record.state)
        return now if now.closed or parent in now.parents else None

    return result_document(await engine.endings.until(child.run_id, joined))
