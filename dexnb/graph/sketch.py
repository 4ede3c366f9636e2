"""`Sketch`: a graph while it is read; gives nodes their ids and says what cannot be told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from dexnb.flow.registry import RegisteredFlow
from dexnb.flow.shape import name_of
from dexnb.graph.guards import either
from dexnb.graph.movements import UNRESOLVED
from dexnb.graph.resources import Resource, resource_of
from dexnb.model.flow_graph import Diagnostic, Edge, EdgeKind, FlowGraph, Node, Severity

FAILURE_LABEL = "Execute failure"
_HIDDEN = {"unknown": "returns a value that", "cancels": "cancels a Step that"}


@dataclass(frozen=True, slots=True)
class Spot:
    """Who does something, and where that stands.

    Args:
        owner: The node id of a Step or an RPC.
        line: In its file or cell; 0 where it is not known.
        column: The same.
        path: Its file's name; empty for a cell.
    """

    owner: str
    line: int = 0
    column: int = 0
    path: str = ""

    @property
    def name(self) -> str:
        """The owner's name."""
        return self.owner.partition(":")[2]


@dataclass(slots=True)
class Sketch:
    """A graph while it is read.

    Args:
        flow: Whose graph it is.
        path: The file of the first Step that has one.
        hidden: Whether somebody may do more than could be read.
    """

    flow: RegisteredFlow
    path: str = ""
    hidden: bool = False
    tops: list[Node] = field(default_factory=list)
    inner: list[Node] = field(default_factory=list)
    others: dict[str, Node] = field(default_factory=dict)
    ways: dict[tuple[EdgeKind, str, str], list[str]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def say(self, code: str, severity: Severity, message: str, spot: Spot | None = None) -> None:
        """Take note of a diagnostic, once."""
        line, path = (0, "") if spot is None else (spot.line, spot.path)
        found = Diagnostic(code, severity, message, line, path)
        if found not in self.diagnostics:
            self.diagnostics.append(found)

    def way(self, kind: EdgeKind, source: str, target: str, condition: str = "") -> None:
        """Lead from one node to another; several of a kind become one edge."""
        self.ways.setdefault((kind, source, target), []).append(condition)

    def unknown(self, spot: Spot) -> str:
        """Give the node for what cannot be told of a Step or an RPC."""
        self.hidden = True
        node = Node(
            id=f"unknown:{spot.owner}?",
            kind="unknown",
            name="Unknown",
            path=spot.path,
            line=spot.line,
            column=spot.column,
        )
        return self.others.setdefault(node.id, node).id

    def step(self, step_type: str, spot: Spot, by: str) -> str:
        """Give the node of a Step that something leads to.

        Args:
            step_type: Its type, or `UNRESOLVED`.
            spot: Where that is said.
            by: What leads there, for the diagnostic.
        """
        if step_type == UNRESOLVED:
            what = _HIDDEN.get(by, f"{by} leads where")
            message = (
                f"{_where(spot)}{what} only running the code can tell; "
                "name the Step class, or choose among named ones"
            )
            self.say("dynamic_step_target", "warning", message, spot)
            return self.unknown(spot)
        if step_type not in self.flow.steps:
            message = f"{_where(spot)}{by} {step_type}, which get_steps() does not list"
            self.say("unknown_step_target", "error", message, spot)
            node = Node(id=f"unknown:step:{step_type}", kind="unknown", name=step_type)
            return self.others.setdefault(node.id, node).id
        return f"step:{step_type}"

    def resource(self, resource: Resource | None, spot: Spot, does: str) -> str:
        """Give the node of an Attribute, a Channel or a Stream; None is one that is not known."""
        if resource is None:
            message = (
                f"{_where(spot)}{does} something that only running the code can tell; "
                "name the Attribute, Channel or Stream, or choose among named ones"
            )
            self.say("dynamic_resource_name", "warning", message, spot)
            return self.unknown(spot)
        listed = self.listed().get(resource.name)
        if listed != resource:
            kind = resource.kind.capitalize() + ("Map" if resource.map else "")
            message = (
                f"{_where(spot)}{does} {kind} {resource.name}, which get_persistence_schema() "
                f"does not list{'' if listed is None else ' as that'}"
            )
            self.say("unknown_resource", "error", message, spot)
            if listed is None or listed.id != resource.id:
                node = Node(id=resource.id, kind="unknown", name=resource.name)
                self.others.setdefault(node.id, node)
        return resource.id

    def subflow(self, flow_type: str, spot: Spot) -> str:
        """Give the node of a Flow that a Step starts and waits for; empty is one unknown."""
        if not flow_type:
            message = (
                f"{_where(spot)}SubFlow.run starts a Flow that only running the code can tell; "
                "name the Flow class, or choose among named ones"
            )
            self.say("dynamic_subflow", "warning", message, spot)
            return self.unknown(spot)
        node = Node(id=f"subflow:{flow_type}", kind="subflow", name=flow_type)
        return self.others.setdefault(node.id, node).id

    def listed(self) -> dict[str, Resource]:
        """Give what the Flow's schema lists, by name."""
        return {
            name: found
            for name, value in self.definitions()
            if (found := resource_of(value)) is not None
        }

    def definitions(self) -> Iterable[tuple[str, Any]]:
        """Give the live definitions that the Flow's schema lists, by name."""
        kept = self.flow.persistence
        return (*kept.attributes.items(), *kept.channels.items(), *kept.streams.items())

    def graph(self) -> FlowGraph:
        """Give the graph as far as it was read."""
        for name, value in self.definitions():
            found = resource_of(value)
            if found is not None:
                resource = {"valueType": name_of(value.value_type), "map": found.map}
                node = Node(id=found.id, kind=found.kind, name=name, resource=resource)
                self.others[node.id] = node
        start = self.flow.start
        others = sorted(self.others.values(), key=lambda node: node.id)
        nodes = (*self.tops, *self.inner, *others)
        return FlowGraph(
            name=self.flow.flow_type,
            startStepId="" if start is None else f"step:{start.step_type}",
            path=self.path,
            nodes=tuple(
                replace(node, path="") if node.path == self.path else node for node in nodes
            ),
            edges=tuple(self._edges()),
            diagnostics=tuple(self.diagnostics),
        )

    def _edges(self) -> Iterable[Edge]:
        # Where Steps lead comes first; the rest stays in the order in which it was read.
        ways = sorted(self.ways.items(), key=lambda way: way[0][0] != "transition")
        for (kind, source, target), conditions in ways:
            yield Edge(
                id=f"{kind}:{_short(source)}:{_short(target)}",
                kind=kind,
                source=source,
                target=target,
                label=FAILURE_LABEL if kind == "failure_transition" else "",
                condition=either(conditions),
            )


def _where(spot: Spot) -> str:
    return f"{spot.name} line {spot.line}: " if spot.line else f"{spot.name}: "


def _short(node_id: str) -> str:
    """Give the part of a node's id that stands in the ids of its edges."""
    if node_id.startswith(("resource:", "unknown:step:")):
        return node_id.split(":", 2)[-1]
    if node_id.startswith(("step:", "subflow:")):
        return node_id.partition(":")[2]
    return node_id
