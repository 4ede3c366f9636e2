"""Annotations as objects: never a text, which Python's own reader of annotations would run."""

from __future__ import annotations

import ast
import operator
import typing
from enum import Enum
from typing import TYPE_CHECKING, Any

from dexnb.graph.opaque import Opaque, opaque_class
from dexnb.graph.source import parsed
from dexnb.graph.still.names import Names

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine

_LARGEST = 200
_FORMS = ("typing", "types", "typing_extensions", "collections.abc")


class Annotations:
    """Works annotations out."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def type(self, node: ast.expr, names: Names) -> Any:
        """Give what an annotation stands for; a class that may be any where it is not known."""
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str(text)):
                return self._quoted(text, names)
            case ast.Constant(value=value):
                return value if value is ... else Any
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.union(self.type(left, names), self.type(right, names))
            case ast.List(elts=parts):
                return [self.type(part, names) for part in parts]
            case ast.Subscript(value=base, slice=key):
                return self.subscript(self.type(base, names), key, names)
            case _:
                return _as_type(self.machine.value(node, names))

    def _quoted(self, text: str, names: Names) -> Any:
        try:
            inner = parsed(text.strip(), "eval").body
        except SyntaxError:
            return Any
        return (
            Any
            if isinstance(inner, ast.Constant) and inner.value == text
            else self.type(inner, names)
        )

    def subscript(self, held: Any, key: ast.expr, names: Names) -> Any:
        """Give `held[key]` for a class or one of typing's forms."""
        if isinstance(held, type) and issubclass(held, Enum):
            name = self.machine.value(key, names)
            return held[name] if isinstance(name, str) else Opaque()
        parts = list(key.elts) if isinstance(key, ast.Tuple) else [key]
        if held is typing.Literal:
            return self._literal(parts, names)
        if held is typing.Annotated:
            return self.type(parts[0], names)
        if not isinstance(held, type) and type(held).__module__ not in _FORMS:
            return Opaque()
        given = tuple(self.type(part, names) for part in parts)
        if size(held) + sum(map(size, given)) > _LARGEST:
            return Any
        try:
            return held[given[0] if len(given) == 1 else given]
        except (TypeError, AttributeError):
            # A class that is not generic here, or not known.
            return held

    def _literal(self, parts: list[ast.expr], names: Names) -> Any:
        values = tuple(self.machine.value(part, names) for part in parts)
        known = all(isinstance(each, str | int | bytes | Enum | None) for each in values)
        return typing.Literal[values] if known else Any

    @staticmethod
    def union(left: Any, right: Any) -> Any:
        """Give a class that is one of two."""
        left, right = _as_type(left), _as_type(right)
        if size(left) + size(right) > _LARGEST:
            return Any
        try:
            return operator.or_(left, right)
        except TypeError:
            return Any


def size(type_: Any, seen: dict[int, int] | None = None) -> int:
    """Count the classes that a type is made of, over and over where it has the same twice."""
    seen = {} if seen is None else seen
    if id(type_) not in seen:
        parts = type_ if isinstance(type_, list) else typing.get_args(type_)
        seen[id(type_)] = 1 + sum(size(part, seen) for part in parts)
    return seen[id(type_)]


def _as_type(value: Any) -> Any:
    if isinstance(value, Opaque):
        return opaque_class(value.origin)
    if value is None or isinstance(value, type) or type(value).__module__ in _FORMS:
        return value
    return Any
