"""What a Step may decide: each decision in its source, with its targets and its condition."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dexnb.flow import decision as makers
from dexnb.flow.decision import StepDecision, StepMovement
from dexnb.flow.resolve import step_type_of
from dexnb.flow.step import Step
from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.frames import Frame
from dexnb.graph.guards import condition_text, either
from dexnb.graph.scope import UNKNOWN

UNRESOLVED = ""
"""Stands among targets for one that only running the code could tell."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One decision in a Step's source.

    Args:
        type: `goTo`, `gracefulComplete` and so on; `unknown` where a value is returned whose
            origin cannot be followed.
        targets: Step types, `UNRESOLVED` among them where one cannot be told.
        condition: What leads there, as text.
        line: Where it stands in its file or cell.
        column: The same.
    """

    type: str
    targets: tuple[str, ...]
    condition: str
    line: int
    column: int


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
    merged: dict[Outcome, list[str]] = {}
    reader = Alternatives()
    for found in frame.paths.returns:
        for leaf in reader.of(found.expression, frame, found.guards):
            for outcome in _outcomes(leaf):
                bare = replace(outcome, condition="")
                merged.setdefault(bare, []).append(outcome.condition)
    made = [replace(bare, condition=either(texts)) for bare, texts in merged.items()]
    return sorted(made, key=lambda outcome: (outcome.line, outcome.column, outcome.targets))


def _outcomes(leaf: Leaf) -> Iterator[Outcome]:
    where = leaf.expression
    blank = Outcome("unknown", (), condition_text(leaf.guards), where.lineno, where.col_offset)
    if isinstance(leaf.value, StepDecision):
        yield _of_object(leaf.value, blank)
    elif isinstance(where, ast.Call) and leaf.value is not None:
        yield from _of_call(where, leaf, blank)
    elif leaf.value is not None:
        yield replace(blank, targets=(UNRESOLVED,))


def _of_object(decision: StepDecision, blank: Outcome) -> Outcome:
    targets = tuple(_type_of(movement.step) for movement in decision.movements)
    return replace(blank, type=_TYPES.get(decision.kind, camel(decision.kind)), targets=targets)


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
    else:
        targets = tuple(dict.fromkeys(_movements(call, leaf)))
        yield replace(blank, type=name, targets=targets)


def _of_constructor(call: ast.Call, leaf: Leaf, blank: Outcome) -> Outcome:
    kind = leaf.frame.scope.look(_argument(call, 0, "kind") or call)
    if not isinstance(kind, str):
        return replace(blank, targets=(UNRESOLVED,))
    targets = tuple(dict.fromkeys(_movements(call, leaf)))
    if kind == "next" and not targets:
        targets = (UNRESOLVED,)
    return replace(blank, type=_TYPES.get(kind, camel(kind)), targets=targets)


def _one_of(call: ast.Call, leaf: Leaf, blank: Outcome) -> Iterator[Outcome]:
    """Give one outcome for each Step that the first argument may stand for."""
    argument = _argument(call, 0, "step")
    found = [] if argument is None else list(_steps(argument, leaf))
    if not found:
        yield replace(blank, targets=(UNRESOLVED,))
    for step_type, condition in found:
        yield replace(blank, targets=(step_type,), condition=condition)


def _movements(call: ast.Call, leaf: Leaf) -> Iterator[str]:
    """Give the Steps of all movements that stand in a call's arguments."""
    for node in ast.walk(call):
        if node is call or not isinstance(node, ast.Call):
            continue
        callee = leaf.frame.scope.look(node.func)
        made = getattr(callee, "__func__", callee)
        if made is StepMovement or made is StepMovement.of.__func__:  # type: ignore[attr-defined]
            argument = _argument(node, 0, "step")
            steps = [] if argument is None else [step for step, _ in _steps(argument, leaf)]
            yield from steps or [UNRESOLVED]


def _steps(expression: ast.expr, leaf: Leaf) -> Iterator[tuple[str, str]]:
    for each in Alternatives().of(expression, leaf.frame, leaf.guards):
        condition = condition_text(each.guards)
        if isinstance(each.value, type) and issubclass(each.value, Step):
            yield _type_of(each.value), condition
        elif _may_be_step(each):
            yield UNRESOLVED, condition


def _may_be_step(leaf: Leaf) -> bool:
    """Tell whether something that is not known may be a Step; other live values are table keys."""
    return leaf.value is UNKNOWN


def _type_of(step: Any) -> str:
    try:
        name: object = step_type_of(step)
    except Exception:  # noqa: BLE001 - a user's get_step_type() may raise anything
        return UNRESOLVED
    return name if isinstance(name, str) else UNRESOLVED


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position < len(call.args) and not isinstance(call.args[position], ast.Starred):
        return call.args[position]
    return None
