"""From a Flow that is alive to its `FlowGraph`: runtime objects for what is, sources for why.

Steps, settings and Streams come from the registered objects, decisions and constants from the
methods' sources, so Flows of several cells and files work. Where a source is missing or hides what
is decided, the graph says so with an unknown node; reading a Flow that can be registered never
fails for its source. No method of a Step but `get_step_options` is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dexnb.flow.flow import Flow
from dexnb.flow.options import RetryPolicy, StepOptions
from dexnb.flow.registry import RegisteredFlow, RegisteredStep, read_flow
from dexnb.flow.shape import unwrap
from dexnb.flow.timeout_step import TIMEOUT_STEP_TYPE
from dexnb.graph.decisions import Outcome, read_outcomes
from dexnb.graph.frames import Frame, read_frame
from dexnb.graph.guards import either
from dexnb.graph.movements import UNRESOLVED, movements_in
from dexnb.graph.source import plain_function
from dexnb.graph.streams import read_writes
from dexnb.graph.timings import read_timings
from dexnb.graph.waits import read_waits
from dexnb.model.flow_graph import Diagnostic, Edge, FlowGraph, Node

FAILURE_LABEL = "Execute failure"
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


def read_graph(flow: Flow[Any] | RegisteredFlow) -> FlowGraph:
    """Give a Flow's graph; the same for the same definition.

    Args:
        flow: The Flow, or what a registry keeps of it.

    Raises:
        FlowDefinitionError: The Flow cannot be registered; lists every problem.
    """
    registered = flow if isinstance(flow, RegisteredFlow) else read_flow(flow, minimum_heartbeat=0)
    reader = _Reader(registered)
    for step in registered.steps.values():
        reader.step(step)
    reader.streams()
    reader.unreachable()
    return reader.graph()


@dataclass(slots=True)
class _Reader:
    flow: RegisteredFlow
    steps: list[Node] = field(default_factory=list)
    inner: list[Node] = field(default_factory=list)
    others: dict[str, Node] = field(default_factory=dict)
    ways: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    path: str = ""

    def step(self, step: RegisteredStep) -> None:
        handler = step.step_type == TIMEOUT_STEP_TYPE
        frame = frame_of(*(self.flow.flow, "handle_timeout") if handler else (step.step, "execute"))
        options = frame_of(step.step, "get_step_options")
        timings = read_timings(frame, options)
        node = Node(
            id=f"step:{step.step_type}",
            kind="timeout_handler" if handler else "step",
            name="handle_timeout" if handler else step.step_type,
            start=self.flow.start is not None and step.step_type == self.flow.start.step_type,
            settings=step.settings.to_json(),
            given=tuple(_given(step)),
            constants=timings.constants,
            timings=timings.timings,
            waits=() if step.wait_for is None else read_waits(frame_of(step.step, "wait_for")),
            line=0 if frame is None else frame.tree.lineno,
            column=0 if frame is None else frame.tree.col_offset,
        )
        self.steps.append(node)
        if frame is None:
            self._no_source(step)
        else:
            self.path = self.path or _shown_path(frame)
            self._outcomes(step.step_type, read_outcomes(frame))
        self._writes(step, frame)
        if step.settings.recovery is not None:
            source, target = step.step_type, step.settings.recovery
            edge_id = f"failure_transition:{source}:{target}"
            self.edges.append(
                Edge(edge_id, "failure_transition", node.id, f"step:{target}", FAILURE_LABEL)
            )

    def _no_source(self, step: RegisteredStep) -> None:
        message = (
            f"{step.step_type}.execute has no readable source here (made by exec, or edited since "
            "it was loaded): what it decides is unknown until it has run"
        )
        self.diagnostics.append(Diagnostic("hidden_dex_decision", "warning", message))
        self._way(step.step_type, self._unknown(step.step_type, 0, 0), "")

    def _outcomes(self, step_type: str, outcomes: list[Outcome]) -> None:
        several = len(outcomes) > 1
        if several:
            self.inner.append(
                Node(
                    id=f"decision-dispatch:step:{step_type}",
                    kind="decision_dispatch",
                    name="?",
                    parentId=f"step:{step_type}",
                )
            )
        for number, outcome in enumerate(outcomes, 1):
            targets = [self._target(step_type, target, outcome) for target in outcome.targets]
            for target in targets:
                self._way(step_type, target, outcome.condition)
            self.inner.append(
                Node(
                    id=f"decision:step:{step_type}:{number}",
                    kind="decision",
                    name=outcome.type,
                    parentId=f"step:{step_type}",
                    condition=outcome.condition,
                    decision={"type": outcome.type, "targets": targets},
                    line=outcome.line,
                    column=outcome.column,
                )
            )

    def _target(self, step_type: str, target: str, outcome: Outcome) -> str:
        if target == UNRESOLVED:
            what = "returns a value" if outcome.type == "unknown" else f"{outcome.type} leads"
            message = (
                f"{step_type} line {outcome.line}: {what} that only running the code can tell; "
                "name the Step class, or choose among named ones"
            )
            found = Diagnostic("dynamic_step_target", "warning", message, outcome.line)
            if found not in self.diagnostics:
                self.diagnostics.append(found)
            return self._unknown(step_type, outcome.line, outcome.column)
        if target not in self.flow.steps:
            message = (
                f"{step_type} line {outcome.line}: {outcome.type} {target}, which get_steps() does "
                "not list"
            )
            self.diagnostics.append(
                Diagnostic("unknown_step_target", "error", message, outcome.line)
            )
            node = Node(id=f"unknown:step:{target}", kind="unknown", name=target)
            return self.others.setdefault(node.id, node).id
        return f"step:{target}"

    def _unknown(self, step_type: str, line: int, column: int) -> str:
        node = Node(
            id=f"unknown:step:{step_type}?",
            kind="unknown",
            name="Unknown",
            line=line,
            column=column,
        )
        return self.others.setdefault(node.id, node).id

    def _way(self, step_type: str, target: str, condition: str) -> None:
        self.ways.setdefault((step_type, target), []).append(condition)

    def _writes(self, step: RegisteredStep, execute: Frame | None) -> None:
        waiting = None if step.wait_for is None else frame_of(step.step, "wait_for")
        found = {name for frame in (execute, waiting) if frame for name in read_writes(frame)}
        for stream in sorted(found):
            self._write(step.step_type, stream)

    def _write(self, step_type: str, stream: str) -> None:
        node_id = f"resource:stream:{stream}"
        if stream not in self.flow.streams:
            message = f"{step_type} writes Stream {stream}, which the Flow's schema does not list"
            self.diagnostics.append(Diagnostic("unknown_resource", "error", message))
            self.others.setdefault(node_id, Node(id=node_id, kind="unknown", name=stream))
        edge_id = f"resource_write:{step_type}:{stream}"
        self.edges.append(Edge(edge_id, "resource_write", f"step:{step_type}", node_id))

    def streams(self) -> None:
        written = {edge.target for edge in self.edges if edge.kind == "resource_write"}
        rpcs = (frame_of(self.flow.flow, rpc.method) for rpc in self.flow.rpcs.values())
        called = (name for frame in rpcs if frame for name in read_writes(frame))
        written.update(f"resource:stream:{name}" for name in called)
        for name in sorted(self.flow.streams):
            node = Node(id=f"resource:stream:{name}", kind="stream", name=name)
            self.others[node.id] = node
            if node.id not in written and not self._hidden:
                message = f"Stream {name} is registered and no Step writes it"
                self.diagnostics.append(Diagnostic("unused_resource", "warning", message))

    def unreachable(self) -> None:
        if self._hidden or self.flow.start is None:
            return
        called = self._called()
        if UNRESOLVED in called:
            return
        seen = {self.flow.start.step_type, TIMEOUT_STEP_TYPE, *called} & self.flow.steps.keys()
        if TIMEOUT_STEP_TYPE in self.flow.steps:
            seen.update(self._after_timeout())
        waiting = list(seen)
        while waiting:
            for target in self._follow(waiting.pop()):
                if target in self.flow.steps and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        for name in self.flow.steps:
            if name not in seen:
                message = f"no decision and no recovery leads to Step {name}"
                self.diagnostics.append(Diagnostic("unreachable_step", "warning", message))

    def _after_timeout(self) -> Iterator[str]:
        """Name the Steps to which the options of a start may lead when its handler has failed.

        Who starts the Flow says which, so that no source here tells: each that takes no input.
        """
        for step_type, step in self.flow.steps.items():
            if unwrap(step.handler.input_type) is type(None):
                yield step_type

    def _called(self) -> set[str]:
        """Name the Steps that RPCs start; `UNRESOLVED` among them where that cannot be told."""
        found: set[str] = set()
        for rpc in self.flow.rpcs.values():
            frame = frame_of(self.flow.flow, rpc.method)
            found.update([UNRESOLVED] if frame is None else movements_in(frame))
        return found

    def _follow(self, step_type: str) -> Iterator[str]:
        for source, target in self.ways:
            if source == step_type:
                yield target.removeprefix("step:")
        recovery = self.flow.steps[step_type].settings.recovery
        if recovery is not None:
            yield recovery

    @property
    def _hidden(self) -> bool:
        """Whether some Step may do more than could be read."""
        return any(key.endswith("?") for key in self.others)

    def graph(self) -> FlowGraph:
        transitions = [
            Edge(
                id=f"transition:{source}:{target.split(':', 2)[-1].removeprefix('step:')}",
                kind="transition",
                source=f"step:{source}",
                target=target,
                condition=either(conditions),
            )
            for (source, target), conditions in self.ways.items()
        ]
        start = self.flow.start
        others = sorted(self.others.values(), key=lambda node: node.id)
        return FlowGraph(
            name=self.flow.flow_type,
            startStepId="" if start is None else f"step:{start.step_type}",
            path=self.path,
            nodes=(*self.steps, *self.inner, *others),
            edges=(*transitions, *self.edges),
            diagnostics=tuple(self.diagnostics),
        )


def frame_of(owner: Any, method: str) -> Frame | None:
    """Read one method of a Step or a Flow; None where its source is not there."""
    function = plain_function(getattr(owner, method, None))
    if function is None or function.__module__ in ("dexnb.flow.step", "dexnb.flow.flow"):
        return None
    return read_frame(function, owner)


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


def _shown_path(frame: Frame) -> str:
    """Name the file without its folder; a cell has none, whatever its name says."""
    file = Path(frame.scope.function.__code__.co_filename)
    return file.name if file.is_file() else ""
