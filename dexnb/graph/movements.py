"""Which Steps the movements in an expression lead to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from dexnb.flow.decision import StepMovement
from dexnb.flow.resolve import step_type_of
from dexnb.flow.step import Step
from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.frames import Frame, reachable
from dexnb.graph.guards import Guards, condition_text
from dexnb.graph.scope import UNKNOWN

UNRESOLVED = ""
"""Stands among targets for one that only running the code could tell."""

_GROWS = ("append", "extend", "insert", "add")


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
        found = [*(name for name in found if name), *inside]
    return list(dict.fromkeys(found))


def movements_in(frame: Frame) -> list[str]:
    """Give the Step types of all movements that a function and its helpers make."""
    found = (_made(call, each) for each in reachable(frame) for call in each.calls())
    return list(dict.fromkeys(name for names in found for name in names or ()))


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
    found: list[str] = []
    for call in frame.calls():
        match call.func:
            case ast.Attribute(value=ast.Name(id=base), attr=method) if (
                base == name and method in _GROWS
            ):
                for added in call.args[-1:]:
                    found += movements_of(added, frame, element=method == "extend")
            case _ if name in _handed(call) and not _only_reads(call, frame):
                return [UNRESOLVED]
    return found


def _handed(call: ast.Call) -> set[str]:
    """Name the variables that a call is given."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    plain = (each.value if isinstance(each, ast.Starred) else each for each in given)
    return {each.id for each in plain if isinstance(each, ast.Name)}


def _only_reads(call: ast.Call, frame: Frame) -> bool:
    """Tell a call that leaves a collection as it is: of a built-in, or of a decision's maker."""
    module = getattr(frame.scope.look(call.func), "__module__", "")
    return module in ("builtins", StepMovement.__module__)


def _inside(expression: ast.expr, frame: Frame) -> Iterator[str]:
    for node in ast.walk(expression):
        if isinstance(node, ast.Call):
            yield from _made(node, frame) or ()


def _made(call: ast.Call, frame: Frame) -> list[str] | None:
    """Give the Steps of a call that makes a movement; None for another call."""
    callee = frame.scope.look(call.func)
    made = getattr(callee, "__func__", callee)
    if made is not StepMovement and made is not StepMovement.of.__func__:  # type: ignore[attr-defined]
        return None
    step = argument(call, 0, "step")
    steps = [] if step is None else [name for name, _ in steps_of(step, frame, ())]
    return steps or [UNRESOLVED]


def steps_of(expression: ast.expr, frame: Frame, guards: Guards) -> Iterator[tuple[str, str]]:
    """Give the types of the Step classes that an expression may stand for, each with its guards."""
    for each in Alternatives().of(expression, frame, guards):
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


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """Give an argument by its name or its place, if it is given plainly."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position < len(call.args) and not isinstance(call.args[position], ast.Starred):
        return call.args[position]
    return None


def _is_empty(expression: ast.expr) -> bool:
    match expression:
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Constant(value=None):
            return True
        case _:
            return False
