"""The line above a picture: the Flow's name, whether its graph holds, and where it is from."""

from __future__ import annotations

from collections.abc import Sequence

from dexnb.graph.drawing import shapes
from dexnb.graph.drawing.badges import badges
from dexnb.graph.drawing.measure import fit, text_width
from dexnb.model.finding import Finding
from dexnb.model.flow_graph import FlowGraph

_MOST_NAME = 420.0
_MOST_SOURCE = 320.0
_BADGES = 150.0
_NAME = 16.0
_SMALL = 10.5
_BADGE = 11.0
_MOST_TOLD = 4


def draw_header(
    graph: FlowGraph, at: tuple[float, float], findings: Sequence[Finding], *, attention: bool
) -> tuple[float, str]:
    """Draw the header, and give where it ends on the right.

    Args:
        graph: What it is of.
        at: Its upper left corner.
        findings: Those about no node, or about one that is not drawn.
        attention: Whether any finding asks for a change.
    """
    x, y = at
    drawn = shapes.line("h", (x, y + 16), graph.name, _MOST_NAME, _NAME, face="bold")
    x += text_width(fit(graph.name, _MOST_NAME, _NAME, "bold"), _NAME, "bold") + 12
    attention = attention or not graph.valid
    words, kind = ("Needs attention", " bad") if attention else ("Valid", "")
    width = text_width(words, _BADGE) + 18
    badge = shapes.rect(f"v{kind}", x, y, width, 21, 10.5)
    badge += shapes.text(f"vt{kind}", x + width / 2, y + 14.5, words, middle=True)
    drawn += shapes.titled(badge, _told(graph))
    x += width + 12
    source = fit(_source(graph), _MOST_SOURCE, _SMALL)
    drawn += shapes.titled(shapes.text("s", x, y + 14.5, source), _told(graph))
    x += text_width(source, _SMALL) + 12
    return x + (_BADGES if findings else 0.0), drawn + badges(findings, x, y + 10.5)


def _source(graph: FlowGraph) -> str:
    parts = ["python", graph.path] if graph.path else ["python"]
    count = len(graph.diagnostics)
    if count:
        parts.append(f"{count} remark" if count == 1 else f"{count} remarks")
    return " · ".join(parts)


def _told(graph: FlowGraph) -> str:
    lines = [each.message for each in graph.diagnostics[:_MOST_TOLD]]
    more = len(graph.diagnostics) - _MOST_TOLD
    return " · ".join(lines + ([f"and {more} more"] if more > 0 else []))
