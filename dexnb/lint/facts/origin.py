"""Where the thing behind an expression comes from, as a dotted name: `requests.get`."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

from dexnb.graph.frames import Frame
from dexnb.graph.scope import UNKNOWN
from dexnb.lint.facts.bindings import bindings_of

DEEPEST = 12
"""How many steps from name to name an origin is followed."""


def origin_of(expression: ast.expr, frame: Frame, depth: int = 0) -> str:
    """Give the dotted name of what an expression stands for, or an empty text.

    The result of a call is written `requests.Session()`, and a method of it
    `requests.Session().get`; so is an object whose class is known.
    """
    if depth > DEEPEST:
        return ""
    match expression:
        case ast.Await(value=inner):
            return origin_of(inner, frame, depth + 1)
        case ast.Name(id=name):
            return _of_name(name, frame, depth)
        case ast.Attribute(value=base, attr=attribute):
            module = frame.scope.look(base)
            if isinstance(module, ModuleType):
                return f"{module.__name__}.{attribute}"
            known = _of_value(frame.scope.look(expression))
            before = known or origin_of(base, frame, depth + 1)
            return known or (f"{before}.{attribute}" if before else "")
        case ast.Call(func=function):
            called = origin_of(function, frame, depth + 1)
            return f"{called}()" if called else ""
        case _:
            return _of_value(frame.scope.look(expression))


def _of_name(name: str, frame: Frame, depth: int) -> str:
    bound = [each for each in bindings_of(frame).of(name) if not each.effect]
    if bound:
        # The first tells most: what follows is often a refresh of the same thing.
        return origin_of(bound[0].value, frame, depth + 1)
    if name in frame.arguments:
        expression, caller = frame.arguments[name]
        return origin_of(expression, caller, depth + 1)
    value = frame.scope.name(name)
    if value is not UNKNOWN or frame.outer is None:
        return _of_value(value) or _of_annotation(name, frame)
    return _of_name(name, frame.outer, depth + 1)


def _of_annotation(name: str, frame: Frame) -> str:
    """Give the class that a parameter is annotated with, as an object of it."""
    arguments = frame.tree.args
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.arg == name and parameter.annotation is not None:
            made = _of_value(frame.scope.look(parameter.annotation))
            return f"{made}()" if made else ""
    return ""


def _of_value(value: Any) -> str:
    if value is UNKNOWN or value is None:
        return ""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(getattr(value, "origin", None), str) and type(value).__name__ == "Opaque":
        return str(value.origin)
    named = getattr(type(value), "__qualname__", "")
    if isinstance(value, type) or callable(value) and hasattr(value, "__qualname__"):
        module, name = getattr(value, "__module__", None), value.__qualname__
        return f"{module}.{name}" if module else f"builtins.{name}"
    return f"{type(value).__module__}.{named}()"


def top_of(origin: str) -> str:
    """Give the package of a dotted name."""
    return origin.partition(".")[0].partition("(")[0]


def last_of(origin: str) -> str:
    """Give the last name of a dotted name, without call brackets."""
    return origin.rpartition(".")[2].replace("()", "")
