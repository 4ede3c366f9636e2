"""Ways: edges between boxes as lines with their labels, ways to the same box included."""

from __future__ import annotations

from dataclasses import dataclass

from dexnb.graph.drawing import shapes
from dexnb.graph.drawing.blocks import Block
from dexnb.graph.drawing.measure import fit, text_width
from dexnb.graph.drawing.parts import Way
from dexnb.graph.layout import Box, Link, Route, Size
from dexnb.model.flow_graph import Edge

TIMES = "\u00d7"
LOOP = 48.0
"""How far above its box a way to itself rises; a cubic reaches three quarters of it."""

_MOST = 150.0
_SUB = 10.5
_LABEL = 16.0
_FROM_RIGHT = 86.0
LOOPING = 236.0
"""Least width of a box with a labelled way to itself, so that there is room for the label."""


@dataclass(frozen=True, slots=True)
class Label:
    """What stands on a way: cut to its room, and in full."""

    words: str
    full: str

    @property
    def size(self) -> Size:
        """Give the room that it takes."""
        return Size(text_width(self.words, _SUB) + 10, _LABEL)


def label_of(way: Way, *, guards: bool) -> Label | None:
    """Give what stands on a way; None for nothing."""
    edge = way.edge
    times = f"{TIMES}{way.count}" if way.count > 1 else ""
    said = [edge.label, edge.condition if guards else "", times]
    full = " ".join(part for part in said if part)
    return Label(fit(full, _MOST, _SUB), full) if full else None


def link_of(way: Way, source: Block, label: Label | None) -> Link:
    """Give what the layout must know of a way; it leaves where its card stands."""
    if way.edge.kind == "failure_transition":
        # Below the cards, so that it is not taken for a decision.
        port: float | None = source.height - 14
    elif way.edge.source.startswith("rpc:"):
        port = source.height / 2
    else:
        port = dict(source.ports).get(way.edge.target)
    return Link(way.edge.source, way.edge.target, label.size if label else None, port)


def kind_of(edge: Edge, taken: frozenset[tuple[str, str, str]]) -> str:
    """Name the class of a way."""
    names = (edge.source.removeprefix("step:"), edge.target.removeprefix("step:"), edge.kind)
    if edge.kind == "failure_transition":
        return "rec"
    if edge.kind in ("subflow", "wait_condition"):
        return "sub"
    if edge.target.startswith("unknown:"):
        return "odd"
    return "taken" if names in taken else ""


def draw_way(route: Route, kind: str) -> str:
    """Draw a way and its point."""
    return shapes.path(f"e {kind}".strip(), route.path) + shapes.arrow(route.tip, kind)


def draw_label(label: Label, at: tuple[float, float], kind: str) -> str:
    """Draw what stands on a way, on a ground that hides the line."""
    size = label.size
    x, y = at
    ground = shapes.rect("lb", x - size.width / 2, y - _LABEL / 2, size.width, _LABEL, 4)
    words = shapes.text(f"l {kind}".strip(), x, y + 3.5, label.words, middle=True)
    return shapes.titled(ground + words, label.full if label.full != label.words else "")


def draw_loop(box: Box, kind: str, label: Label | None, order: int) -> str:
    """Draw a way to the same box, above it; `order` tells several of them apart."""
    x2 = box.x + box.width - 22 - 26 * order
    x1, y = x2 - 44, box.y
    high = y - LOOP - 10 * order
    data = f"M{x1:.1f} {y:.1f}C{x1 - 8:.1f} {high:.1f} {x2 + 8:.1f} {high:.1f} {x2:.1f} {y:.1f}"
    drawn = shapes.path(f"e {kind}".strip(), data) + shapes.arrow((x2, y), kind, down=True)
    if label is None:
        return drawn
    room = box.width - _FROM_RIGHT - 26 * order
    words = fit(label.full, room, _SUB)
    short = Label(words, label.full)
    middle = (x1 - 6 - short.size.width / 2, y - 14.0)
    return drawn + draw_label(short, middle, kind)
