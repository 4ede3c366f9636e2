"""The picture of a run's graph in a Lab: what the run took, how its Steps stand, bounded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dexnb.graph.drawing.layers import LAYERS
from dexnb.graph.drawing.scene import Run, draw_graph
from dexnb.graph.drawing.theme import Theme
from dexnb.model.finding import Finding
from dexnb.model.flow_graph import FlowGraph

__all__ = ["MOST_STEPS", "Theme", "graph_svg"]

MOST_STEPS = 80
"""Boxes drawn; of the others the picture gives the number."""

_LAYERS = frozenset(LAYERS) - {"ground", "header", "legend", "resources"}


def graph_svg(
    graph: FlowGraph,
    *,
    taken: Iterable[tuple[str, str, str]] = (),
    states: Mapping[str, str] | None = None,
    theme: Theme = "auto",
    findings: Iterable[Finding] = (),
) -> str:
    """Draw a graph as a run has taken it.

    Args:
        graph: What to draw.
        taken: Ways that a run has taken: from Step, to Step, kind of edge.
        states: What Steps of a run are: `running`, `done` or `failed`, by name.
        theme: `auto` follows the notebook's theme, or else the reader's system.
        findings: What a linter says of the Flow; badges on the nodes that they name.
    """
    run = Run(frozenset(taken), dict(states or {}))
    return draw_graph(graph, _LAYERS, theme=theme, findings=findings, run=run, most=MOST_STEPS)
