"""A graph as Mermaid text, for pages that draw it themselves."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.graph.exports.outline import Entry, Outline, Way, outline
from dexnb.model.flow_graph import FlowGraph, NodeKind

MOST_LETTERS = 50_000
"""`maxTextSize` of Mermaid as it comes."""

MOST_EDGES = 500
"""`maxEdges` of Mermaid as it comes."""

_PLAIN = frozenset(" _.,+=!?()'-/·…♥↻→")
_SHAPES: dict[NodeKind, tuple[str, str]] = {
    "timeout_handler": ("([", "])"),
    "rpc": ("{{", "}}"),
    "subflow": ("[[", "]]"),
    "attribute": ("[(", ")]"),
    "stream": ("[/", "/]"),
    "channel": (">", "]"),
}
_CLASSES: dict[str, str] = {
    "start": "stroke:#007f5c,stroke-width:2px",
    "timeout_handler": "stroke:#b3176f",
    "rpc": "stroke:#7a46a8",
    "subflow": "stroke-dasharray:5 4",
    "unknown": "stroke:#946000,stroke-dasharray:4 3",
}
_DOTTED = ("subflow", "wait_condition")


def to_mermaid(graph: FlowGraph) -> str:
    """Write a graph as a Mermaid flowchart.

    All of it is there. Where that is more than Mermaid draws without settings of the page's own,
    a comment at the top says so and names the settings.
    """
    made = outline(graph)
    body = "\n".join(_body(made)) + "\n"
    notes = "".join(f"%% note: {note}\n" for note in _notes(len(body), _edges(made)))
    return notes + body


def _edges(made: Outline) -> int:
    return len(made.ways) + sum(entry.start for entry in made.entries)


def _notes(letters: int, edges: int) -> Iterator[str]:
    if letters > MOST_LETTERS:
        yield (
            f"{letters} letters are more than the {MOST_LETTERS} that Mermaid reads; the page has "
            "to set maxTextSize"
        )
    if edges > MOST_EDGES:
        yield (
            f"{edges} edges are more than the {MOST_EDGES} that Mermaid draws; the page has to "
            "set maxEdges"
        )


def _body(made: Outline) -> Iterator[str]:
    yield "flowchart LR"
    for entry in made.entries:
        yield f"  {_node(entry)}"
        if entry.start:
            yield f'  start(("START")) --> {entry.name}'
    failures = []
    for number, way in enumerate(made.ways, sum(entry.start for entry in made.entries)):
        yield f"  {_way(way)}"
        if way.kind == "failure_transition":
            failures.append(str(number))
    used = {_class(entry) for entry in made.entries}
    for name, look in _CLASSES.items():
        if name in used:
            yield f"  classDef {name} {look}"
    if failures:
        yield f"  linkStyle {','.join(failures)} stroke:#b3176f"


def _class(entry: Entry) -> str:
    return "start" if entry.start else entry.kind


def _node(entry: Entry) -> str:
    begin, end = _SHAPES.get(entry.kind, ("[", "]"))
    text = "<br/>".join(quoted(line) for line in entry.lines)
    name = _class(entry)
    return f'{entry.name}{begin}"{text}"{end}' + (f":::{name}" if name in _CLASSES else "")


def _way(way: Way) -> str:
    arrow = "-.->" if way.kind.startswith("resource") or way.kind in _DOTTED else "-->"
    label = f'|"{quoted(way.words)}"|' if way.words else ""
    return f"{way.source} {arrow}{label} {way.target}"


def quoted(text: str) -> str:
    """Give text for a quoted label: whatever could mean something to Mermaid as its number."""
    return "".join(
        letter if letter.isalnum() or letter in _PLAIN else f"#{ord(letter)};" for letter in text
    )
