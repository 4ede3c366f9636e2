"""A graph as JSON 1.0 of Dex's definition graph, whose ids have lines and columns.

What only dexnb knows (settings, constants, targets of decisions, its own ids) stands under
`metadata.dexnb` and nowhere else. Lines count from 1, columns from 0, as Python's `ast` has them;
a span that is known by its beginning alone ends where it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dexnb.graph.exports.dex_ids import Ids, with_ids
from dexnb.model.flow_graph import SCHEMA_VERSION, Diagnostic, Edge, FlowGraph, Node

OWN = "dexnb"
TIMES = "\u00d7"
_OWN_FIELDS = ("settings", "given", "constants", "timings", "waits", "path")
_STREAM_WRITE = {"bestEffort": True, "repeatable": True, "role": "progress", "phase": "execute"}


def to_dex_json(graph: FlowGraph) -> dict[str, Any]:
    """Write a graph as a plain document, which `json.dumps` takes."""
    ids = _ids(graph)
    nodes = {node.id: node for node in graph.nodes}
    start = nodes.get(graph.startStepId)
    seen = _seen(graph)
    return {
        "schemaVersion": SCHEMA_VERSION,
        "valid": graph.valid,
        "source": {"language": "python", "path": graph.path},
        "flow": {
            "name": graph.name,
            "startStepId": ids.get(graph.startStepId, graph.startStepId),
            **({"span": _span(start)} if start and start.line else {}),
        },
        "nodes": [_node(node, ids) for node in graph.nodes],
        "edges": [_edge(number, edge, seen, ids) for number, edge in enumerate(graph.edges, 1)],
        "diagnostics": [_diagnostic(each) for each in graph.diagnostics],
    }


def _ids(graph: FlowGraph) -> Ids:
    """Give the id of each node as Dex writes it; where two would be equal, a number follows."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    parents = [node for node in graph.nodes if not node.parentId]
    for node in [*parents, *(node for node in graph.nodes if node.parentId)]:
        wanted = name = _dex_id(node, graph, found)
        number = 2
        while name in taken:
            name = f"{wanted}:{number}"
            number += 1
        taken.add(name)
        found[node.id] = name
    return found


def _dex_id(node: Node, graph: FlowGraph, ids: Ids) -> str:
    parent = ids.get(node.parentId, node.parentId)
    owner = parent.removeprefix("step:")
    match node.kind:
        case "timeout_handler":
            return f"timeout_handler:{graph.name}"
        case "decision":
            return f"decision:{parent}:{node.line}:{node.column}"
        case "decision_dispatch":
            return f"decision-dispatch:{parent}"
        case "wait":
            return f"wait:{owner}:{node.line}:{node.column}:{node.id.rpartition(':')[2]}"
        case "wait_dispatch":
            return f"wait-dispatch:{owner}"
        case "subflow":
            return f"{node.id}:{node.line}"
        case _:
            return node.id


def _span(node: Node | Diagnostic) -> dict[str, int]:
    column = node.column if isinstance(node, Node) else 0
    return {
        "startLine": node.line,
        "startColumn": column,
        "endLine": node.line,
        "endColumn": column,
    }


def _node(node: Node, ids: Ids) -> dict[str, Any]:
    optional = {
        "parentId": ids.get(node.parentId, node.parentId),
        "condition": node.condition,
        "start": node.start,
        "span": _span(node) if node.line else None,
        "resource": node.resource,
        "wait": None if node.wait is None else with_ids(node.wait, ids),
        "decision": None if node.decision is None else _decision(node.decision, ids),
        "metadata": {OWN: own} if (own := _own(node, ids)) else None,
    }
    return {
        "id": ids[node.id],
        "kind": node.kind,
        "name": node.name,
        **{name: value for name, value in optional.items() if value not in (None, "", False)},
    }


def _own(node: Node, ids: Ids) -> dict[str, Any]:
    own = {
        name: _plain(value)
        for name, value in asdict(node).items()
        if name in _OWN_FIELDS and value not in (None, (), "")
    }
    if ids[node.id] != node.id:
        own["id"] = node.id
    if node.decision is not None and "targets" in node.decision:
        own["targets"] = [ids.get(each, each) for each in node.decision["targets"]]
    return own


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value


def _decision(decision: dict[str, Any], ids: Ids) -> dict[str, Any]:
    made = with_ids(decision, ids)
    made.pop("targets", None)
    return made


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an edge must know of nodes: the cards that lead along it, and the Steps that wait."""

    cards: Mapping[tuple[str, str], list[Node]]
    waiting: frozenset[str]


def _seen(graph: FlowGraph) -> _Seen:
    cards: dict[tuple[str, str], list[Node]] = {}
    for node in graph.nodes:
        for target in (node.decision or {}).get("targets", ()):
            cards.setdefault((node.parentId, target), []).append(node)
    waiting = {node.parentId for node in graph.nodes if node.kind == "wait"}
    return _Seen(cards, frozenset(waiting | {node.id for node in graph.nodes if node.waits}))


def _edge(number: int, edge: Edge, seen: _Seen, ids: Ids) -> dict[str, Any]:
    taken = edge.kind == "transition"
    cards = seen.cards.get((edge.source, edge.target), []) if taken else []
    made: dict[str, Any] = {
        "id": f"edge:{number:04}",
        "kind": edge.kind,
        "from": ids.get(edge.source, edge.source),
        "to": ids.get(edge.target, edge.target),
        "label": edge.label,
        "condition": edge.condition,
        "multiplicity": f"{TIMES}{len(cards)}" if len(cards) > 1 else "",
    }
    if cards and cards[0].line:
        made["span"] = _span(cards[0])
    return {**made, "metadata": {**_known(edge, seen), OWN: {"id": edge.id}}}


def _known(edge: Edge, seen: _Seen) -> dict[str, Any]:
    """Give what Dex itself says of edges of some kinds."""
    if edge.kind == "resource_write" and edge.target.startswith("resource:stream:"):
        return _STREAM_WRITE
    if edge.kind == "failure_transition":
        return {"skipWaitFor": edge.target not in seen.waiting}
    return {}


def _diagnostic(each: Diagnostic) -> dict[str, Any]:
    made: dict[str, Any] = {
        "code": each.code,
        "severity": each.severity,
        "message": each.message,
    }
    if each.line:
        made["span"] = _span(each)
    if each.path:
        made["metadata"] = {OWN: {"path": each.path}}
    return made
