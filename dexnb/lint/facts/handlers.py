"""What an exception handler catches, and what it does with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.graph.frames import Frame
from dexnb.graph.paths import inside
from dexnb.lint.facts.bindings import bindings_of, dotted
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
    """Give the last names of exception classes, alone or in a tuple, also one with a name."""
    match type_:
        case ast.Name(id=name) if tuple_ := _tuple_of(type_, name, frame):
            return tuple_
        case None:
            return frozenset({"BaseException"})
        case ast.Tuple(elts=parts):
            return frozenset().union(*(names_of(part, frame) for part in parts))
        case ast.Call(func=function):
            return frozenset({last_of(origin_of(function, frame) or dotted(function))})
        case _:
            return frozenset({last_of(origin_of(type_, frame) or dotted(type_))})


def _tuple_of(type_: ast.Name, name: str, frame: Frame) -> frozenset[str]:
    """Give the classes of a tuple that has a name; nothing for a class."""
    value = frame.scope.look(type_)
    if isinstance(value, tuple):
        return frozenset(each.__name__ for each in value if isinstance(each, type))
    bound = [each.value for each in bindings_of(frame).of(name)]
    tuples = [each for each in bound if isinstance(each, ast.Tuple)]
    return frozenset().union(*(names_of(each, frame) for each in tuples))


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
