"""Which calls an expression comes from: through names, `self`, parameters and helpers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dexnb.graph.frames import Frame
from dexnb.lint.facts.bindings import Binding, bindings_of, dotted
from dexnb.lint.facts.following import follow, read_as_call, threaded
from dexnb.lint.facts.nodes import nodes_of, within

MOST = 2000
"""Expressions after which the rest is left out."""


class Sources:
    """Collects what expressions come from; each expression once.

    Args:
        frames: All functions of the Step that were read: any of them may set an attribute of self.
    """

    def __init__(self, frames: Iterable[Frame]) -> None:
        """Start with nothing."""
        self._frames = tuple(frames)
        self.calls: set[ast.Call] = set()
        self.names: set[str] = set()
        self.texts: set[str] = set()
        self._seen: set[tuple[ast.AST, Frame]] = set()
        self._named: set[tuple[str, Frame]] = set()
        self._waiting: list[tuple[ast.AST, Frame]] = []

    def add(self, expression: ast.AST, frame: Frame) -> Sources:
        """Take in an expression and all that it comes from."""
        self._take(expression, frame)
        while self._waiting:
            each, home = self._waiting.pop()
            for node in nodes_of(each):
                if isinstance(node, ast.Call):
                    self.calls.add(node)
                    self._helper(node, home)
                elif isinstance(node, ast.Name | ast.Attribute):
                    self._read(node, home)
                    self._name(dotted(node), home)
        return self

    def _take(self, expression: ast.AST, frame: Frame) -> None:
        if (expression, frame) not in self._seen and len(self._seen) <= MOST:
            self._seen.add((expression, frame))
            self._waiting.append((expression, frame))

    def _name(self, name: str, frame: Frame) -> None:
        if not name or (name, frame) in self._named:
            return
        self._named.add((name, frame))
        self.texts.add(name)
        root, _, rest = name.partition(".")
        if root == "self" and rest:
            self._attribute(name)
            return
        if rest:
            return  # its root is met as a name of its own
        self.names.add(name)
        bound = bindings_of(frame).of(name)
        made = any(not binding.effect for binding in bound)
        for binding in bound:
            # What a call does to a client that was handed in says nothing about its answers.
            if made or not binding.effect:
                self._take(binding.value, frame)
        if name in frame.arguments:
            self._take(*frame.arguments[name])
        elif frame.outer is not None and not bound:
            self._name(name, frame.outer)

    def _attribute(self, name: str) -> None:
        """Take in what any function of the Step gives to an attribute of `self`."""
        self.names.add(name)
        for each in self._frames:
            for binding in bindings_of(each).of(name):
                if not binding.effect:
                    self._take(binding.value, each)

    def _read(self, node: ast.Name | ast.Attribute, frame: Frame) -> None:
        """Take in what a property of the user's gives."""
        call = read_as_call(node, frame) if isinstance(node, ast.Attribute) else None
        if call is not None:
            self.calls.add(call)
            self._helper(call, frame)

    def _changes(self, helper: Frame) -> None:
        """Take in what a method gives to the object that it is of: `job.refresh()`."""
        for name, bound in bindings_of(helper).by_name.items():
            if name.startswith("self."):
                for each in bound:
                    self._take(each.value, helper)

    def _helper(self, call: ast.Call, frame: Frame) -> None:
        """Take in all that a helper returns, and the tests that lead to its returns."""
        made = threaded(call, frame)
        if made is not None:
            self.calls.update(node for node in ast.walk(made) if isinstance(node, ast.Call))
        helper = follow(made or call, frame)
        if helper is None:
            return
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) != "self":
            self._changes(helper)
        for node in nodes_of(helper.tree):
            match node:
                case ast.Return(value=value) | ast.Yield(value=value) if value is not None:
                    self._take(value, helper)
                case ast.YieldFrom(value=value):
                    self._take(value, helper)
                case ast.If(test=test) | ast.While(test=test):
                    self._take(test, helper)
                case ast.Match(subject=subject):
                    self._take(subject, helper)
                case _:
                    pass


def names_in(expression: ast.AST) -> Iterator[str]:
    """Give the chains of names in an expression, the longest of each."""
    if isinstance(expression, ast.Attribute | ast.Name) and dotted(expression):
        yield dotted(expression)
        return
    for child in ast.iter_child_nodes(expression):
        yield from names_in(child)


def bound_inside(name: str, loop: ast.AST, frame: Frame) -> list[Binding]:
    """Give the bindings of a name that a loop makes itself."""
    own = within(loop)
    return [each for each in bindings_of(frame).of(name) if each.statement in own]


def carried(loop: ast.AST, frame: Frame) -> frozenset[str]:
    """Name what one round of a loop leaves to the next: read in it, and bound in it and before."""
    own = within(loop)
    read = {name for node in own if isinstance(node, ast.expr) for name in _loaded(node)}
    return frozenset(name for name in read if _is_carried(name, own, frame))


def _is_carried(name: str, own: frozenset[ast.AST], frame: Frame) -> bool:
    bound = bindings_of(frame).of(name)
    inside_ = any(each.statement in own and not each.effect for each in bound)
    given = name in {each.arg for each in ast.walk(frame.tree.args) if isinstance(each, ast.arg)}
    attribute = name.startswith("self.")
    return inside_ and (given or attribute or any(each.statement not in own for each in bound))


def _loaded(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
        name = dotted(node)
        if name:
            yield name
