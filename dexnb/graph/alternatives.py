"""All that an expression may stand for: through conditionals, variables, tables and helpers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dexnb.graph.calls import plain_call
from dexnb.graph.frames import Frame
from dexnb.graph.guards import Guards, guard_of
from dexnb.graph.paths import Found, key_of
from dexnb.graph.scope import UNKNOWN, known

MOST = 500
"""Alternatives after which the rest is given up as unknown: no code may stall the reader."""

_VIEWS = ("values", "items", "keys", "copy")


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One thing that an expression may stand for.

    Args:
        expression: Where it was found.
        frame: The function that the expression is of.
        guards: What leads there.
        value: The object itself, where it is known.
    """

    expression: ast.expr
    frame: Frame
    guards: Guards
    value: Any = UNKNOWN


class Alternatives:
    """Expands expressions; one object per reading, because it counts what it gives."""

    def __init__(self) -> None:
        """Start to count."""
        self._given = 0
        self._under_way: set[tuple[int, int, bool]] = set()

    def of(
        self, expression: ast.expr, frame: Frame, guards: Guards = (), *, element: bool = False
    ) -> Iterator[Leaf]:
        """Give all alternatives; with `element`, those of what the expression contains."""
        key = (id(expression), id(frame), element)
        if key in self._under_way or self._given > MOST:
            return
        self._under_way.add(key)
        try:
            for leaf in self._expand(expression, frame, guards, element=element):
                self._given += 1
                yield leaf
        finally:
            self._under_way.discard(key)

    def _expand(
        self, expression: ast.expr, frame: Frame, guards: Guards, *, element: bool
    ) -> Iterator[Leaf]:
        match expression:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                guard = guard_of(test)
                yield from self.of(body, frame, (*guards, guard), element=element)
                yield from self.of(orelse, frame, (*guards, guard.failed), element=element)
            case ast.BoolOp(values=values):
                for value in values:
                    yield from self.of(value, frame, guards, element=element)
            case ast.NamedExpr(value=inner) | ast.Await(value=inner) | ast.Starred(value=inner):
                yield from self.of(inner, frame, guards, element=element)
            case ast.Name() | ast.Attribute() if given := _assigned(key_of(expression), frame):
                for found, home in given:
                    yield from self._each(found, home, guards, element=element)
                yield from self._further(expression, frame, guards, element=element)
            case ast.Call():
                yield from self._call(expression, frame, guards, element=element)
            case _ if element:
                yield from self._elements(expression, frame, guards)
            case _:
                yield from self._plain(expression, frame, guards)

    def _further(
        self, expression: ast.expr, frame: Frame, guards: Guards, *, element: bool
    ) -> Iterator[Leaf]:
        """Give what is put into a variable, and what an attribute is before it is given more."""
        homes = [home for _, home in _assigned(key_of(expression), frame)]
        if element and any(key_of(expression) in home.paths.changed for home in homes):
            yield Leaf(expression, frame, guards)
        value = frame.scope.look(expression)
        if isinstance(expression, ast.Attribute) and value is not UNKNOWN:
            yield from self._live(value, expression, frame, guards, element=element)

    def _live(
        self, value: Any, expression: ast.expr, frame: Frame, guards: Guards, *, element: bool
    ) -> Iterator[Leaf]:
        for each in _items(value) if element else (value,):
            yield Leaf(expression, frame, guards, each)

    def _plain(self, expression: ast.expr, frame: Frame, guards: Guards) -> Iterator[Leaf]:
        value = frame.scope.look(expression)
        if value is UNKNOWN and isinstance(expression, ast.Subscript):
            yield from self.of(expression.value, frame, guards, element=True)
        else:
            yield Leaf(expression, frame, guards, value)

    def _each(
        self, found: Iterable[Found], home: Frame, guards: Guards, *, element: bool
    ) -> Iterator[Leaf]:
        for each in found:
            joined = (*guards, *(guard for guard in each.guards if guard not in guards))
            inner = element or each.element
            yield from self.of(each.expression, home, joined, element=inner)

    def _call(
        self, call: ast.Call, frame: Frame, guards: Guards, *, element: bool
    ) -> Iterator[Leaf]:
        call = plain_call(call, frame)
        helper = frame.follow(call)
        if helper is not None:
            for found in helper.paths.returns:
                joined = (*guards, *found.guards)
                yield from self.of(found.expression, helper, joined, element=element)
            return
        match call.func:
            case ast.Attribute(value=base, attr="get" | "pop") if not element:
                yield from self.of(base, frame, guards, element=True)
                for default in call.args[1:2]:
                    yield from self.of(default, frame, guards)
            case ast.Attribute(value=base, attr=name) if element and name in _VIEWS:
                yield from self.of(base, frame, guards, element=True)
            case ast.Name(id="next" | "iter" | "list" | "tuple" | "sorted" | "reversed" as name):
                for argument in call.args[:1]:
                    yield from self.of(argument, frame, guards, element=True)
                for default in call.args[1:2] if name == "next" else ():
                    yield from self.of(default, frame, guards, element=element)
            case _:
                value = UNKNOWN if element else frame.scope.look(call)
                yield Leaf(call, frame, guards, value)

    def _elements(self, expression: ast.expr, frame: Frame, guards: Guards) -> Iterator[Leaf]:
        match expression:
            case (
                ast.List(elts=items)
                | ast.Tuple(elts=items)
                | ast.Set(elts=items)
                | ast.Dict(values=items)
            ) if items:
                for item in items:
                    yield from self.of(item, frame, guards)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self.of(left, frame, guards, element=True)
                yield from self.of(right, frame, guards, element=True)
            case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item) | ast.SetComp(elt=item):
                yield from self.of(item, frame, guards)
            case _:
                collection = frame.scope.look(expression)
                yield from self._live(collection, expression, frame, guards, element=True)
                if key_of(expression) in frame.paths.changed:
                    yield Leaf(expression, frame, guards)


def _assigned(key: str, frame: Frame) -> list[tuple[list[Found], Frame]]:
    """Give what a variable, a parameter or an attribute is given, each with the frame of those."""
    here: Frame | None = frame
    while here is not None:
        given: list[tuple[list[Found], Frame]] = []
        if key in here.arguments:
            argument, caller = here.arguments[key]
            given.append(([Found(argument, ())], caller))
        if key in here.paths.assigned:
            given.append((here.paths.assigned[key], here))
        if given:
            return given
        here = here.outer
    return []


def _items(collection: Any) -> Iterator[Any]:
    """Give what a live table holds, pairs taken apart; unknown where it is no plain table."""
    if type(collection) is dict:
        collection = [*collection.values(), *collection.keys()]
    if type(collection) not in (list, tuple, set, frozenset):
        yield UNKNOWN
        return
    for item in tuple(collection):
        yield from map(known, item if type(item) is tuple else (item,))
