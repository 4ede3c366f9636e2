"""Where a piece of code stands, for people and editors."""

from __future__ import annotations

import ast
import linecache
from dataclasses import replace
from pathlib import Path

from dexnb.graph.frames import Frame
from dexnb.model.finding import Place


def place_of(node: ast.AST, frame: Frame) -> Place:
    """Give the place of a node: its file, or nothing but lines for a live cell."""
    file = frame.scope.function.__code__.co_filename
    line = getattr(node, "lineno", 0)
    end = getattr(node, "end_lineno", None) or line
    if isinstance(getattr(node, "body", None), list):
        # Of what has a body only the head is meant.
        node, end = _head(node, file), line
    return Place(
        path=file if Path(file).is_file() else "",
        line=line,
        column=characters(file, line, getattr(node, "col_offset", 0)),
        end_line=end,
        end_column=characters(file, end, getattr(node, "end_col_offset", None) or 0),
    )


def insertion(node: ast.AST, frame: Frame) -> Place:
    """Give the empty place before a node."""
    place = place_of(node, frame)
    return replace(place, end_line=place.line, end_column=place.column)


def _head(node: ast.AST, file: str) -> ast.AST:
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    length = len(linecache.getline(file, line).rstrip().encode())
    return ast.Pass(lineno=line, col_offset=column, end_lineno=line, end_col_offset=length)


def characters(file: str, line: int, offset: int) -> int:
    """Turn the bytes that Python counts in a line into characters."""
    text = linecache.getline(file, line)
    if text.isascii():
        return offset
    return len(text.encode()[:offset].decode(errors="ignore"))
