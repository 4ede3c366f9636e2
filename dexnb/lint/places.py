"""Where a piece of code stands, for people and editors."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dexnb.graph.frames import Frame
from dexnb.graph.source import written
from dexnb.model.finding import Place


def place_of(node: ast.AST, frame: Frame) -> Place:
    """Give the place of a node: its file and cell, or nothing but lines for a live cell.

    Of what has a body only the head is meant.
    """
    path, cell, lines = text_of(frame)
    line = getattr(node, "lineno", 0)
    end = getattr(node, "end_lineno", None) or line
    last = characters(lines, end, getattr(node, "end_col_offset", None) or 0)
    if isinstance(getattr(node, "body", None), list):
        end = line
        last = len(lines[line - 1].rstrip()) if 0 < line <= len(lines) else 0
    column = characters(lines, line, getattr(node, "col_offset", 0))
    return Place(path, cell, line, column, end, last)


def text_of(frame: Frame) -> tuple[str, str, Sequence[str]]:
    """Give the path, the cell and the lines of the text that a function stands in."""
    function = frame.scope.function
    still = written(function)
    if still is not None:
        return still.path, still.cell, still.lines
    file = function.__code__.co_filename
    return (file if Path(file).is_file() else ""), "", linecache.getlines(file)


def insertion(node: ast.AST, frame: Frame) -> Place:
    """Give the empty place before a node."""
    place = place_of(node, frame)
    return replace(place, end_line=place.line, end_column=place.column)


def characters(lines: Sequence[str], line: int, offset: int) -> int:
    """Turn the bytes that Python counts in a line into characters."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
