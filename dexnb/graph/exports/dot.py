"""A graph as Graphviz DOT text."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.graph.exports.outline import Entry, Way, outline
from dexnb.model.flow_graph import FlowGraph, NodeKind
from dexnb.model.markup import printable

_SHAPES: dict[NodeKind, str] = {
    "timeout_handler": 'style="rounded", color="#b3176f"',
    "rpc": 'shape=hexagon, style="solid", color="#7a46a8"',
    "subflow": 'style="dashed"',
    "attribute": 'shape=cylinder, style="solid"',
    "channel": 'shape=cds, style="solid"',
    "stream": 'shape=parallelogram, style="solid"',
    "unknown": 'style="dashed", color="#946000"',
}
_DOTTED = ("subflow", "wait_condition")
_FAILURE = 'color="#b3176f", fontcolor="#b3176f"'


def to_dot(graph: FlowGraph) -> str:
    """Write a graph as a directed graph of Graphviz, left to right."""
    return "\n".join(_body(graph)) + "\n"


def _body(graph: FlowGraph) -> Iterator[str]:
    made = outline(graph)
    yield f"digraph {quoted([printable(graph.name)])} {{"
    yield '  graph [rankdir=LR, fontname="sans-serif"];'
    yield '  node [shape=box, style="rounded", fontname="sans-serif", fontsize=11];'
    yield '  edge [fontname="sans-serif", fontsize=9];'
    for entry in made.entries:
        yield f"  {_node(entry)}"
        if entry.start:
            yield '  start [shape=circle, style="filled", label="START", fontsize=8];'
            yield f"  start -> {entry.name};"
    for way in made.ways:
        yield f"  {_way(way)}"
    yield "}"


def _node(entry: Entry) -> str:
    look = _SHAPES.get(entry.kind)
    return f"{entry.name} [label={quoted(entry.lines)}{f', {look}' if look else ''}];"


def _way(way: Way) -> str:
    looks = [f"label={quoted([way.words])}"] if way.words else []
    if way.kind == "failure_transition":
        looks.append(_FAILURE)
    if way.kind.startswith("resource") or way.kind in _DOTTED:
        looks.append('style="dashed"')
    how = f" [{', '.join(looks)}]" if looks else ""
    return f"{way.source} -> {way.target}{how};"


def quoted(lines: list[str] | tuple[str, ...]) -> str:
    r"""Give lines as one string; `\l` ends a line at the left, and `&` begins no entity."""
    made = [line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines]
    return '"' + (made[0] if len(made) == 1 else "".join(f"{line}\\l" for line in made)) + '"'
