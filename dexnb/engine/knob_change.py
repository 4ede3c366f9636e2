"""Turning the knobs of a run: checked by the window rule, recorded, and live at once."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dexnb.clock import seconds_of
from dexnb.errors import DefinitionError, RunNotFound
from dexnb.flow.registry import RegisteredFlow
from dexnb.graph.knobs import check_knob
from dexnb.graph.read import read_graph
from dexnb.model.arguments import of_type
from dexnb.model.budget import MARGIN
from dexnb.model.message import KnobsChanged
from dexnb.model.run_state import RunState

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


def checked_overrides(
    flow: RegisteredFlow, overrides: Mapping[str, Any] | None, minimum_heartbeat: float
) -> dict[str, Any]:
    """Give a new run's knob values as plain numbers.

    The window rule is not asked: whoever starts a run by code may try what breaks it.

    Raises:
        DefinitionError: There is no such knob, or the value is no duration and no count.
    """
    if overrides is None:
        return {}
    of_type(overrides, Mapping, "overrides", "a dict of knob names and values")
    for name in overrides:
        of_type(name, str, "name of an override", "a constant's name or 'StepType.option'")
    if not overrides:
        return {}
    graph = read_graph(flow)
    return {
        name: check_knob(graph, {}, name, value, minimum_heartbeat=minimum_heartbeat, window=False)
        for name, value in overrides.items()
    }


async def set_knob(
    engine: Engine, run_id: str, name: str, value: Any, *, margin: float = MARGIN
) -> float:
    """Turn a knob of an open run: at once, for every later attempt, and over a restart.

    Args:
        engine: Where the run is.
        run_id: The run.
        name: A constant's name, or `StepType.option`.
        value: Seconds, or a whole number for counts.
        margin: Seconds that a round leaves free before the heartbeat deadline.

    Raises:
        DefinitionError: The run has ended, its code is not registered, there is no such knob, or
            the value breaks the window rule; the old value stays.
        RunNotFound: The store has no such run.
    """
    of_type(name, str, "knob", "a constant's name or 'StepType.option'")
    margin = seconds_of(margin, name="margin")
    state, flow = await _open_run(engine, run_id, name)
    knobs, graph = engine.worker.knobs, read_graph(flow)
    knobs.learn(run_id, state)
    if knobs.is_unsure(run_id):
        await engine.ask(lambda: knobs.catch_up(run_id))
    number = check_knob(
        graph,
        knobs.of(run_id),
        name,
        value,
        margin=margin,
        minimum_heartbeat=knobs.minimum_heartbeat,
    )
    # A repeated one changes nothing, also where others have turned the knob between.
    turned = KnobsChanged({name: number}, uuid.uuid4().hex)
    knobs.turn(graph, run_id, turned, state.events, engine.worker.of_run(run_id))
    await engine.send(run_id, turned)
    return number


async def _open_run(engine: Engine, run_id: str, name: str) -> tuple[RunState, RegisteredFlow]:
    """Give the state of an open run and its code, or refuse to turn a knob of it."""
    record = await engine.record(run_id=run_id)
    if record is None:
        message = f"run {run_id} is not in this store"
        raise RunNotFound(message)
    state = RunState.from_text(record.state)
    if state.closed:
        message = f"{name}: {state.flow_id} has ended {state.status}; start it anew with overrides"
        raise DefinitionError(message)
    flow = engine.registry.get(state.flow_type)
    if flow is None:
        message = f"{name}: no Flow named {state.flow_type} is registered here; register its code"
        raise DefinitionError(message)
    return state, flow
