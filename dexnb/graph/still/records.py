"""Enums, dataclasses, named tuples and typed dicts of a text: made of their constants alone."""

from __future__ import annotations

import ast
import dataclasses
import enum
import keyword
import typing
from contextlib import suppress
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from dexnb.graph.opaque import Opaque, OpaqueType
from dexnb.graph.still.attributes import STAND_IN
from dexnb.graph.still.values import is_plain

if TYPE_CHECKING:
    from dexnb.graph.still.bodies import ClassBody
    from dexnb.graph.still.machine import Machine

_FAILS = (TypeError, ValueError, AttributeError)


class Records:
    """Makes classes that hold data."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def called(self, callee: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
        """Give what a maker of classes, or of parts of them, gives; `Opaque` for any other call."""
        if callee is enum.auto and not args:
            return enum.auto()
        if callee is dataclasses.field:
            return _Field(keywords)
        if callee is typing.NewType and len(args) == _NAMED and isinstance(args[0], str):
            return typing.NewType(args[0], _class(args[1]))
        if callee is typing.TypeVar and args and isinstance(args[0], str):
            bound = keywords.get("bound")
            known = None if bound is None or isinstance(bound, str) else _class(bound)
            return typing.TypeVar(args[0], bound=known)
        if isinstance(callee, Opaque):
            return callee.called()
        name = getattr(callee, "__qualname__", "")
        module = getattr(callee, "__module__", "")
        return Opaque(f"{module}.{name}").called() if name and module else Opaque()

    def enum(self, node: ast.ClassDef, bases: list[Any], body: ClassBody) -> Any:
        """Make an Enum of its constant members; one with other members is not known."""
        members: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for name, value in body.names.values.items():
            if name.startswith("_"):
                continue
            if isinstance(value, FunctionType | property | staticmethod | classmethod):
                others[name] = value
            elif is_plain(value) or isinstance(value, enum.auto):
                members[name] = value
            else:
                return self._unknown(node, body)
        try:
            kind = type(bases[-1])
            space: Any = kind.__prepare__(node.name, tuple(bases))
            space["__module__"] = body.names.module.name
            space["__qualname__"] = body.names.qualname
            for name, value in {**members, **others}.items():
                space[name] = value
            made = kind(node.name, tuple(bases), space)
        except _FAILS:
            return self._unknown(node, body)
        type.__setattr__(made, STAND_IN, body)
        return made

    def fields(self, node: ast.ClassDef, bases: list[Any], body: ClassBody) -> Any:
        """Make a NamedTuple or a TypedDict of its annotations."""
        noted = {
            name: self.machine.annotations.type(each.annotation, body.names)
            for name, each in body.annotated.items()
        }
        total = not any(
            each.arg == "total" and isinstance(each.value, ast.Constant) and not each.value.value
            for each in node.keywords
        )
        tuple_: Any = NamedTuple
        dict_: Any = TypedDict
        try:
            if NamedTuple in bases:
                made = tuple_(node.name, list(noted.items()))
            else:
                made = dict_(node.name, noted, total=total)
        except _FAILS:
            return self._unknown(node, body)
        made.__module__ = body.names.module.name
        made.__qualname__ = body.names.qualname
        return made

    def dataclass(self, made: Any, decorator: ast.expr, body: ClassBody) -> Any:
        """Make a class of the text a dataclass: its fields, and no method of a dataclass's own."""
        given = {each.arg: each.value for each in getattr(decorator, "keywords", ())}
        later = given.get("kw_only")
        kw_only = isinstance(later, ast.Constant) and later.value is True
        for name, node in body.annotated.items():
            if keyword.iskeyword(name):
                return made
            vars(made)["__annotations__"][name] = _kind(node.annotation)
            default = body.names.values.get(name, dataclasses.MISSING)
            if default is not dataclasses.MISSING:
                type.__setattr__(made, name, _default(default))
        with suppress(*_FAILS):
            dataclasses.dataclass(
                init=False, repr=False, eq=False, match_args=False, kw_only=kw_only
            )(made)
        return made

    @staticmethod
    def _unknown(node: ast.ClassDef, body: ClassBody) -> Any:
        space = {"__module__": body.names.module.name, "__qualname__": body.names.qualname}
        return OpaqueType(node.name, (), {**space, "origin": node.name})


_NAMED = 2


class _Field:
    """What `field(...)` was given."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given


def _default(value: Any) -> Any:
    """Give a default as Python's own maker of dataclasses takes it: it refuses lists and such."""
    if isinstance(value, _Field):
        kept = {
            name: value.given[name]
            for name in ("init", "kw_only")
            if isinstance(value.given.get(name), bool)
        }
        if "default" in value.given:
            return dataclasses.field(default=_default(value.given["default"]), **kept)
        made = "default_factory" in value.given
        return (
            dataclasses.field(default_factory=Opaque, **kept) if made else dataclasses.field(**kept)
        )
    return Opaque() if getattr(type(value), "__hash__", None) is None else value


def _kind(annotation: ast.expr) -> Any:
    """Tell a class variable, for which no field is made, from all others."""
    node = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return typing.ClassVar if name == "ClassVar" else Any


def _class(value: Any) -> Any:
    return value if isinstance(value, type) and not isinstance(value, Enum) else Any
