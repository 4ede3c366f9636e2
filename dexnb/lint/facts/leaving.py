"""Whether a block of code is always left, and whether all its ways pass a certain place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Literal

Way = Literal["falls", "continues", "leaves", "raises"]
Ways = frozenset[Way]

_FALLS: Ways = frozenset({"falls"})
_NONE: Ways = frozenset()
_OUT: Ways = frozenset({"leaves", "raises"})


def leaves(statements: Sequence[ast.stmt]) -> bool:
    """Tell whether a block never falls through to what is behind it."""
    return "falls" not in ways_without(statements, _nothing)


def _nothing(_: ast.AST) -> bool:
    return False


def ways_without(statements: Sequence[ast.stmt], marked: Callable[[ast.AST], bool]) -> Ways:
    """Give the ways through a block on which no marked code is met.

    Args:
        statements: The block.
        marked: Tells whether a statement without a body, or an expression, has the mark in it.

    An exception is no way: what a handler does is asked of the handler itself.
    """
    ways: Ways = _FALLS
    for statement in statements:
        if "falls" not in ways:
            break
        ways = (ways - _FALLS) | _of_statement(statement, marked)
    return ways


def _of_statement(node: ast.stmt, marked: Callable[[ast.AST], bool]) -> Ways:
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            if marked(test):
                return _NONE
            return ways_without(body, marked) | ways_without(orelse, marked)
        case ast.Match(subject=subject, cases=cases):
            if marked(subject):
                return _NONE
            found = [ways_without(case.body, marked) for case in cases]
            rest = _NONE if any(_takes_all(case) for case in cases) else _FALLS
            return rest.union(*found)
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            if any(marked(item.context_expr) for item in items):
                return _NONE
            return ways_without(body, marked)
        case ast.Try() | ast.TryStar():
            return _of_try(node, marked)
        case ast.For() | ast.AsyncFor() | ast.While():
            return _of_loop(node, marked)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return _FALLS
        case _:
            return _NONE if marked(node) else _of_plain(node)


def _of_plain(node: ast.stmt) -> Ways:
    if isinstance(node, ast.Continue):
        return frozenset({"continues"})
    if isinstance(node, ast.Raise):
        return frozenset({"raises"})
    if isinstance(node, ast.Return | ast.Break):
        return frozenset({"leaves"})
    return _FALLS


def _of_try(node: ast.Try | ast.TryStar, marked: Callable[[ast.AST], bool]) -> Ways:
    last = ways_without(node.finalbody, marked)
    if not last:
        return _NONE
    ways = ways_without(node.body, marked)
    if "falls" in ways:
        ways = (ways - _FALLS) | ways_without(node.orelse, marked)
    if marked is _nothing:
        ways = ways.union(*(ways_without(handler.body, marked) for handler in node.handlers))
    return ways if "falls" in last else last


def _of_loop(node: ast.For | ast.AsyncFor | ast.While, marked: Callable[[ast.AST], bool]) -> Ways:
    head = node.test if isinstance(node, ast.While) else node.iter
    if marked(head):
        return _NONE
    endless = isinstance(node, ast.While) and isinstance(head, ast.Constant) and bool(head.value)
    if isinstance(node, ast.For) and _has_rounds(node.iter):
        inner = ways_without(node.body, marked)
        return (inner & _OUT) | (_FALLS if inner - _OUT or _breaks(node.body) else _NONE)
    if not endless:
        return _FALLS | (ways_without(node.body, marked) & _OUT)
    inner = ways_without(node.body, marked) & _OUT
    return inner | _FALLS if _breaks(node.body) else inner


def _has_rounds(given: ast.expr) -> bool:
    """Tell what a `for` goes through at least once: `range(6)`, `("a", "b")`."""
    match given:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(not isinstance(part, ast.Starred) for part in parts)
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(number))]):
            return number > 0
        case _:
            return False


def _breaks(statements: Sequence[ast.stmt]) -> bool:
    for node in statements:
        if isinstance(node, ast.Break):
            return True
        inner = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(node, ast.Try | ast.TryStar):
            inner += [handler.body for handler in node.handlers]
        if isinstance(node, ast.Match):
            inner += [case.body for case in node.cases]
        loops = isinstance(node, ast.For | ast.AsyncFor | ast.While)
        nested = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if not loops and not nested and any(_breaks(block) for block in inner):
            return True
    return False


def _takes_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and not case.pattern.pattern
