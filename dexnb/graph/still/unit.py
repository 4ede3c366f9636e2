"""`Unit`: a file's or a cell's text as a tree, with code objects that cannot run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from dexnb.graph.place import characters
from dexnb.graph.source import TOO_DEEP, Tree, made_alone
from dexnb.model.finding import Place

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BODIES = ("body", "orelse", "handlers", "finalbody", "cases")
_NEVER_RAN = 0


class NotParsed(Exception):
    """A text is no Python.

    Args:
        message: Why.
        line: Where, 0 if not known.
        column: The same, from 0.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        """Keep the place."""
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A file or one cell.

    Args:
        path: As it was named by who asked.
        cell: The cell's id; empty in a file.
        text: What stands there, magics replaced.
        lines: The same, by line.
        tree: What it says.
        codes: The code of each function, by first line and name; its first statement raises.
    """

    path: str
    cell: str
    text: str
    lines: tuple[str, ...]
    tree: ast.Module
    codes: dict[tuple[int, str], CodeType] = field(repr=False)

    def place(self, node: Any = None) -> Place:
        """Give a node's place, columns in characters; the whole unit's first line without one."""
        line = getattr(node, "lineno", 0)
        if not line:
            return Place(self.path, self.cell)
        end = getattr(node, "end_lineno", None) or line
        last = getattr(node, "end_col_offset", None) or 0
        return Place(
            self.path,
            self.cell,
            line,
            characters(self.lines, line, node.col_offset),
            end,
            characters(self.lines, end, last),
        )


def parse_unit(text: str, path: str = "", cell: str = "", lines: str | None = None) -> Unit:
    """Parse a text; `lines` is what stands in the file where `text` is not.

    Raises:
        NotParsed: It is no Python, or nested too deeply.
    """
    try:
        tree, codes = made_alone(lambda: _parse(text, path))
    except SyntaxError as error:
        column = max((error.offset or 1) - 1, 0)
        raise NotParsed(error.msg or "no Python", error.lineno or 0, column) from error
    except ValueError as error:
        raise NotParsed(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise NotParsed(TOO_DEEP) from error
    shown = text if lines is None else lines
    return Unit(path, cell, text, tuple(shown.split("\n")), tree, codes)


def _parse(text: str, path: str) -> tuple[ast.Module, dict[tuple[int, str], CodeType]]:
    tree = ast.parse(text)
    functions = [node for node in definitions(tree.body) if isinstance(node, Tree)]
    for function in functions:
        function.body.insert(0, _guard(function))
    try:
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(tree, path or "<text>", "exec", flags=flags, dont_inherit=True)
    finally:
        for function in functions:
            del function.body[0]
    return tree, {(each.co_firstlineno, each.co_name): each for each in _codes(code)}


def _guard(function: Tree) -> ast.stmt:
    """Give a statement that always raises.

    What stands behind a `raise`, Python leaves out, the functions inside too; so one that has such
    is guarded by a division that cannot be folded away.
    """
    nested = next(definitions(function.body), None)
    place: Any = {"lineno": function.lineno, "col_offset": function.col_offset}
    never = ast.Constant(_NEVER_RAN, **place)
    if nested is None:
        return ast.Raise(exc=never, cause=None, **place)
    one = ast.Constant(1, **place)
    return ast.Expr(ast.BinOp(one, ast.Div(), never, **place), **place)


def definitions(body: list[Any]) -> Iterator[Definition]:
    """Give the functions and classes that statements define, those inside of each too."""
    for statement in body:
        if isinstance(statement, _SCOPES):
            yield statement
        for name in _BODIES:
            inner = getattr(statement, name, None)
            if type(inner) is list:
                yield from definitions(inner)


def _codes(code: CodeType) -> Iterator[CodeType]:
    waiting = [code]
    while waiting:
        for constant in waiting.pop().co_consts:
            if isinstance(constant, CodeType):
                yield constant
                waiting.append(constant)


def first_line(tree: Tree) -> int:
    """Give the line that a function's code has as its first: that of its first decorator."""
    return min([tree.lineno, *(each.lineno for each in tree.decorator_list)])
