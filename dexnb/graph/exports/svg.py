"""A graph as an SVG picture: pure Python, no script in it, the same bytes for the same graph."""

from __future__ import annotations

from collections.abc import Iterable

from dexnb.graph.drawing.layers import check_layers
from dexnb.graph.drawing.scene import draw_graph
from dexnb.graph.drawing.theme import Theme
from dexnb.model.finding import Finding
from dexnb.model.flow_graph import FlowGraph


def to_svg(
    graph: FlowGraph,
    *,
    theme: Theme = "auto",
    layers: Iterable[str] | None = None,
    findings: Iterable[Finding] = (),
) -> str:
    """Draw a graph.

    Args:
        graph: What to draw, all of it.
        theme: `auto` follows the notebook's theme, or else the reader's system; only browsers
            know how. `light` and `dark` have plain colours.
        layers: What to show beside the Steps and their decisions; everything by default. See
            `dexnb.graph.drawing.layers.Layer`.
        findings: What a linter says of the Flow; shown as badges on the nodes that they name.

    Raises:
        DefinitionError: There is no such layer.
    """
    return draw_graph(graph, check_layers(layers), theme=theme, findings=findings)
