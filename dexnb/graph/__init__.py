"""A Flow's graph: read from the live Flow or from source text, laid out, drawn, exported; knobs."""

from __future__ import annotations

from dexnb.graph.flow_picture import FlowPicture, flow_graph, picture
from dexnb.graph.read import read_graph
from dexnb.graph.still import read_source

__all__ = ["FlowPicture", "flow_graph", "picture", "read_graph", "read_source"]
