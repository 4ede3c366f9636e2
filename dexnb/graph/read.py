"""From a Flow that is alive to its `FlowGraph`: runtime objects for what is, sources for why.

Steps, settings, RPCs and what a Flow keeps come from the registered objects; decisions, waits, uses
and constants from the methods' sources, so Flows of several cells and files work. Where a source is
missing or hides what is decided, the graph says so with an unknown node; reading a Flow that can be
registered never fails for its source. No method of a Step but `get_step_options` is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dexnb.flow.flow import Flow
from dexnb.flow.options import RetryPolicy, StepOptions
from dexnb.flow.physical import definition_of
from dexnb.flow.registry import RegisteredFlow, RegisteredStep, read_flow
from dexnb.flow.rpc_reader import RegisteredRpc
from dexnb.flow.timeout_step import TIMEOUT_STEP_TYPE
from dexnb.graph.cards import decision_cards, wait_cards
from dexnb.graph.decisions import read_outcomes
from dexnb.graph.frames import Frame, file_of, read_frame
from dexnb.graph.resources import Resource, read_uses
from dexnb.graph.routes import read_routes, settings_routes
from dexnb.graph.rpcs import read_results
from dexnb.graph.sketch import Sketch, Spot
from dexnb.graph.source import plain_function
from dexnb.graph.timings import read_timings
from dexnb.graph.unused import report_unreachable, report_unused
from dexnb.graph.visits import visits
from dexnb.graph.waits import Waiting, read_waits, rows_of
from dexnb.model.flow_graph import EdgeKind, FlowGraph, Node

_DEFAULTS: dict[type, dict[str, Any]] = {
    StepOptions: {"execute_method_timeout": None, "heartbeat_timeout": None},
    RetryPolicy: {
        "initial_interval": None,
        "backoff_coefficient": 0.0,
        "maximum_interval": None,
        "maximum_attempts": 0,
        "total_duration": None,
    },
}
_LEADS = "on_execute_failure_proceed_to"
_DOES: dict[EdgeKind, str] = {
    "resource_read": "reads",
    "resource_write": "writes",
    "resource_publish": "publishes to",
}


def read_graph(flow: Flow[Any] | RegisteredFlow) -> FlowGraph:
    """Give a Flow's graph; the same for the same definition.

    Args:
        flow: The Flow, or what a registry keeps of it.

    Raises:
        FlowDefinitionError: The Flow cannot be registered; lists every problem.
    """
    registered = flow if isinstance(flow, RegisteredFlow) else read_flow(flow, minimum_heartbeat=0)
    sketch = Sketch(registered)
    frames: list[Frame] = []
    for step in registered.steps.values():
        methods = methods_of(step)
        _step(step, methods, sketch)
        frames += methods.frames()
    for rpc in registered.rpcs.values():
        method = frame_of(registered.flow, rpc.method)
        _rpc(rpc, method, sketch)
        frames += [] if method is None else [method]
    report_unused(sketch, frames)
    report_unreachable(sketch)
    return sketch.graph()


@dataclass(frozen=True, slots=True)
class Methods:
    """A Step's methods; None for one that it has not, or whose source is not there."""

    execute: Frame | None
    wait_for: Frame | None
    options: Frame | None

    def frames(self) -> list[Frame]:
        """Give those that are there."""
        every = (self.wait_for, self.execute, self.options)
        return [frame for frame in every if frame is not None]


def methods_of(step: RegisteredStep) -> Methods:
    """Read a Step's methods; what it executes at the Flow's timeout is the Flow's own."""
    if step.step_type == TIMEOUT_STEP_TYPE:
        return Methods(frame_of(getattr(step.step, "flow", None), "handle_timeout"), None, None)
    return Methods(
        frame_of(step.step, "execute"),
        None if step.wait_for is None else frame_of(step.step, "wait_for"),
        frame_of(step.step, "get_step_options"),
    )


def frame_of(owner: Any, method: str) -> Frame | None:
    """Read one method of a Step or a Flow; None where its source is not there."""
    function = plain_function(getattr(owner, method, None))
    if function is None or function.__module__ in ("dexnb.flow.step", "dexnb.flow.flow"):
        return None
    return read_frame(function, owner)


def _step(step: RegisteredStep, methods: Methods, sketch: Sketch) -> None:
    execute = methods.execute
    spot = _spot(f"step:{step.step_type}", execute)
    sketch.path = sketch.path or spot.path
    waits = [] if methods.wait_for is None else read_waits(methods.wait_for)
    sketch.tops.append(_node(step, methods, waits, sketch))
    if step.wait_for is not None and methods.wait_for is None:
        _no_source(spot, "wait_for", "hidden_dex_wait", sketch)
    wait_cards(spot, waits, sketch)
    if execute is None:
        _no_source(spot, "execute", "hidden_dex_decision", sketch)
    else:
        decision_cards(spot, read_outcomes(execute), sketch)
    plan = step.plan or {"locks": {}}
    locks = dict.fromkeys(name for names in plan["locks"].values() for name in names)
    _does(spot, (methods.wait_for, execute), sketch)
    _locks(spot, locks, sketch)
    for source, target in settings_routes(step.step_type, step.settings.to_json()):
        sketch.way("failure_transition", f"step:{source}", f"step:{target}")


def _node(step: RegisteredStep, methods: Methods, waits: list[Waiting], sketch: Sketch) -> Node:
    handler = step.step_type == TIMEOUT_STEP_TYPE
    start = sketch.flow.start
    timings = read_timings(methods.execute, methods.options)
    spot = _spot(f"step:{step.step_type}", methods.execute)
    return Node(
        id=spot.owner,
        kind="timeout_handler" if handler else "step",
        name="handle_timeout" if handler else step.step_type,
        start=start is not None and step.step_type == start.step_type,
        settings=step.settings.to_json(),
        given=tuple(_given(step)),
        constants=timings.constants,
        timings=timings.timings,
        waits=() if step.wait_for is None else rows_of(waits),
        path=spot.path,
        line=spot.line,
        column=spot.column,
    )


def _rpc(rpc: RegisteredRpc, method: Frame | None, sketch: Sketch) -> None:
    spot = _spot(f"rpc:{rpc.name}", method)
    node = Node(
        id=spot.owner,
        kind="rpc",
        name=rpc.name,
        path=spot.path,
        line=spot.line,
        column=spot.column,
    )
    sketch.tops.append(node)
    if method is None:
        _no_source(spot, rpc.method, "hidden_dex_decision", sketch)
    else:
        decision_cards(spot, read_results(method), sketch)
    _does(spot, (method,), sketch)
    _locks(spot, rpc.locks, sketch)


def _spot(owner: str, frame: Frame | None) -> Spot:
    if frame is None:
        return Spot(owner)
    return Spot(owner, frame.tree.lineno, frame.tree.col_offset, file_of(frame))


def _no_source(spot: Spot, method: str, code: str, sketch: Sketch) -> None:
    what = "waits for" if method == "wait_for" else "decides"
    message = (
        f"{spot.name}.{method} has no readable source here (made by exec, or edited since it was "
        f"loaded): what it {what} is unknown until it has run"
    )
    sketch.say(code, "warning", message)
    unknown = sketch.unknown(Spot(spot.owner))
    sketch.way("wait_condition" if method == "wait_for" else "transition", spot.owner, unknown)


def _does(spot: Spot, frames: Iterable[Frame | None], sketch: Sketch) -> None:
    """Draw what methods use, and where the options lead that they give on."""
    for frame in frames:
        visited = [] if frame is None else visits(frame)
        for use in read_uses(visited):
            place = Spot(spot.owner, use.line, use.column, use.path)
            target = sketch.resource(use.resource, place, _DOES[use.kind])
            sketch.way(use.kind, spot.owner, target)
        for source, target in read_routes(visited):
            ends = (sketch.step(name, spot, _LEADS) for name in (source, target))
            sketch.way("failure_transition", *ends)


def _locks(spot: Spot, locks: Iterable[str], sketch: Sketch) -> None:
    for physical in locks:
        # The registry has seen to it that the schema lists them.
        resource = Resource("attribute", definition_of(physical), "/" in physical)
        sketch.way("resource_lock", spot.owner, sketch.resource(resource, spot, "locks"))


def _given(step: RegisteredStep) -> Iterator[str]:
    """Name the options that a Step sets itself."""
    try:
        options = step.step.get_step_options()
    except Exception:  # noqa: BLE001 - a user's code may raise anything
        return
    if not isinstance(options, StepOptions):
        return
    for holder in (options, options.execute_retry):
        for name, default in _DEFAULTS.get(type(holder), {}).items():
            if getattr(holder, name) != default:
                yield name
