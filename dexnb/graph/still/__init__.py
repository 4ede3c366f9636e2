"""Flows from source text: nothing of it is imported or run, stand-ins are made of it instead.

A stand-in class is a real class whose methods cannot run; a small interpreter of plain expressions
finds what the definitions say. The reader of live Flows takes stand-ins as they are.
"""

from __future__ import annotations

from dexnb.graph.still.found import FoundFlow
from dexnb.graph.still.problem import SourceProblem
from dexnb.graph.still.reading import SourceReader, SourceReading, read_source

__all__ = ["FoundFlow", "SourceProblem", "SourceReader", "SourceReading", "read_source"]
