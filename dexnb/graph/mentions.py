"""Which Attributes, Channels and Streams code speaks of at all, in whatever form."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from dexnb.flow.flow import Flow
from dexnb.flow.step import Step
from dexnb.graph.frames import Frame, read_frame
from dexnb.graph.resources import resource_of
from dexnb.graph.scope import UNKNOWN
from dexnb.graph.source import is_users, plain_function

MOST = 500
"""Functions that are looked through; where there are more, nothing is said."""

_TABLES = (list, tuple, set, frozenset)


def mentioned(frames: Iterable[Frame]) -> set[str] | None:
    """Name what methods speak of, and all functions and classes that they speak of in turn.

    Gives None where that cannot be told: a function has no source, or there are too many.
    """
    names: set[str] = set()
    seen: set[Any] = set()
    waiting = list(frames)
    while waiting:
        frame = waiting.pop()
        if frame.scope.function in seen:
            continue
        seen.add(frame.scope.function)
        if len(seen) > MOST:
            return None
        for value, owner in _values(frame):
            names.update(_names(value))
            for function, instance in _functions(value, owner):
                found = read_frame(function, instance)
                if found is None:
                    return None
                waiting.append(found)
    return names


def mentioned_by(owner: Any) -> Iterator[str]:
    """Name what an object keeps in its own attributes."""
    for value in vars(owner).values():
        yield from _names(value)


def _values(frame: Frame) -> Iterator[tuple[Any, Any]]:
    """Give each object that a function names, with the instance that a method is bound to."""
    for node in ast.walk(frame.tree):
        if isinstance(node, ast.Name | ast.Attribute):
            value, owner = frame.callee(node)
            if value is not UNKNOWN:
                yield value, owner


def _names(value: Any) -> Iterator[str]:
    items = value.values() if type(value) is dict else value
    for each in items if type(value) in (*_TABLES, dict) else (value,):
        resource = resource_of(each)
        if resource is not None:
            yield resource.name


def _functions(value: Any, owner: Any) -> Iterator[tuple[FunctionType, Any]]:
    """Give the user's functions behind a value: itself, or the methods of its class."""
    function = plain_function(value)
    if function is not None:
        found = [(function, owner)]
    elif isinstance(value, Step | Flow) or (isinstance(value, type) and issubclass(value, Step)):
        # Those of the Flow are looked through anyway, and others are not its own.
        found = []
    else:
        class_, instance = (value, None) if isinstance(value, type) else (type(value), value)
        found = [(each, instance) for each in _methods(class_)]
    yield from (each for each in found if is_users(each[0]))


def _methods(class_: type) -> Iterator[FunctionType]:
    for each in class_.__mro__:
        for value in vars(each).values():
            function = plain_function(value) if not isinstance(value, type) else None
            if function is not None:
                yield function
