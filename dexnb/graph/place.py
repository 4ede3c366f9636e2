"""`place_of`: where a piece of code stands, for people and editors, live and read from text."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

from dexnb.graph.frames import Frame
from dexnb.graph.source import read_source, written
from dexnb.model.finding import Place

_CELL = re.compile(r"<ipython-input-(\d+)-")
_labels: list[Callable[[str], str]] = []


def name_cells(label: Callable[[str], str]) -> None:
    """Let a notebook's kernel name its cells.

    Args:
        label: Gives `In [3]` for the file name of that cell's code, an empty text for any other.
    """
    _labels[:] = [label]


def place_of(where: Frame | FunctionType, node: ast.AST | None = None) -> Place:
    """Give the place of a node, or of the whole function.

    Args:
        where: The function that the node is of.
        node: Any node with a place; None for the function itself.
    """
    function = where if isinstance(where, FunctionType) else where.scope.function
    if node is None:
        node = where.tree if isinstance(where, Frame) else _tree(function)
    still = written(function)
    if still is not None:
        path, cell, lines = still.path, still.cell, still.lines
    else:
        file = function.__code__.co_filename
        path, cell = shown_file(file), cell_label(file)
        lines = tuple(linecache.getlines(file))
    line = getattr(node, "lineno", 0)
    end = getattr(node, "end_lineno", None) or line
    column = characters(lines, line, getattr(node, "col_offset", 0))
    return Place(
        path,
        cell,
        line,
        column,
        end,
        characters(lines, end, getattr(node, "end_col_offset", 0) or 0),
    )


def _tree(function: FunctionType) -> ast.AST | None:
    source = read_source(function)
    return None if source is None else source.tree


def shown_file(file: str) -> str:
    """Name a file as people do: relative to the working folder when under it, else by its name.

    What is no file, as a cell of a kernel, has an empty name.
    """
    path = Path(file)
    if cell_label(file) or not path.is_file():
        return ""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.name


def cell_label(file: str) -> str:
    """Give `In [3]` for the file name of a cell's code; an empty text for any other."""
    for label in _labels:
        found = label(file)
        if found:
            return found
    match = _CELL.match(file)
    return f"In [{match[1]}]" if match else ""


def characters(lines: tuple[str, ...], line: int, offset: int) -> int:
    """Give a column in characters for one in bytes, as syntax trees have them."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
