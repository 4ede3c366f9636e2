"""Walking a function's body: what it returns and assigns, and under which guards."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from dexnb.graph.guards import IN_HANDLER, Guard, Guards, case_guard, guard_of
from dexnb.graph.source import Tree

_CHANGERS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "__setitem__"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """An expression, the guards that lead to it, and whether an element of it is meant."""

    expression: ast.expr
    guards: Guards
    element: bool = False


@dataclass(slots=True)
class Paths:
    """What a walk through a body has found.

    Args:
        returns: Each returned expression.
        assigned: What each local variable is given, by its name, and attributes as `self.x`.
        functions: Functions defined inside.
        changed: Variables and attributes whose contents are changed in place.
    """

    returns: list[Found] = field(default_factory=list)
    assigned: dict[str, list[Found]] = field(default_factory=dict)
    functions: dict[str, Tree] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)


def walk_paths(tree: Tree) -> Paths:
    """Walk a function's body."""
    walker = _Walker()
    walker.block(tree.body, ())
    walker.paths.changed.update(name for part in tree.body for name in _changed(part))
    return walker.paths


def _changed(statement: ast.stmt) -> Iterator[str]:
    """Give the variables whose contents a statement changes."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attribute)):
                if attribute in _CHANGERS and key_of(value):
                    yield key_of(value)
            case ast.Subscript(value=value, ctx=ast.Store()) if key_of(value):
                yield key_of(value)
            case _:
                pass


def _items(expression: ast.expr) -> list[ast.expr]:
    """Give what stands in a tuple or a list; nothing where a star does."""
    items = expression.elts if isinstance(expression, ast.Tuple | ast.List) else []
    return [] if any(isinstance(item, ast.Starred) for item in items) else items


def _rows(expression: ast.expr) -> list[ast.expr]:
    """Give what a loop over an expression goes through; the expression where it does not say."""
    return _items(expression) or [expression]


def key_of(expression: ast.expr) -> str:
    """Give what a variable, or a variable's attribute, is known by; empty for anything else."""
    match expression:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            return f"{name}.{attribute}"
        case _:
            return ""


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """Give a node and all below it, but nothing of functions and classes defined inside."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _SCOPES):
            yield from inside(child)


class _Walker:
    def __init__(self) -> None:
        self.paths = Paths()
        self._breaks: list[list[Guards]] = []

    def block(self, statements: Sequence[ast.stmt], guards: Guards) -> bool:
        """Walk statements; tell whether the block is always left inside."""
        for statement in statements:
            left, guards = self.statement(statement, guards)
            if left:
                return True
        return False

    def statement(self, node: ast.stmt, guards: Guards) -> tuple[bool, Guards]:
        """Walk one statement; give whether it always leaves, and the guards behind it."""
        self._named(node, guards)
        match node:
            case ast.Return(value=value):
                if value is not None:
                    self.paths.returns.append(Found(value, guards))
                return True, guards
            case ast.Break():
                self._breaks[-1].append(guards)
                return True, guards
            case ast.Raise() | ast.Continue():
                return True, guards
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.paths.functions[node.name] = node
                self._given_inside(node, guards)
                return False, guards
            case ast.If(test=test, body=body, orelse=orelse):
                return self._choice([(guard_of(test), body), (None, orelse)], guards)
            case ast.Match(subject=subject, cases=cases):
                self._captured(subject, cases, guards)
                arms = [(case_guard(subject, case), case.body) for case in cases]
                return self._choice(arms, guards)
            case _:
                return self._other(node, guards)

    def _other(self, node: ast.stmt, guards: Guards) -> tuple[bool, Guards]:
        match node:
            case ast.While():
                return self._while(node, guards)
            case ast.For() | ast.AsyncFor():
                self._assign(node.target, Found(node.iter, guards, element=True))
                self._loop(node.body, guards)
                self.block(node.orelse, guards)
                return False, guards
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        entered = Found(item.context_expr, guards, element=True)
                        self._assign(item.optional_vars, entered)
                # Never taken to leave for good: suppress() and move_on_after() may swallow.
                self.block(node.body, guards)
                return False, guards
            case ast.Try() | ast.TryStar():
                return self._try(node, guards)
            case ast.Assert(test=test):
                return False, (*guards, guard_of(test))
            case _:
                self._assignment(node, guards)
                return False, guards

    def _choice(
        self, arms: Iterable[tuple[Guard | None, Sequence[ast.stmt]]], guards: Guards
    ) -> tuple[bool, Guards]:
        """Walk arms of which the first that fits is taken; an arm without a guard takes the rest.

        Behind them hold the guards of the arms that do not always leave, where only one of them
        or the way past all is open.
        """
        rest: Guards = guards
        open_: list[Guards] = []
        exhausted = False
        for guard, body in arms:
            inner = rest if guard is None else (*rest, guard)
            if not self.block(body, inner):
                open_.append(inner)
            exhausted = exhausted or guard is None
            if guard is not None:
                rest = (*rest, guard.failed)
        if not exhausted:
            open_.append(rest)
        if not open_:
            return True, guards
        return False, open_[0] if len(open_) == 1 else guards

    def _while(self, node: ast.While, guards: Guards) -> tuple[bool, Guards]:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        test = guard_of(node.test)
        breaks = self._loop(node.body, guards if endless else (*guards, test))
        if endless:
            return not breaks, breaks[0] if len(breaks) == 1 else guards
        after = guards if breaks else (*guards, test.failed)
        left = self.block(node.orelse, (*guards, test.failed))
        return left and not breaks, after

    def _loop(self, body: Sequence[ast.stmt], guards: Guards) -> list[Guards]:
        """Walk a loop's body; give the guards of each way to break out of it."""
        self._breaks.append([])
        self.block(body, guards)
        return self._breaks.pop()

    def _try(self, node: ast.Try | ast.TryStar, guards: Guards) -> tuple[bool, Guards]:
        body = self.block(node.body, guards)
        if not body:
            body = self.block(node.orelse, guards)
        caught = (*guards, IN_HANDLER)
        handled = [self.block(handler.body, caught) for handler in node.handlers]
        if self.block(node.finalbody, guards) or (body and all(handled)):
            return True, guards
        return False, caught if body else guards

    def _assignment(self, node: ast.stmt, guards: Guards) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, Found(value, guards))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._assign(target, Found(value, guards))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                read = ast.copy_location(ast.Name(name, ast.Load()), target)
                grown = ast.copy_location(ast.BinOp(read, op, value), node)
                self._assign(target, Found(grown, guards))
            case _:
                pass

    def _assign(self, target: ast.expr, found: Found) -> None:
        match target:
            case ast.Name() | ast.Attribute(value=ast.Name()):
                self.paths.assigned.setdefault(key_of(target), []).append(found)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._unpack(parts, found)
            case ast.Starred(value=inner):
                self._assign(inner, found)
            case _:
                pass

    def _unpack(self, parts: list[ast.expr], found: Found) -> None:
        value = found.expression
        rows = _rows(value) if found.element else [value]
        if all(len(_items(row)) == len(parts) for row in rows):
            for row in rows:
                for part, item in zip(parts, _items(row), strict=True):
                    self._assign(part, Found(item, found.guards))
            return
        for part in parts:
            self._assign(part, Found(value, found.guards, element=True))

    def _captured(self, subject: ast.expr, cases: Sequence[ast.match_case], guards: Guards) -> None:
        """Take what the patterns of a match give names to."""
        for case in cases:
            for node in ast.walk(case.pattern):
                name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
                if name is not None:
                    whole = node is case.pattern
                    found = Found(subject, guards, element=not whole)
                    self.paths.assigned.setdefault(name, []).append(found)

    def _given_inside(self, function: Tree, guards: Guards) -> None:
        """Take note that a function inside gives variables of this one what it likes."""
        for node in ast.walk(function):
            if isinstance(node, ast.Nonlocal):
                hidden = Found(ast.copy_location(ast.Yield(), function), guards)
                for name in node.names:
                    self.paths.assigned.setdefault(name, []).append(hidden)

    def _named(self, node: ast.stmt, guards: Guards) -> None:
        """Take assignments inside the expressions of this statement itself."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr | ast.withitem):
                for each in inside(child):
                    if isinstance(each, ast.NamedExpr):
                        self._assign(each.target, Found(each.value, guards))
                    elif isinstance(each, ast.comprehension):
                        self._assign(each.target, Found(each.iter, guards, element=True))
