"""Statements of a text, followed for what they bind and return."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dexnb.errors import DexnbError
from dexnb.graph.opaque import Opaque
from dexnb.graph.still.attributes import is_stand_in
from dexnb.graph.still.expressions import items_of, mangled
from dexnb.graph.still.names import Names
from dexnb.graph.still.values import MOST_ITEMS

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine

_CHANGERS = frozenset(
    {
        *("append", "extend", "insert", "add", "update", "setdefault"),
        *("remove", "pop", "clear", "discard", "sort", "reverse"),
    }
)
_MOST_ROUNDS = 200
_TYPE_CHECKING = "TYPE_CHECKING"


class Statements:
    """Follows statements."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def run(self, body: Sequence[ast.stmt], names: Names) -> str:
        """Follow statements; tell how they are left for good, or an empty text.

        That is `return`, `raise`, `break` or `continue`.
        """
        for statement in body:
            self.machine.worked()
            try:
                left = self._one(statement, names)
            except DexnbError as error:
                if names.kind == "function":
                    raise
                # Importing the text would fail here.
                self.machine.note("definition", str(error), names, statement)
                self._hide(statement, names)
                continue
            except RecursionError:
                self.machine.note("cannot-tell", "it is nested too deeply", names, statement)
                self._hide(statement, names)
                continue
            if left:
                return left
        return ""

    def _one(self, node: ast.stmt, names: Names) -> str:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                names.set(node.name, self.machine.functions.make(node, names))
            case ast.ClassDef():
                names.set(node.name, self.machine.classes.make(node, names))
            case ast.Import() | ast.ImportFrom():
                self.machine.imports.run(node, names)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Delete():
                self._assignment(node, names)
            case ast.Expr(value=value):
                self._expression(value, names)
            case ast.Return(value=value):
                found = None if value is None else self.machine.value(value, names)
                names.returns.append(found)
                return "return"
            case ast.Raise():
                return "raise"
            case ast.Break():
                return "break"
            case ast.Continue():
                return "continue"
            case _:
                return self._compound(node, names)
        return ""

    def _compound(self, node: ast.stmt, names: Names) -> str:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                return self._if(test, body, orelse, names)
            case ast.For() | ast.AsyncFor():
                return self._for(node, names)
            case ast.While(body=body):
                return self._unknown_rounds(body, names)
            case ast.With() | ast.AsyncWith():
                return self._with(node, names)
            case ast.Try() | ast.TryStar():
                return self._try(node, names)
            case ast.Match(cases=cases):
                return self._one_of([each.body for each in cases], names)
            case _:
                return ""

    def _assignment(self, node: ast.stmt, names: Names) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self.machine.value(value, names)
                for target in targets:
                    self.assign(target, found, names)
            case ast.AnnAssign(target=target, value=value):
                if isinstance(target, ast.Name) and names.kind == "class":
                    self.machine.classes.annotated(target.id, node, names)
                if value is not None:
                    self.assign(target, self.machine.value(value, names), names)
            case ast.AugAssign():
                self._grown(node, names)
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name):
                        names.forget(target.id)

    def _grown(self, node: ast.AugAssign, names: Names) -> None:
        if not isinstance(node.target, ast.Name):
            self.assign(node.target, Opaque(), names)
            return
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        grown = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        names.set(node.target.id, self.machine.value(grown, names))

    def assign(self, target: ast.expr, value: Any, names: Names) -> None:
        """Bind a target to a value."""
        match target:
            case ast.Name(id=name):
                names.set(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._unpack(parts, value, names)
            case ast.Starred(value=inner):
                self.assign(inner, value, names)
            case ast.Attribute(value=base, attr=name):
                self._store(self.machine.value(base, names), mangled(name, names), value)
            case ast.Subscript(value=base):
                self._change(base, names)

    def _unpack(self, parts: list[ast.expr], value: Any, names: Names) -> None:
        items = items_of(value)
        fits = items is not None and len(items) == len(parts)
        plain = not any(isinstance(part, ast.Starred) for part in parts)
        for place, part in enumerate(parts):
            self.assign(part, items[place] if items and fits and plain else Opaque(), names)

    @staticmethod
    def _store(held: Any, name: str, value: Any) -> None:
        if name.startswith("__") and name.endswith("__"):
            return
        if is_stand_in(type(held)):
            vars(held)[name] = value
        elif is_stand_in(held):
            type.__setattr__(held, name, value)

    def _expression(self, node: ast.expr, names: Names) -> None:
        match node:
            case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _CHANGERS:
                self._changed(node, base, name, names)
            case ast.Call() | ast.NamedExpr() | ast.Await():
                self.machine.value(node, names)

    def _changed(self, call: ast.Call, base: ast.expr, name: str, names: Names) -> None:
        """Follow a change of a collection that was made here; any other is not known any more."""
        held = self.machine.value(base, names)
        if type(held) not in (list, dict, set):
            return
        args = [self.machine.value(each, names) for each in call.args]
        starred = any(isinstance(each, ast.Starred) for each in call.args)
        followed = name in ("append", "extend") and type(held) is list and len(args) == 1
        if id(held) not in names.owned or starred or not followed or len(held) > MOST_ITEMS:
            self._change(base, names)
            return
        more = [args[0]] if name == "append" else items_of(args[0])
        if more is None or any(map(_holds_more, more)):
            self._change(base, names)
        else:
            held.extend(more)

    def _change(self, base: ast.expr, names: Names) -> None:
        if isinstance(base, ast.Name) and base.id in names.values:
            names.set(base.id, Opaque())

    def _if(
        self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], names: Names
    ) -> str:
        truth = _static(test, names)
        if truth is None:
            truth = self.machine.truth(self.machine.value(test, names))
        if truth is not None:
            return self.run(body if truth else orelse, names)
        return self._one_of([body, orelse], names)

    def _one_of(self, bodies: list[list[ast.stmt]], names: Names) -> str:
        """Follow each of several ways, of which one is taken."""
        open_: list[Names] = []
        left = ""
        for body in bodies:
            way = names.branch()
            how = self.run(body, way)
            if how:
                left = how
                names.unsure = names.unsure or how in ("break", "continue")
            else:
                open_.append(way)
        if not open_:
            return left
        first, *rest = open_
        for way in rest:
            merged = names.branch()
            merged.join(first, way)
            first = merged
        names.take(first)
        return ""

    def _for(self, node: ast.For | ast.AsyncFor, names: Names) -> str:
        items = items_of(self.machine.value(node.iter, names))
        if items is None or len(items) > _MOST_ROUNDS or isinstance(node, ast.AsyncFor):
            self.assign(node.target, Opaque(), names)
            return self._unknown_rounds(node.body, names)
        before = set(names.values)
        for item in items:
            self.assign(node.target, item, names)
            left = self.run(node.body, names)
            if left in ("return", "raise"):
                return left
            if left == "break":
                break
        if names.unsure:
            self._hide_all(node.body, names, before)
            names.unsure = False
        return self.run(node.orelse, names)

    def _unknown_rounds(self, body: list[ast.stmt], names: Names) -> str:
        """Follow a loop's body once; what it changes is not known."""
        way = names.branch()
        self.run(body, way)
        before = {**names.values}
        names.take(way)
        names.unsure = False
        for name, value in way.values.items():
            if before.get(name) is not value and not isinstance(value, type):
                names.set(name, Opaque())
        return ""

    def _with(self, node: ast.With | ast.AsyncWith, names: Names) -> str:
        for item in node.items:
            value = self.machine.value(item.context_expr, names)
            if item.optional_vars is not None:
                held = value if isinstance(value, Opaque) else Opaque()
                self.assign(item.optional_vars, held, names)
        return self.run(node.body, names)

    def _try(self, node: ast.Try | ast.TryStar, names: Names) -> str:
        """Take the way without an exception; handlers bind what that leaves unbound."""
        left = self.run(node.body, names)
        if not left:
            left = self.run(node.orelse, names)
        for handler in node.handlers:
            way = names.branch()
            self.run(handler.body, way)
            for name, value in way.values.items():
                if name not in names.values:
                    names.set(name, value)
        return self.run(node.finalbody, names) or left

    def _hide(self, statement: ast.stmt, names: Names) -> None:
        """Take the names that a statement would bind for unknown."""
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.set(part.id, Opaque())

    def _hide_all(self, body: list[ast.stmt], names: Names, before: set[str]) -> None:
        for statement in body:
            self._hide(statement, names)
        for name, value in names.values.items():
            if name not in before and type(value) in (list, dict, set):
                names.set(name, Opaque())


def _holds_more(value: Any) -> bool:
    """Tell what may hold the list that it is put into, which would have no end then."""
    held = value if type(value) is tuple else (value,)
    return any(type(each) in (list, dict, set, tuple) for each in held)


def _static(test: ast.expr, names: Names) -> bool | None:
    """Tell a condition that has the same answer in every reading."""
    match test:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name == _TYPE_CHECKING:
            # What only type checkers import, annotations name.
            return True
        case ast.Compare(
            left=ast.Name(id="__name__"),
            ops=[ast.Eq() | ast.NotEq() as sign],
            comparators=[ast.Constant(value="__main__")],
        ):
            # A cell is run; a file is read as it is imported.
            return isinstance(sign, ast.Eq) == bool(names.unit.cell)
        case _:
            return None
