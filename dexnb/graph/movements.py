"""Which Steps the movements in an expression lead to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from dexnb.flow.decision import StepMovement
from dexnb.flow.resolve import step_type_of
from dexnb.flow.step import Step
from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.frames import Frame, argument
from dexnb.graph.gathered import gathered
from dexnb.graph.guards import Guards, condition_text
from dexnb.graph.scope import UNKNOWN

UNRESOLVED = ""
"""Stands among targets for one that only running the code could tell."""


def movements_of(
    expression: ast.expr, frame: Frame, guards: Guards = (), *, element: bool = False
) -> list[str]:
    """Give the Step types of the movements that an expression may stand for.

    Args:
        expression: A movement, or with `element` a collection of them; a starred one is one.
        frame: The function that it is of.
        guards: What leads there.
        element: Whether the movements are in what the expression gives.
    """
    element = element or isinstance(expression, ast.Starred)
    found: list[str] = []
    for leaf in Alternatives().of(expression, frame, guards, element=element):
        found += _of_leaf(leaf)
    inside = list(_inside(expression, frame))
    if UNRESOLVED in found and inside:
        # It stands in a form that is not followed, such as a call of `map`.
        told = all(_is_plain(call, frame) for call in _calls(expression))
        found = [*(name for name in found if name or not told), *inside]
    return list(dict.fromkeys(found))


def _of_leaf(leaf: Leaf) -> list[str]:
    where = leaf.expression
    if isinstance(leaf.value, StepMovement):
        return [type_of(leaf.value.step)]
    if leaf.value is not UNKNOWN:
        return []
    if isinstance(where, ast.Call) and (made := _made(where, leaf.frame)) is not None:
        return made
    if isinstance(where, ast.Name):
        return _added_to(where.id, leaf.frame) or [UNRESOLVED]
    return [] if _is_empty(where) else [UNRESOLVED]


def _added_to(name: str, frame: Frame) -> list[str]:
    """Give what is put into a local collection bit by bit."""
    found = gathered(name, frame)
    if found is None:
        return [UNRESOLVED]
    return [
        step for put in found for step in movements_of(put.expression, frame, element=put.element)
    ]


def _inside(expression: ast.expr, frame: Frame) -> Iterator[str]:
    for call in _calls(expression):
        yield from _made(call, frame) or ()


def _calls(expression: ast.expr) -> Iterator[ast.Call]:
    return (node for node in ast.walk(expression) if isinstance(node, ast.Call))


def _is_plain(call: ast.Call, frame: Frame) -> bool:
    """Tell a call that makes no movement but those that are written in it."""
    callee = frame.scope.look(call.func)
    return makes_movement(call, frame) or getattr(callee, "__module__", "") == "builtins"


def _made(call: ast.Call, frame: Frame) -> list[str] | None:
    """Give the Steps of a call that makes a movement; None for another call."""
    if not makes_movement(call, frame):
        return None
    step = argument(call, 0, "step")
    steps = [] if step is None else [name for name, _ in steps_of(step, frame, ())]
    return steps or [UNRESOLVED]


def makes_movement(call: ast.Call, frame: Frame) -> bool:
    """Tell a call that makes a movement."""
    callee = frame.scope.look(call.func)
    made = getattr(callee, "__func__", callee)
    return made is StepMovement or made is StepMovement.of.__func__  # type: ignore[attr-defined]


def steps_of(
    expression: ast.expr, frame: Frame, guards: Guards, *, element: bool = False
) -> Iterator[tuple[str, str]]:
    """Give the types of the Step classes that an expression may stand for, each with its guards.

    Args:
        expression: A Step class, or with `element` a collection of them; a starred one is one.
        frame: The function that it is of.
        guards: What leads there.
        element: Whether the classes are in what the expression gives.
    """
    element = element or isinstance(expression, ast.Starred)
    for each in Alternatives().of(expression, frame, guards, element=element):
        condition = condition_text(each.guards)
        if isinstance(each.value, type) and issubclass(each.value, Step):
            yield type_of(each.value), condition
        elif each.value is UNKNOWN:
            # Other live values are a table's keys.
            yield UNRESOLVED, condition


def type_of(step: Any) -> str:
    """Name a Step class, or give `UNRESOLVED`."""
    try:
        name: object = step_type_of(step)
    except Exception:  # noqa: BLE001 - a user's get_step_type() may raise anything
        return UNRESOLVED
    return name if isinstance(name, str) else UNRESOLVED


def _is_empty(expression: ast.expr) -> bool:
    match expression:
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Constant(value=None):
            return True
        case _:
            return False
