"""A graph as boxes with lines of text and ways between them: what renderers of text can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dexnb.graph.drawing.chips import settings_words
from dexnb.model.decision_name import written
from dexnb.model.flow_graph import EdgeKind, FlowGraph, Node, NodeKind
from dexnb.model.markup import printable

MOST_LINES = 14
MOST_LETTERS = 120
_INNER = ("wait", "wait_dispatch", "decision", "decision_dispatch")
_VERBS: dict[EdgeKind, str] = {
    "resource_read": "reads",
    "resource_write": "writes",
    "resource_publish": "publishes",
    "resource_lock": "locks",
    "wait_condition": "waits for",
    "subflow": "runs",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A box: a name without any letter that means something, its kind, its lines."""

    name: str
    kind: NodeKind
    lines: tuple[str, ...]
    start: bool


@dataclass(frozen=True, slots=True)
class Way:
    """A way between boxes, and what stands on it."""

    source: str
    target: str
    kind: EdgeKind
    words: str


@dataclass(frozen=True, slots=True)
class Outline:
    """All boxes and ways, in the graph's order."""

    entries: tuple[Entry, ...]
    ways: tuple[Way, ...]


def outline(graph: FlowGraph) -> Outline:
    """Sort a graph into boxes and ways; cards become lines of their Step."""
    boxes = [node for node in graph.nodes if node.kind not in _INNER]
    names = {node.id: f"n{number}" for number, node in enumerate(boxes)}
    titles = {node.id: written(node.name) for node in graph.nodes}
    inner: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.kind in _INNER:
            inner.setdefault(node.parentId, []).append(node)
    entries = tuple(
        Entry(names[node.id], node.kind, _lines(node, inner.get(node.id, []), titles), node.start)
        for node in boxes
    )
    ways = tuple(
        Way(
            names[edge.source],
            names[edge.target],
            edge.kind,
            _clean(f"{edge.label or _VERBS.get(edge.kind, '')} {edge.condition}"),
        )
        for edge in graph.edges
        if edge.source in names and edge.target in names
    )
    return Outline(entries, ways)


def _clean(text: str) -> str:
    return printable(text, MOST_LETTERS)


def _lines(node: Node, inner: list[Node], titles: dict[str, str]) -> tuple[str, ...]:
    lead = {"rpc": "RPC ", "subflow": "SubFlow "}.get(node.kind, "")
    where = f" (line {node.line})" if node.kind == "unknown" and node.line else ""
    # A box has to have a name: Mermaid reads no empty label.
    found = [f"{lead}{_clean(node.name) or node.kind}{where}"]
    if node.settings:
        found.append(" · ".join(settings_words(node.settings)))
    if node.resource:
        found.append(_resource(node.resource))
    found += [_wait(card) for card in inner if card.kind == "wait"]
    found += [_decision(card, titles) for card in inner if card.kind == "decision"]
    if len(found) > MOST_LINES:
        more = len(found) - MOST_LINES + 1
        found = [*found[: MOST_LINES - 1], f"… and {more} more"]
    return tuple(_clean(line) for line in found if line)


def _resource(resource: dict[str, Any]) -> str:
    value = str(resource.get("valueType") or "")
    return f"map of {value}".removesuffix(" of ") if resource.get("map") else value


def _wait(card: Node) -> str:
    what = card.wait or {}
    words = [
        str(each.get("label") or each.get("expression") or each.get("kind") or "unknown")
        for each in what.get("conditions", ())
    ]
    kind = written(str(what.get("type", card.name)))
    return _guarded(f"waits: {kind} {', '.join(words)}".strip(), card.condition)


def _decision(card: Node, titles: dict[str, str]) -> str:
    targets = [str(each) for each in (card.decision or {}).get("targets", ())]
    names = ", ".join(titles.get(each, each) for each in targets)
    return _guarded(f"{written(card.name)} {names}".strip(), card.condition)


def _guarded(words: str, condition: str) -> str:
    return f"{words} ({condition})" if condition else words
