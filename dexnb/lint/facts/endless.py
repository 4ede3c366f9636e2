"""Time limits that are none: `None`, by whatever name, and `Timeout(None)`."""

from __future__ import annotations

import ast

from dexnb.graph.frames import Frame
from dexnb.lint.facts.bindings import bindings_of

DEEPEST = 4
"""How many names lie at most between a limit and its value."""

_WHOLE = frozenset({"read", "sock_read", "timeout", "total"})


def is_endless(given: ast.expr | None, frame: Frame, depth: int = 0) -> bool:
    """Tell whether a time limit is known to be none."""
    if given is None or depth > DEEPEST:
        return False
    match given:
        case ast.Constant(value=value):
            return value is None
        case ast.Name(id=name):
            return _is_name_of_none(given, name, frame, depth)
        case ast.Tuple(elts=parts):
            return any(is_endless(part, frame, depth + 1) for part in parts)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.endswith(
            "Timeout"
        ):
            return _is_endless_object(given, frame, depth)
        case _:
            return False


def _is_name_of_none(given: ast.Name, name: str, frame: Frame, depth: int) -> bool:
    bound = [each for each in bindings_of(frame).of(name) if not each.effect]
    if bound:
        return all(is_endless(each.value, frame, depth + 1) for each in bound)
    if name in frame.arguments:
        expression, caller = frame.arguments[name][:2]
        return is_endless(expression, caller, depth + 1)
    return frame.scope.look(given) is None


def _is_endless_object(made: ast.Call, frame: Frame, depth: int) -> bool:
    given = [*made.args[:1], *(each.value for each in made.keywords if each.arg in _WHOLE)]
    return bool(given) and all(is_endless(each, frame, depth + 1) for each in given)
