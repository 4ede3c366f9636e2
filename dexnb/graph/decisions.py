"""What a Step may decide: each decision in its source, with its targets and its condition."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dexnb.flow import decision as makers
from dexnb.flow.decision import StepDecision
from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.frames import Frame
from dexnb.graph.guards import condition_text, either
from dexnb.graph.movements import UNRESOLVED, argument, movements_of, steps_of, type_of

_CANCELING = ("with_canceling_steps", "with_canceling_sibling_steps")


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


def _outcomes(leaf: Leaf, known: frozenset[ast.expr] = frozenset()) -> Iterator[Outcome]:
    where = leaf.expression
    if (base := _cancelled(where)) is not None:
        # What is cancelled beside it changes nothing in what follows.
        if where not in known:
            for inner in Alternatives().of(base, leaf.frame, leaf.guards):
                yield from _outcomes(inner, known | {where})
        return
    blank = Outcome("unknown", (), condition_text(leaf.guards), where.lineno, where.col_offset)
    if isinstance(leaf.value, StepDecision):
        yield _of_object(leaf.value, blank)
    elif isinstance(where, ast.Call) and leaf.value is not None:
        yield from _of_call(where, leaf, blank)
    elif leaf.value is not None:
        yield replace(blank, targets=(UNRESOLVED,))


def _cancelled(where: ast.expr) -> ast.expr | None:
    """Give the decision to which a call only adds what it cancels."""
    match where:
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _CANCELING:
            return base
        case _:
            return None


def _of_object(decision: StepDecision, blank: Outcome) -> Outcome:
    fallback = () if decision.fallback is None else (decision.fallback,)
    targets = tuple(type_of(movement.step) for movement in (*decision.movements, *fallback))
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
    return replace(blank, type=_TYPES.get(kind, camel(kind)), targets=targets)


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
