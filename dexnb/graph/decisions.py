"""What a Step may decide: each decision in its source, with its targets and its condition."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dexnb.flow import decision as makers
from dexnb.flow.decision import StepDecision
from dexnb.graph.alternatives import Leaf
from dexnb.graph.frames import Frame, argument
from dexnb.graph.movements import UNRESOLVED, movements_of, steps_of, type_of
from dexnb.graph.outcomes import Outcome, cancellations_of, outcomes_of
from dexnb.graph.resources import channels_of


def camel(name: str) -> str:
    """Write a maker's name as the definition graph has it: `go_to` is `goTo`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


_TYPES = {"next": "goTo"}
_MAKERS: dict[Any, str] = {
    function: camel(name)
    for name, function in inspect.getmembers(makers, inspect.isfunction)
    if function.__annotations__.get("return") == "StepDecision"
}


def read_outcomes(frame: Frame) -> list[Outcome]:
    """Give every decision that a Step's method may return, in the order of its source."""
    return outcomes_of(frame, _decided)


def _decided(leaf: Leaf, blank: Outcome) -> Iterator[Outcome]:
    if isinstance(leaf.value, StepDecision):
        yield _of_object(leaf.value, blank)
    elif isinstance(leaf.expression, ast.Call) and leaf.value is not None:
        yield from _of_call(leaf.expression, leaf, blank)
    elif leaf.value is not None:
        yield replace(blank, targets=(UNRESOLVED,))


def _of_object(decision: StepDecision, blank: Outcome) -> Outcome:
    fallback = () if decision.fallback is None else (decision.fallback,)
    return replace(
        blank,
        type=_TYPES.get(decision.kind, camel(decision.kind)),
        targets=tuple(type_of(movement.step) for movement in (*decision.movements, *fallback)),
        checked=tuple(decision.empty_channels),
        cancellations=(
            *((type_of(step), "all") for step in decision.canceling_steps),
            *((type_of(step), "siblings") for step in decision.canceling_sibling_steps),
        ),
    )


def _of_call(call: ast.Call, leaf: Leaf, blank: Outcome) -> Iterator[Outcome]:
    callee = leaf.frame.scope.look(call.func)
    callee = getattr(callee, "__func__", callee)
    if callee is StepDecision:
        yield _of_constructor(call, leaf, blank)
        return
    name = _MAKERS.get(callee) if callable(callee) else None
    if name is None:
        yield replace(blank, targets=(UNRESOLVED,))
    elif callee is makers.go_to:
        yield from _one_of(call, leaf, replace(blank, type=name))
    elif callee is makers.force_complete_if_channels_empty:
        checked = [each for given in call.args[2:] for each in channels_of(given, leaf.frame)]
        targets = _movements(call, leaf, callee)
        yield replace(blank, type=name, targets=targets, checked=tuple(dict.fromkeys(checked)))
    else:
        yield replace(blank, type=name, targets=_movements(call, leaf, callee))


def _of_constructor(call: ast.Call, leaf: Leaf, blank: Outcome) -> Outcome:
    kind = leaf.frame.scope.look(argument(call, 0, "kind") or call)
    if not isinstance(kind, str):
        return replace(blank, targets=(UNRESOLVED,))
    parts = [argument(call, 1, "movements"), argument(call, 5, "fallback")]
    found = [
        name
        for part in parts
        if part is not None
        for name in movements_of(part, leaf.frame, leaf.guards, element=part is parts[0])
    ]
    targets = tuple(dict.fromkeys(found))
    if kind == "next" and not targets:
        targets = (UNRESOLVED,)
    empty = argument(call, 4, "empty_channels")
    checked = [] if empty is None else channels_of(empty, leaf.frame, element=True)
    cancellations = [
        *cancellations_of(argument(call, 6, "canceling_steps"), "all", leaf.frame),
        *cancellations_of(argument(call, 7, "canceling_sibling_steps"), "siblings", leaf.frame),
    ]
    return replace(
        blank,
        type=_TYPES.get(kind, camel(kind)),
        targets=targets,
        checked=tuple(checked),
        cancellations=tuple(cancellations),
    )


def _one_of(call: ast.Call, leaf: Leaf, blank: Outcome) -> Iterator[Outcome]:
    """Give one outcome for each Step that the first argument may stand for."""
    given = argument(call, 0, "step")
    found = [] if given is None else list(steps_of(given, leaf.frame, leaf.guards))
    if not found:
        yield replace(blank, targets=(UNRESOLVED,))
    for step_type, condition in found:
        yield replace(blank, targets=(step_type,), condition=condition)


def _movements(call: ast.Call, leaf: Leaf, callee: Any) -> tuple[str, ...]:
    """Give the Steps that a maker's movements lead to."""
    if callee is makers.go_to_many:
        given: list[ast.expr | None] = list(call.args)
    elif callee is makers.force_complete_if_channels_empty:
        given = [argument(call, 1, "fallback")]
    else:
        return ()
    found = [
        name
        for each in given
        if each is not None
        for name in movements_of(each, leaf.frame, leaf.guards)
    ]
    return tuple(dict.fromkeys(found)) or (UNRESOLVED,)
