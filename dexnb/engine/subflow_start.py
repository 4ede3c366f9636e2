"""The internal Step that starts a SubFlow, or finds the one that was started before."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dexnb.engine.first_turn import begin_run
from dexnb.engine.moving import result_document
from dexnb.engine.starting import terminate
from dexnb.engine.turn import SUBFLOW
from dexnb.errors import DefinitionError
from dexnb.flow.context import AsyncContext
from dexnb.flow.handler import Handler
from dexnb.flow.registry import RegisteredStep
from dexnb.flow.step import Step
from dexnb.model.decision import Decision
from dexnb.model.message import ParentAdded, Start, message_from
from dexnb.model.run_state import RunState, active_step
from dexnb.model.settings import StepSettings
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

Result = dict[str, Any]
Parent = dict[str, Any]


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

    Raises:
        DefinitionError: The id that it would have is that of another open run's SubFlow.
    """
    record = await engine.record(run_id=run_id)
    step = None if record is None else active_step(record.state, step_execution_id)
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


async def begin_or_join(engine: Engine, document: Result, parent: Parent) -> Result:
    """Start a SubFlow for a parent, or add the parent to one that goes on; give what is known.

    A run that this parent has started or joined before is its SubFlow, however it ended. One that a
    run has started from which the parent was time-travelled is so too, unless it ended abnormally.
    Any other run of that flow id is replaced.

    Raises:
        DefinitionError: There is an open one for which another open run waits.
    """
    start: Start = message_from(document["start"], Start)
    start = replace(start, flow_id=document["flow_id"], parent=parent)
    while True:
        child = await engine.record(flow_id=start.flow_id)
        if child is not None:
            found = await _found(engine, child, parent)
            if found is not None:
                return found
        started = await begin_run(engine, start, _run_id(parent))
        if started.created:
            return {**_RUNNING, "flow_id": start.flow_id, "run_id": started.run_id}


def _run_id(parent: Parent) -> str:
    """Give the id of the one run that this parent may start.

    The start of an attempt that has lost its lease may come when the next one's run has ended.
    """
    name = "/".join(str(parent[each]) for each in ("run_id", "step_execution_id", "condition"))
    return uuid.uuid5(uuid.NAMESPACE_OID, name).hex


_RUNNING: Result = {"status": "RUNNING", "completions": [], "error_type": "", "error_message": ""}


async def _found(engine: Engine, child: RunRecord, parent: Parent) -> Result | None:
    """Give what is known of a run that was started before; None if another must replace it."""
    state = RunState.from_text(child.state)
    if parent in state.parents:
        return result_document(state)
    own = await _state(engine, parent["run_id"])
    origins = [] if own is None else own.origins
    inherited = any(each["run_id"] in origins for each in state.parents)
    if inherited and state.status == "COMPLETED":
        return result_document(state)
    if state.closed:
        # The one policy there is: RESTART_IF_PREVIOUS_EXITS_ABNORMALLY.
        return None
    if inherited:
        return await _join(engine, child.run_id, parent)
    await _displace(engine, state, parent, own)
    return None


async def _join(engine: Engine, run_id: str, parent: Parent) -> Result:
    """Let an open run tell this parent too when it ends."""
    await engine.send(run_id, ParentAdded(parent))

    def joined(record: RunRecord) -> RunState | None:
        now = RunState.from_text(record.state)
        return now if now.closed or parent in now.parents else None

    return result_document(await engine.endings.until(run_id, joined))


async def _displace(engine: Engine, child: RunState, parent: Parent, own: RunState | None) -> None:
    """Terminate an open run for which nobody waits any more, or refuse to.

    Raises:
        DefinitionError: Somebody does.
    """
    wanted_by = _name(parent, own)
    for other in child.parents:
        holder = await _state(engine, other["run_id"])
        if holder is not None and not holder.closed:
            raise DefinitionError(
                f"SubFlow id {child.flow_id} is that of an open SubFlow of {_name(other, holder)}, "
                f"and {wanted_by} would give its own the same: give one of them another flow id or "
                "Step type"
            )
    reason = (
        f"{wanted_by} starts a SubFlow of its own under this flow id, and every run that waited "
        "for this one has ended"
    )
    await terminate(engine, child.run_id, reason)


def _name(parent: Parent, state: RunState | None) -> str:
    flow_id = "unknown" if state is None else state.flow_id
    return f"{parent['step_execution_id']} of flow id {flow_id} (run {parent['run_id']})"


async def _state(engine: Engine, run_id: str) -> RunState | None:
    record = await engine.record(run_id=run_id)
    return None if record is None else RunState.from_text(record.state)
