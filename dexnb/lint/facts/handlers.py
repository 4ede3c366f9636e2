"""What an exception handler catches, and what it does with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.graph.frames import Frame
from dexnb.graph.paths import inside
from dexnb.lint.facts.bindings import dotted
from dexnb.lint.facts.leaving import Ways, ways_without
from dexnb.lint.facts.origin import last_of, origin_of

CANCELLATION = frozenset(
    {"BaseException", "CancelledError", "get_cancelled_exc_class", "Cancelled"}
)
ALL_ERRORS = frozenset({"Exception", "BaseException"})


def caught(handler: ast.ExceptHandler, frame: Frame) -> frozenset[str]:
    """Give the names of the classes that a handler catches; a bare one catches BaseException."""
    return names_of(handler.type, frame)


def names_of(type_: ast.expr | None, frame: Frame) -> frozenset[str]:
    """Give the last names of exception classes, alone or in a tuple."""
    match type_:
        case None:
            return frozenset({"BaseException"})
        case ast.Tuple(elts=parts):
            return frozenset().union(*(names_of(part, frame) for part in parts))
        case ast.Call(func=function):
            return frozenset({last_of(origin_of(function, frame) or dotted(function))})
        case _:
            return frozenset({last_of(origin_of(type_, frame) or dotted(type_))})


def suppressed(item: ast.expr, frame: Frame) -> frozenset[str]:
    """Give the classes that `contextlib.suppress(...)` takes; none for another context."""
    if not isinstance(item, ast.Call) or last_of(origin_of(item.func, frame)) != "suppress":
        return frozenset()
    return frozenset().union(*(names_of(each, frame) for each in item.args))


def always_raises(handler: ast.ExceptHandler) -> bool:
    """Tell whether every way through a handler raises."""
    return not ways_without(handler.body, _raises)


def ways_of_swallowing(handler: ast.ExceptHandler) -> Ways:
    """Give how a handler ends where it does not raise."""
    return ways_without(handler.body, _raises)


def may_raise(handler: ast.ExceptHandler) -> bool:
    """Tell whether some way through a handler raises."""
    return any(isinstance(node, ast.Raise) for node in _all(handler.body))


def _all(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from inside(statement)


def _raises(node: ast.AST) -> bool:
    return isinstance(node, ast.Raise)
