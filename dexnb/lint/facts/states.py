"""Which states end a wait: the tests on the ways out of a poll, taken apart."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dexnb.graph.frames import Frame
from dexnb.graph.scope import UNKNOWN
from dexnb.lint.facts.bindings import bindings_of
from dexnb.lint.facts.following import follow
from dexnb.lint.facts.nodes import nodes_of
from dexnb.lint.facts.origin import last_of, origin_of
from dexnb.lint.facts.words import words_in

DEEPEST = 6
NOTHING = "None"
"""The word of a test for None, which says nothing of a state."""


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """One plain test on a way out.

    Args:
        node: It.
        frame: The function that it is of.
        states: The states that it compares with, as texts; none for another test.
        among: Whether the way out is taken when the state is among them; else when it is none.
        kinds: Enum classes that the states are of.
        words: The words of a test that compares with no state.
    """

    node: ast.expr
    frame: Frame
    states: frozenset[str]
    among: bool
    kinds: tuple[type[Enum], ...] = ()
    words: frozenset[str] = frozenset()


def atoms_of(test: ast.AST, frame: Frame, *, passed: bool = True, depth: int = 0) -> Iterator[Atom]:
    """Take a test apart.

    Args:
        test: It, or a case of a `match`.
        frame: The function that it is of.
        passed: Whether the way out is taken when it holds.
        depth: How many names and helpers lie between.
    """
    if depth > DEEPEST:
        return
    match test:
        case ast.match_case(pattern=pattern):
            yield from _of_pattern(pattern, frame)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from atoms_of(inner, frame, passed=not passed, depth=depth)
        case ast.BoolOp(values=values):
            for value in values:
                yield from atoms_of(value, frame, passed=passed, depth=depth)
        case ast.NamedExpr(value=value) | ast.Await(value=value):
            yield from atoms_of(value, frame, passed=passed, depth=depth)
        case ast.expr():
            yield from _of_plain(test, frame, passed=passed, depth=depth)
        case _:
            pass


def _of_plain(test: ast.expr, frame: Frame, *, passed: bool, depth: int) -> Iterator[Atom]:
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield _of_comparison(test, left, op, right, frame, passed=passed)
        case ast.Name(id=name):
            yield from _of_name(test, name, frame, passed=passed, depth=depth)
        case ast.Call() if (helper := follow(test, frame)) is not None:
            yield from _of_helper(helper, passed=passed, depth=depth)
        case _:
            yield Atom(test, frame, frozenset(), passed, words=words_in(test))


def _of_comparison(
    test: ast.expr, left: ast.expr, op: ast.cmpop, right: ast.expr, frame: Frame, *, passed: bool
) -> Atom:
    equal = isinstance(op, ast.Eq | ast.Is | ast.In)
    unequal = isinstance(op, ast.NotEq | ast.IsNot | ast.NotIn)
    states, kinds = _states(right, frame)
    if not states:
        states, kinds = _states(left, frame)
    if isinstance(right, ast.Constant) and right.value is None:
        return Atom(test, frame, frozenset(), passed, words=frozenset({NOTHING}))
    if not states or not (equal or unequal):
        return Atom(test, frame, frozenset(), passed, words=words_in(test))
    return Atom(test, frame, states, passed == equal, kinds)


def _of_name(
    test: ast.Name, name: str, frame: Frame, *, passed: bool, depth: int
) -> Iterator[Atom]:
    bound = [each.value for each in bindings_of(frame).of(name) if not each.effect]
    kinds = ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call | ast.Await
    through = [each for each in bound if isinstance(each, kinds)]
    if not through:
        yield Atom(test, frame, frozenset(), passed, words=words_in(test))
    for value in through:
        yield from atoms_of(value, frame, passed=passed, depth=depth + 1)


def _of_helper(helper: Frame, *, passed: bool, depth: int) -> Iterator[Atom]:
    """Take apart what a helper returns, and the tests that lead to a plain True or False."""
    for node in nodes_of(helper.tree):
        match node:
            case ast.Return(value=ast.Constant()) | ast.Return(value=None):
                pass
            case ast.Return(value=value) if value is not None:
                yield from atoms_of(value, helper, passed=passed, depth=depth + 1)
            case ast.If(test=test, body=[*_, last]):
                holds = _truth(last)
                if holds is not None:
                    yield from atoms_of(test, helper, passed=passed == holds, depth=depth + 1)
            case _:
                pass


def _truth(statement: ast.stmt) -> bool | None:
    match statement:
        case ast.Return(value=ast.Constant(value=value)):
            return bool(value)
        case ast.Raise():
            return True
        case _:
            return None


def _of_pattern(pattern: ast.pattern, frame: Frame) -> Iterator[Atom]:
    match pattern:
        case ast.MatchValue(value=value):
            states, kinds = _states(value, frame)
            yield Atom(value, frame, states, among=True, kinds=kinds)
        case ast.MatchOr(patterns=patterns):
            for each in patterns:
                yield from _of_pattern(each, frame)
        case ast.MatchAs(pattern=inner) if inner is not None:
            yield from _of_pattern(inner, frame)
        case _:
            pass


def _states(side: ast.expr, frame: Frame) -> tuple[frozenset[str], tuple[type[Enum], ...]]:
    """Give the states that one side of a comparison names."""
    if isinstance(side, ast.Tuple | ast.List | ast.Set):
        parts = [_states(part, frame) for part in side.elts]
        names = frozenset().union(*(states for states, _ in parts))
        return names, tuple({kind for _, kinds in parts for kind in kinds})
    value = frame.scope.look(side)
    if value is not UNKNOWN and (made := list(_plain(value))):
        return frozenset(text for text, _ in made), tuple({k for _, k in made if k is not None})
    if isinstance(side, ast.Attribute) and side.attr.isupper():
        return frozenset({last_of(origin_of(side, frame)) or side.attr}), ()
    return frozenset(), ()


def _plain(value: Any) -> Iterator[tuple[str, type[Enum] | None]]:
    if isinstance(value, Enum):
        yield value.name, type(value)
    elif isinstance(value, str):
        yield value, None
    elif isinstance(value, tuple | list | set | frozenset | dict):
        for each in sorted(value, key=str):
            yield from _plain(each)


def members(kinds: Iterable[type[Enum]]) -> frozenset[str]:
    """Name the members of Enum classes."""
    return frozenset(name for kind in kinds for name in kind.__members__)
