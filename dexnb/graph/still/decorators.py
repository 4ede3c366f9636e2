"""Decorators of a text: which of them leave what a function does as it is."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from dexnb.graph.opaque import Opaque
from dexnb.graph.redact import code_text
from dexnb.graph.scope import cell_value
from dexnb.graph.source import Tree, written

_HANDS_ON = frozenset(
    {
        *("functools.cache", "functools.cached_property", "functools.lru_cache"),
        *("functools.singledispatch", "functools.singledispatchmethod", "functools.wraps"),
        *("contextlib.asynccontextmanager", "contextlib.contextmanager", "types.coroutine"),
        *("typing.final", "typing.no_type_check", "typing.overload", "typing.override"),
        *("typing_extensions.final", "typing_extensions.overload", "typing_extensions.override"),
        *("typing_extensions.deprecated", "warnings.deprecated"),
    }
)
_CALLS_AGAIN = frozenset({"backoff", "tenacity"})
"""Libraries that only call again: those who look for waiting know their decorators."""

_LOOPS = (ast.While, ast.For, ast.AsyncFor, ast.ExceptHandler, ast.Yield, ast.YieldFrom)
_ENDS = (ast.Return, ast.With, ast.AsyncWith, ast.Try)


def hands_on(decorator: Any) -> bool:
    """Tell a decorator that is known to hand on what a function gives."""
    if isinstance(decorator, Opaque):
        name = decorator.origin.removesuffix("()")
    else:
        name = f"{getattr(decorator, '__module__', '')}.{getattr(decorator, '__qualname__', '')}"
    return name in _HANDS_ON or name.partition(".")[0] in (*_CALLS_AGAIN, "dexnb")


def name_of(decorator: ast.expr) -> str:
    """Name a decorator without what stands before its dot and what it is given."""
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return made.attr if isinstance(made, ast.Attribute) else code_text(made)


def is_wrapping(function: FunctionType) -> bool:
    """Tell a function that is written under `functools.wraps`: readers look behind it."""
    body = written(function)
    return body is not None and "wraps" in map(name_of, body.tree.decorator_list)


def passes_on(around: FunctionType, inner: FunctionType) -> bool:
    """Tell a function that calls another one once, and gives what that gives."""
    body = written(around)
    if body is None or not isinstance(body.tree.body[-1], _ENDS):
        return False
    cells = zip(around.__code__.co_freevars, around.__closure__ or (), strict=True)
    names = {name for name, cell in cells if cell_value(cell) is inner}
    parts = list(ast.walk(body.tree))
    if any(isinstance(each, _LOOPS) or _sleeps(each) for each in parts):
        return False
    return all(
        each.value is not None and _is_given(each.value, names, body.tree)
        for each in parts
        if isinstance(each, ast.Return)
    )


def _is_given(value: ast.expr, names: set[str], tree: Tree) -> bool:
    match value:
        case ast.Await(value=inner):
            return _is_given(inner, names, tree)
        case ast.Call(func=ast.Name(id=name)):
            return name in names
        case ast.Name(id=name):
            stored = [each for each in ast.walk(tree) if _stores(each, name)]
            made = [each.value for each in stored if isinstance(each, ast.Assign)]
            calls = [each for each in made if not isinstance(each, ast.Name)]
            return len(stored) == _TARGET_AND_STATEMENT and bool(
                calls and _is_given(calls[0], names, tree)
            )
        case _:
            return False


_TARGET_AND_STATEMENT = 2


def _stores(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=found, ctx=ast.Store()):
            return found == name
        case ast.Assign(targets=[ast.Name(id=found)]):
            return found == name
        case _:
            return False


def _sleeps(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in ("sleep", "wait")
        case _:
            return False
