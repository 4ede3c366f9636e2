"""Expressions of a text, worked out where that needs nothing of the text's own to run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from dexnb.graph.opaque import Opaque
from dexnb.graph.still.attributes import attribute
from dexnb.graph.still.functions import Lambda
from dexnb.graph.still.names import Missing, Names
from dexnb.graph.still.values import MOST_ITEMS, TooMuch, bounded, combined, compared, unary

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine

_FAILS = (TypeError, ValueError, ArithmeticError, LookupError, TooMuch, AttributeError)


class Expressions:
    """Works expressions out."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def value(self, node: ast.expr, names: Names) -> Any:
        """Work an expression out; `Opaque` for what cannot be told."""
        try:
            return self._value(node, names)
        except _FAILS:
            return Opaque()

    def _value(self, node: ast.expr, names: Names) -> Any:
        match node:
            case ast.Constant(value=value):
                return bounded(value)
            case ast.Name(id=name):
                return self._name(name, names)
            case ast.Attribute(value=base, attr=name):
                held = self.machine.value(base, names)
                return attribute(self.machine, held, mangled(name, names), names)
            case ast.Call():
                return self.machine.calls.expression(node, names)
            case ast.Subscript(value=base, slice=key):
                return self._item(base, key, names)
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
                return self._display(node, names)
            case ast.JoinedStr(values=parts):
                return self._text(parts, names)
            case ast.NamedExpr(target=target, value=inner):
                value = self.machine.value(inner, names)
                names.set(target.id, value)
                return value
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, names)
            case _:
                return self._operator(node, names)

    def _name(self, name: str, names: Names) -> Any:
        if name == "__name__":
            return names.module.name
        try:
            return names.get(name)
        except Missing:
            return Opaque()

    def _operator(self, node: ast.expr, names: Names) -> Any:
        value = self.machine.value
        match node:
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._union(value(left, names), value(right, names))
            case ast.BinOp(left=left, op=sign, right=right):
                return combined(value(left, names), sign, value(right, names))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.machine.truth(value(operand, names))
                return Opaque() if truth is None else not truth
            case ast.UnaryOp(op=sign, operand=operand):
                return unary(sign, value(operand, names))
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                return self._compare(value(left, names), sign, value(right, names))
            case ast.BoolOp(op=sign, values=parts):
                return self._either(sign, parts, names)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choice(test, body, orelse, names)
            case ast.Lambda():
                return Lambda(node, names)
            case ast.Starred(value=inner) | ast.Await(value=inner):
                self.machine.value(inner, names)
        return Opaque()

    def _union(self, left: Any, right: Any) -> Any:
        kinds = (type, type(None), type(int | str), type(list[int]))
        if any(isinstance(each, kinds[0]) for each in (left, right)) or (
            isinstance(left, kinds) and isinstance(right, kinds)
        ):
            return self.machine.annotations.union(left, right)
        return combined(left, ast.BitOr(), right)

    @staticmethod
    def _compare(left: Any, sign: ast.cmpop, right: Any) -> Any:
        if isinstance(left, Opaque) or isinstance(right, Opaque):
            return Opaque()
        return compared(left, sign, right)

    def _either(self, sign: ast.boolop, parts: list[ast.expr], names: Names) -> Any:
        stops = isinstance(sign, ast.Or)
        value: Any = Opaque()
        for part in parts:
            value = self.machine.value(part, names)
            truth = self.machine.truth(value)
            if truth is None:
                return Opaque()
            if truth is stops:
                return value
        return value

    def _choice(self, test: ast.expr, body: ast.expr, orelse: ast.expr, names: Names) -> Any:
        truth = self.machine.truth(self.machine.value(test, names))
        if truth is not None:
            return self.machine.value(body if truth else orelse, names)
        # Both are worked out for the problems that they may have.
        self.machine.value(body, names)
        self.machine.value(orelse, names)
        return Opaque()

    def _item(self, base: ast.expr, key: ast.expr, names: Names) -> Any:
        held = self.machine.value(base, names)
        if isinstance(held, Opaque):
            return Opaque(held.origin)
        if type(held) in (dict, list, tuple, str):
            if isinstance(key, ast.Slice):
                parts = (key.lower, key.upper, key.step)
                bounds = [
                    None if each is None else self.machine.value(each, names) for each in parts
                ]
                return held[slice(*bounds)]
            wanted = self.machine.value(key, names)
            return Opaque() if isinstance(wanted, Opaque) else held[wanted]
        return self.machine.annotations.subscript(held, key, names)

    def _display(self, node: ast.expr, names: Names) -> Any:
        match node:
            case ast.Tuple(elts=parts):
                return bounded(tuple(self.items(parts, names)))
            case ast.List(elts=parts):
                made = bounded(self.items(parts, names))
                names.owned.add(id(made))
                return made
            case ast.Set(elts=parts):
                found = self.items(parts, names)
                return Opaque() if any(map(is_hidden, found)) else set(found)
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values, names)
        return Opaque()

    def items(self, parts: list[ast.expr], names: Names) -> list[Any]:
        """Work out what a list of expressions gives, starred ones taken apart.

        Raises:
            TooMuch: It gives too many.
            LookupError: What a star takes apart cannot be told.
        """
        found: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                many = self.machine.value(part.value, names)
                if type(many) not in (list, tuple, set, frozenset, dict):
                    raise LookupError
                found += many
                if len(found) > MOST_ITEMS:
                    raise TooMuch
            else:
                found.append(self.machine.value(part, names))
        return found

    def _dict(self, keys: list[ast.expr | None], values: list[ast.expr], names: Names) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            found = self.machine.value(value, names)
            if key is None:
                if type(found) is not dict:
                    return Opaque()
                made.update(found)
                continue
            name = self.machine.value(key, names)
            if is_hidden(name):
                return Opaque()
            made[name] = found
        return bounded(made)

    def _text(self, parts: list[ast.expr], names: Names) -> Any:
        found = ""
        for part in parts:
            match part:
                case ast.Constant(value=str(text)):
                    found += text
                case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                    value = self.machine.value(inner, names)
                    if type(value) not in (str, int, float, bool):
                        return Opaque()
                    found += str(value)
                case _:
                    return Opaque()
            bounded(found)
        return found

    def _comprehension(self, node: Any, names: Names) -> Any:
        inner = Names({}, "function", names.module, names.unit, names, names.qualname)
        found = bounded(list(self._rounds(node, node.generators, inner)))
        match node:
            case ast.DictComp():
                if any(is_hidden(key) for key, _ in found):
                    return Opaque()
                return dict(found)
            case ast.SetComp():
                return Opaque() if any(map(is_hidden, found)) else set(found)
        names.owned.add(id(found))
        return found

    def _rounds(self, node: Any, parts: list[ast.comprehension], names: Names) -> Iterator[Any]:
        if not parts:
            if isinstance(node, ast.DictComp):
                yield self.machine.value(node.key, names), self.machine.value(node.value, names)
            else:
                yield self.machine.value(node.elt, names)
            return
        part, *rest = parts
        many = items_of(self.machine.value(part.iter, names))
        if part.is_async or many is None:
            raise LookupError
        for item in many:
            self.machine.statements.assign(part.target, item, names)
            truths = [self.machine.truth(self.machine.value(test, names)) for test in part.ifs]
            if None in truths:
                raise LookupError
            if all(truths):
                yield from self._rounds(node, rest, names)


def items_of(value: Any) -> list[Any] | None:
    """Give what a plain collection holds; None for what is none."""
    if type(value) in (list, tuple, set, frozenset, dict, range) and len(value) <= MOST_ITEMS:
        return list(value)
    if isinstance(value, type) and issubclass(value, Enum):
        return list(value)
    return None


def is_hidden(value: Any) -> bool:
    """Tell what cannot be a key: it is not known, or is of a class of the text's."""
    if isinstance(value, tuple):
        return any(map(is_hidden, value))
    plain = (str, int, float, bool, bytes, type(None), frozenset)
    known = type(value) in plain or isinstance(value, Enum | type | FunctionType)
    return not known or isinstance(value, MethodType | ModuleType)


def mangled(name: str, names: Names) -> str:
    """Give the name that an attribute has in a class, where a private one is written otherwise."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    scope: Names | None = names
    while scope is not None:
        if scope.kind == "class":
            return f"_{scope.qualname.rpartition('.')[2].lstrip('_')}{name}"
        scope = scope.outer
    return name
