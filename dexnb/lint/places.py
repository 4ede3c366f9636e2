"""Where a piece of code stands, as findings and fixes name it."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from dataclasses import replace

from dexnb.graph import place
from dexnb.graph.frames import Frame
from dexnb.graph.source import written
from dexnb.model.finding import Place


def place_of(node: ast.AST, frame: Frame) -> Place:
    """Give the place of a node; of what has a body only its first line is meant."""
    found = place.place_of(frame, node)
    if not isinstance(getattr(node, "body", None), list):
        return found
    lines = lines_of(frame)
    end = len(lines[found.line - 1].rstrip()) if 0 < found.line <= len(lines) else 0
    return replace(found, end_line=found.line, end_column=end)


def insertion(node: ast.AST, frame: Frame) -> Place:
    """Give the empty place before a node."""
    found = place_of(node, frame)
    return replace(found, end_line=found.line, end_column=found.column)


def lines_of(frame: Frame) -> Sequence[str]:
    """Give the lines of the text that a function stands in."""
    function = frame.scope.function
    still = written(function)
    return still.lines if still is not None else linecache.getlines(function.__code__.co_filename)
