"""Where Steps lead when they fail for good: by their own options, and by those of a movement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise
from typing import Any

from dexnb.flow.decision import StepDecision, StepMovement
from dexnb.flow.options import Recovery, StepOptions
from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.frames import Frame, argument
from dexnb.graph.movements import UNRESOLVED, makes_movement, steps_of, type_of
from dexnb.graph.scope import UNKNOWN
from dexnb.graph.visits import own_nodes

Route = tuple[str, str]
"""The Step that fails, and the one that it leads to; `UNRESOLVED` for what cannot be told."""

DEEPEST = 5
"""How many options inside options are followed."""

_LEADS = "on_execute_failure_proceed_to"


def settings_routes(step_type: str, settings: Any) -> Iterator[Route]:
    """Give where resolved settings lead, and where those lead that they give on."""
    for _ in range(DEEPEST):
        target = settings.get("recovery") if settings else None
        if target is None:
            return
        yield step_type, target
        step_type, settings = target, settings.get("recovery_options")


def read_routes(visited: list[Frame]) -> list[Route]:
    """Give where the options lead that a method gives to the Steps that it goes to.

    Args:
        visited: What `visits` gives for it.
    """
    found = dict.fromkeys(route for each in visited for route in _in(each))
    return list(found)


def _in(frame: Frame) -> Iterator[Route]:
    for node in own_nodes(frame):
        if isinstance(node, ast.Call) and makes_movement(node, frame):
            yield from _of_movement(node, frame)
        elif isinstance(node, ast.Name | ast.Attribute):
            yield from _of_object(frame.scope.look(node))


def _of_movement(call: ast.Call, frame: Frame) -> Iterator[Route]:
    step, options = argument(call, 0, "step"), argument(call, 2, "options")
    if step is None or options is None:
        return
    targets = list(dict.fromkeys(_of_options(options, frame)))
    for name, _ in steps_of(step, frame, ()):
        for path in targets:
            yield from _along((name, *path))


def _along(path: tuple[str, ...]) -> Iterator[Route]:
    return pairwise(path)


def _of_object(value: Any) -> Iterator[Route]:
    movements: tuple[Any, ...] = ()
    if isinstance(value, StepMovement):
        movements = (value,)
    elif isinstance(value, StepDecision):
        movements = (*value.movements, *((value.fallback,) if value.fallback else ()))
    for movement in movements:
        path = _of_live(movement.options)
        if path:
            yield from _along((type_of(movement.step), *path))


def _of_live(options: Any) -> tuple[str, ...]:
    """Name the Steps that options lead to, one after the other."""
    path: list[str] = []
    while isinstance(options, StepOptions) and options.recovery is not None:
        path.append(type_of(options.recovery.step))
        options = options.recovery.options
        if len(path) >= DEEPEST:
            break
    return tuple(path)


def _of_options(expression: ast.expr, frame: Frame, depth: int = 0) -> Iterator[tuple[str, ...]]:
    for leaf in Alternatives().of(expression, frame):
        if leaf.value is not UNKNOWN:
            path = _of_live(leaf.value)
            if path:
                yield path
        elif isinstance(leaf.expression, ast.Call) and depth < DEEPEST:
            yield from _of_call(leaf.expression, leaf, depth + 1)
        else:
            yield (UNRESOLVED,)


def _of_call(call: ast.Call, leaf: Leaf, depth: int) -> Iterator[tuple[str, ...]]:
    callee = leaf.frame.scope.look(call.func)
    leads = isinstance(call.func, ast.Attribute) and call.func.attr == _LEADS
    if leads or callee is Recovery:
        yield from _to(argument(call, 0, "step"), argument(call, 1, "options"), leaf, depth)
    elif callee is StepOptions:
        last = len(fields(StepOptions))
        given = argument(call, last, "recovery")
        if given is not None:
            yield from _of_options(given, leaf.frame, depth)
    else:
        yield (UNRESOLVED,)


def _to(
    step: ast.expr | None, options: ast.expr | None, leaf: Leaf, depth: int
) -> Iterator[tuple[str, ...]]:
    names = [] if step is None else [name for name, _ in steps_of(step, leaf.frame, ())]
    onwards = [()] if options is None else [(), *_of_options(options, leaf.frame, depth)]
    for name in names or [UNRESOLVED]:
        for path in onwards:
            yield (name, *path)
