"""What the names of a function are given: every binding, with the expression that it comes from.

Beside assignments that are `with ... as`, `for`, walrus, `match` captures, `self.x`, and a method
called for its effect alone (`job.reload()`), which may change what the name holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from dexnb.graph.frames import Frame
from dexnb.graph.source import Tree
from dexnb.lint.facts.nodes import nodes_of

_QUESTIONS = ("execute", "fetch", "load", "poll", "query", "refresh", "reload", "request", "send")


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One expression that a name may come from.

    Args:
        value: The expression.
        statement: What binds, to tell whether it is inside a loop.
        effect: Whether the name is not assigned, but changed by a call of a method of its own.
    """

    value: ast.expr
    statement: ast.AST
    effect: bool = False


@dataclass(slots=True)
class Bindings:
    """All bindings of one function, by name; attributes of `self` as `self.x`."""

    by_name: dict[str, list[Binding]] = field(default_factory=dict)

    def of(self, name: str) -> list[Binding]:
        """Give what a name is bound to; nothing for one that is not bound here."""
        return self.by_name.get(name, [])

    def add(self, target: ast.expr, value: ast.expr, statement: ast.AST) -> None:
        """Bind a target: a name, an attribute, or the parts of a tuple."""
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                whole = isinstance(value, ast.Tuple) and len(value.elts) == len(parts)
                for at, part in enumerate(parts):
                    each = value.elts[at] if whole and isinstance(value, ast.Tuple) else value
                    self.add(part, each, statement)
            case ast.Starred(value=inner):
                self.add(inner, value, statement)
            case ast.Subscript(value=base):
                self._put(dotted(base), Binding(value, statement, effect=True))
            case _:
                self._put(dotted(target), Binding(value, statement))

    def change(self, call: ast.Call, statement: ast.AST) -> None:
        """Note that a call of a method may change what the name before the dot holds."""
        if isinstance(call.func, ast.Attribute) and _refreshes(call, call.func.attr):
            self._put(dotted(call.func.value), Binding(call, statement, effect=True))

    def _put(self, name: str, binding: Binding) -> None:
        if name:
            self.by_name.setdefault(name, []).append(binding)


def _refreshes(call: ast.Call, name: str) -> bool:
    return not call.args or name.startswith(_QUESTIONS)


def dotted(expression: ast.expr) -> str:
    """Write a chain of names as `a.b.c`; empty for any other expression."""
    match expression:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=base, attr=attribute):
            before = dotted(base)
            return f"{before}.{attribute}" if before else ""
        case ast.Await(value=inner):
            return dotted(inner)
        case _:
            return ""


_read: WeakKeyDictionary[Tree, Bindings] = WeakKeyDictionary()


def bindings_of(frame: Frame) -> Bindings:
    """Give the bindings of a function; read once."""
    found = _read.get(frame.tree)
    if found is None:
        found = _read[frame.tree] = Bindings()
        for node in nodes_of(frame.tree):
            _bind(node, found)
    return found


def _bind(node: ast.AST, found: Bindings) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                found.add(target, value, node)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            found.add(target, value, node)
        case ast.AugAssign(target=target, value=value):
            read = ast.copy_location(ast.BinOp(target, node.op, value), node)
            found.add(target, read, node)
        case ast.NamedExpr(target=target, value=value):
            found.add(target, value, node)
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            found.add(target, value, node)
        case _:
            _bind_rest(node, found)


def _bind_rest(node: ast.AST, found: Bindings) -> None:
    match node:
        case ast.comprehension(target=target, iter=value):
            found.add(target, value, node)
        case ast.withitem(optional_vars=target, context_expr=value) if target is not None:
            found.add(target, value, node)
        case (
            ast.Expr(value=ast.Call() as call) | ast.Expr(value=ast.Await(value=ast.Call() as call))
        ):
            found.change(call, node)
        case ast.Match(subject=subject, cases=cases):
            for name in (each for case in cases for each in _captures(case.pattern)):
                found.add(ast.copy_location(ast.Name(name, ast.Store()), node), subject, node)
        case _:
            pass


def _captures(pattern: ast.pattern) -> Iterator[str]:
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is not None:
            yield node.name
