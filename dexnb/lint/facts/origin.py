"""Where the thing behind an expression comes from, as a dotted name: `requests.get`."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

from dexnb.graph.frames import Frame
from dexnb.graph.opaque import Opaque, called
from dexnb.graph.scope import UNKNOWN, cell_value
from dexnb.graph.scope import _attribute_of as raw_attribute_of
from dexnb.lint.facts.bindings import bindings_of

DEEPEST = 12
"""How many steps from name to name an origin is followed."""


def origin_of(expression: ast.expr, frame: Frame, depth: int = 0) -> str:
    """Give the dotted name of what an expression stands for, or an empty text.

    The result of a call is written `boto3.client()`, and a method of it `boto3.client().wait`; an
    object of a class has the name of the class, `requests.Session`.
    """
    if depth > DEEPEST:
        return ""
    match expression:
        case ast.Await(value=inner):
            return origin_of(inner, frame, depth + 1)
        case ast.Name(id=name):
            return _of_name(name, frame, depth)
        case ast.Attribute(value=base, attr=attribute):
            held = held_by(base, frame)
            if isinstance(held, ModuleType):
                return f"{held.__name__}.{attribute}"
            known = _of_value(held_by(expression, frame))
            before = known or origin_of(base, frame, depth + 1)
            return known or (f"{before}.{attribute}" if before else "")
        case ast.Call(func=function):
            made = origin_of(function, frame, depth + 1)
            return called(made) if made else ""
        case _:
            return _of_value(held_by(expression, frame))


def held_by(expression: ast.expr, frame: Frame) -> Any:
    """Give the object behind an expression, also one that source text only names."""
    match expression:
        case ast.Name(id=name):
            return _held(name, frame)
        case ast.Attribute(value=base, attr=attribute):
            held = held_by(base, frame)
            if isinstance(held, Opaque):
                return held.attribute(attribute)
            return raw_attribute_of(held, attribute)
        case _:
            return frame.scope.look(expression)


def _held(name: str, frame: Frame) -> Any:
    scope = frame.scope
    known = scope.name(name)
    if known is not UNKNOWN or name in scope.locals:
        return known
    code = scope.function.__code__
    cells = dict(zip(code.co_freevars, scope.function.__closure__ or (), strict=True))
    if name in cells:
        return cell_value(cells[name])
    return scope.function.__globals__.get(name, UNKNOWN)


def _of_name(name: str, frame: Frame, depth: int) -> str:
    bound = [each for each in bindings_of(frame).of(name) if not each.effect]
    if bound:
        # The first tells most: what follows is often a refresh of the same thing.
        return origin_of(bound[0].value, frame, depth + 1)
    if name in frame.arguments:
        expression, caller = frame.arguments[name]
        return origin_of(expression, caller, depth + 1)
    value = _held(name, frame)
    if value is not UNKNOWN or frame.outer is None:
        return _of_value(value) or _of_annotation(name, frame)
    return _of_name(name, frame.outer, depth + 1)


def _of_annotation(name: str, frame: Frame) -> str:
    """Give the class that a parameter is annotated with, as an object of it."""
    arguments = frame.tree.args
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.arg == name and parameter.annotation is not None:
            made = _of_value(held_by(parameter.annotation, frame))
            return called(made) if made else ""
    return ""


def _of_value(value: Any) -> str:
    if value is UNKNOWN or value is None:
        return ""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, Opaque):
        return value.origin
    named = getattr(type(value), "__qualname__", "")
    if isinstance(value, type) or callable(value) and hasattr(value, "__qualname__"):
        module, name = getattr(value, "__module__", None), value.__qualname__
        return f"{module}.{name}" if module else f"builtins.{name}"
    return called(f"{type(value).__module__}.{named}")


def top_of(origin: str) -> str:
    """Give the package of a dotted name."""
    return origin.partition(".")[0].partition("(")[0]


def last_of(origin: str) -> str:
    """Give the last name of a dotted name, without call brackets."""
    return origin.rpartition(".")[2].replace("()", "")
