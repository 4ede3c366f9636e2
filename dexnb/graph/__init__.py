"""A Flow's graph: read from the live Flow, laid out, drawn; and the knobs that it offers."""

from __future__ import annotations

from dexnb.graph.read import read_graph

__all__ = ["read_graph"]
