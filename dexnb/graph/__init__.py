"""A Flow's graph: read from the live Flow or from source text, laid out, drawn; and its knobs."""

from __future__ import annotations

from dexnb.graph.read import read_graph
from dexnb.graph.still import read_source

__all__ = ["read_graph", "read_source"]
