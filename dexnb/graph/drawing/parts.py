"""A graph sorted for drawing: which nodes are boxes, what each holds, which edges join boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dexnb.model.decision_name import written
from dexnb.model.flow_graph import Edge, FlowGraph, Node

RESOURCES = {"stream": "streams", "channel": "channels", "attribute": "attributes"}
"""The kinds of resources, and the layer of each."""

_STEPS = ("step", "timeout_handler")
_VERBS = {
    "resource_read": "reads",
    "resource_write": "writes",
    "resource_publish": "publishes",
    "resource_lock": "locks",
    "wait_condition": "waits for",
}


@dataclass(slots=True)
class Way:
    """Edges of one kind between the same boxes, drawn as one."""

    edge: Edge
    count: int = 1


@dataclass(slots=True)
class Parts:
    """A graph as a picture takes it.

    Args:
        graph: The graph.
        layers: What is shown of it.
        boxes: The nodes that get a box, by id and in order.
        left_out: How many Steps the picture has no room for.
        inner: The cards and diamonds of each box.
        uses: The edges from each box to resources.
        ways: The edges between boxes.
        home: For each node that a box holds, that box.
    """

    graph: FlowGraph
    layers: frozenset[str]
    boxes: dict[str, Node] = field(default_factory=dict)
    left_out: int = 0
    inner: dict[str, list[Node]] = field(default_factory=dict)
    uses: dict[str, list[tuple[str, Node]]] = field(default_factory=dict)
    ways: list[Way] = field(default_factory=list)
    home: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)

    def name(self, node_id: str) -> str:
        """Give what stands on a node, or the last part of an id that has none."""
        node = self.nodes.get(node_id)
        return written(node.name) if node else node_id.split(":", 2)[-1]


def sort_parts(graph: FlowGraph, layers: frozenset[str], most: int | None) -> Parts:
    """Sort a graph; `most` bounds the boxes, for pictures that must stay small."""
    parts = Parts(graph, layers, nodes={node.id: node for node in graph.nodes})
    boxes = [node for node in graph.nodes if _is_box(node, layers)]
    shown = boxes if most is None else boxes[:most]
    parts.left_out = len(boxes) - len(shown)
    parts.boxes = {node.id: node for node in shown}
    for node in graph.nodes:
        if node.parentId in parts.boxes:
            parts.inner.setdefault(node.parentId, []).append(node)
            parts.home[node.id] = node.parentId
    _sort_edges(parts)
    return parts


def is_resource(node: Node) -> bool:
    """Tell whether a node is a Stream, Channel or Attribute, one that is not registered too."""
    return node.kind in RESOURCES or node.id.startswith("resource:")


def resource_kind(node: Node) -> str:
    """Give the kind of a resource, from its id where it is not registered."""
    return node.kind if node.kind in RESOURCES else node.id.split(":", 2)[1]


def _is_box(node: Node, layers: frozenset[str]) -> bool:
    match node.kind:
        case "rpc":
            return "rpcs" in layers
        case "subflow":
            return "subflows" in layers
        case "unknown":
            return not is_resource(node)
        case _:
            return node.kind in _STEPS


def _sort_edges(parts: Parts) -> None:
    ways: dict[tuple[str, str, str], Way] = {}
    for edge in parts.graph.edges:
        if edge.source not in parts.boxes or _hidden(edge, parts.layers):
            continue
        target = parts.nodes.get(edge.target)
        if edge.target in parts.boxes:
            kind = "subflow" if edge.kind == "wait_condition" else edge.kind
            key = (edge.source, edge.target, kind)
            # A wait for a SubFlow is the way that starts it, said once more.
            if key in ways and edge.kind == ways[key].edge.kind:
                ways[key].count += 1
            ways.setdefault(key, Way(edge))
        elif target is not None and is_resource(target):
            parts.uses.setdefault(edge.source, []).append((_VERBS.get(edge.kind, "uses"), target))
    parts.ways = list(ways.values())


def _hidden(edge: Edge, layers: frozenset[str]) -> bool:
    return edge.kind == "failure_transition" and "failures" not in layers


def used(parts: Parts, box: str) -> Iterator[tuple[str, list[Node]]]:
    """Give what a box does with resources: the verb, and which they are."""
    rows: dict[str, list[Node]] = {}
    told = {node.kind for node in parts.inner.get(box, ())} if "waits" in parts.layers else set()
    for verb, node in parts.uses.get(box, ()):
        if verb == _VERBS["wait_condition"] and "wait" in told:
            continue
        kind = resource_kind(node)
        if RESOURCES.get(kind, "streams") in parts.layers:
            rows.setdefault(verb, []).append(node)
    yield from rows.items()
