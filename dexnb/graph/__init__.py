"""A Flow's graph: read from the live Flow, laid out, drawn, exported; and the knobs it offers."""

from __future__ import annotations

from dexnb.graph.flow_picture import FlowPicture, flow_graph, picture
from dexnb.graph.read import read_graph

__all__ = ["FlowPicture", "flow_graph", "picture", "read_graph"]
