"""A graph as lines for a terminal: each Step with its waits, decisions and settings."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.cli.text import limit, printable
from dexnb.model.flow_graph import FlowGraph, Node

_STEPS = ("step", "timeout_handler", "rpc", "unknown")
_RESOURCES = {"attribute": "Attribute", "channel": "Channel", "stream": "Stream"}
_USES = {
    "resource_read": "reads",
    "resource_write": "writes",
    "resource_publish": "publishes to",
    "resource_lock": "locks",
    "wait_condition": "waits for",
    "subflow": "starts",
}


def outlined(graph: FlowGraph) -> str:
    """Write a graph: what it is, its Steps in their order, its resources, what needs attention."""
    state = "Valid" if graph.valid else "Needs attention"
    path = f"  {printable(graph.path)}" if graph.path else ""
    lines = [f"{printable(graph.name)}  [{state}]{path}"]
    for node in graph.nodes:
        if node.kind in _STEPS and not node.parentId:
            lines += (f"  {line}" for line in _step(node, graph))
    for kind, title in _RESOURCES.items():
        names = [printable(node.name) for node in graph.nodes if node.kind == kind]
        if names:
            lines.append(f"  {title}s: {', '.join(names)}")
    for found in graph.diagnostics:
        lines.append(f"  {found.severity} {found.code}: {printable(found.message, 2000)}")
    return "\n".join(lines)


def _step(node: Node, graph: FlowGraph) -> Iterator[str]:
    marks = [node.kind.replace("_", " ")] if node.kind in ("rpc", "timeout_handler") else []
    marks += ["START"] if node.start else []
    marks += _settings(node)
    yield f"{printable(node.name)}  ({', '.join(marks)})" if marks else printable(node.name)
    for inner in graph.nodes:
        if inner.parentId == node.id and inner.kind in ("wait", "decision"):
            yield f"  {_card(inner, graph)}"
    for edge in graph.edges:
        if edge.source == node.id and edge.kind == "failure_transition":
            yield f"  on failure -> {_name(edge.target, graph)}"
    for text, targets in _uses(node, graph).items():
        yield f"  {text} {', '.join(targets)}"


def _settings(node: Node) -> Iterator[str]:
    settings = node.settings or {}
    for name in ("heartbeat_timeout", "execute_method_timeout"):
        if name in node.given and isinstance(value := settings.get(name), int | float):
            yield f"{name} {limit(value)}"
    retry = settings.get("retry")
    if isinstance(retry, dict) and "maximum_attempts" in node.given:
        yield f"{retry['maximum_attempts']} attempts"


def _card(card: Node, graph: FlowGraph) -> str:
    what = card.wait or card.decision or {}
    targets = [_name(target, graph) for target in what.get("targets", ())]
    labels = [printable(str(each["label"])) for each in what.get("conditions", ())]
    inside = ", ".join(targets or labels)
    when = f"  when {printable(card.condition, 300)}" if card.condition else ""
    return f"{printable(str(what.get('type', card.name)))}{f' {inside}' if inside else ''}{when}"


def _uses(node: Node, graph: FlowGraph) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for edge in graph.edges:
        if edge.source == node.id and edge.kind in _USES:
            found.setdefault(_USES[edge.kind], []).append(_name(edge.target, graph))
    return found


def _name(node_id: str, graph: FlowGraph) -> str:
    return printable(next((each.name for each in graph.nodes if each.id == node_id), node_id))
