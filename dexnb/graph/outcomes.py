"""What a method may return: each outcome in its source, and what it cancels beside it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.frames import Frame, file_of
from dexnb.graph.guards import condition_text, either
from dexnb.graph.movements import steps_of

Cancellation = tuple[str, str]
"""A Step type, and `all` or `siblings`."""

_SCOPES = {"with_canceling_steps": "all", "with_canceling_sibling_steps": "siblings"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One decision in the source of a Step or an RPC.

    Args:
        type: `goTo`, `gracefulComplete` and so on, `rpcResult` for RPCs; `unknown` where a value is
            returned whose origin cannot be followed.
        targets: Step types, `UNRESOLVED` among them where one cannot be told.
        condition: What leads there, as text.
        line: Where it stands in its file or cell.
        column: The same.
        path: Its file's name; empty for a cell.
        checked: The Channels that must be empty; None among them for one that cannot be told.
        cancellations: What it cancels first, on one way to it at least.
    """

    type: str
    targets: tuple[str, ...]
    condition: str
    line: int
    column: int
    path: str = ""
    checked: tuple[Any, ...] = ()
    cancellations: tuple[Cancellation, ...] = ()


Reader = Callable[[Leaf, Outcome], Iterator[Outcome]]
"""Gives what a returned expression stands for; the outcome that it gets has its place only."""


def outcomes_of(frame: Frame, reader: Reader) -> list[Outcome]:
    """Give every outcome that a method may return, in the order of its source."""
    merged: dict[Outcome, tuple[list[str], dict[Cancellation, None]]] = {}
    alternatives = Alternatives()
    for found in frame.paths.returns:
        for leaf in alternatives.of(found.expression, frame, found.guards):
            for outcome in _outcomes(leaf, reader):
                bare = replace(outcome, condition="", cancellations=())
                conditions, cancellations = merged.setdefault(bare, ([], {}))
                conditions.append(outcome.condition)
                cancellations.update(dict.fromkeys(outcome.cancellations))
    made = [
        replace(bare, condition=either(conditions), cancellations=tuple(cancellations))
        for bare, (conditions, cancellations) in merged.items()
    ]
    return sorted(made, key=lambda outcome: (outcome.line, outcome.column, outcome.targets))


def _outcomes(
    leaf: Leaf, reader: Reader, known: frozenset[ast.expr] = frozenset()
) -> Iterator[Outcome]:
    where = leaf.expression
    match where:
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _SCOPES:
            if where in known:
                return
            added = cancellations_of(where.args, _SCOPES[name], leaf.frame)
            for inner in Alternatives().of(base, leaf.frame, leaf.guards):
                for outcome in _outcomes(inner, reader, known | {where}):
                    yield replace(outcome, cancellations=_joined(outcome.cancellations, added))
        case _:
            text = condition_text(leaf.guards)
            place = (where.lineno, where.col_offset, file_of(leaf.frame))
            yield from reader(leaf, Outcome("unknown", (), text, *place))


def _joined(first: tuple[Cancellation, ...], more: list[Cancellation]) -> tuple[Cancellation, ...]:
    """Join what is cancelled; a Step that is cancelled everywhere is so among siblings too."""
    every = {step for step, scope in (*first, *more) if scope == "all"}
    both = dict.fromkeys((*first, *more))
    return tuple(each for each in both if each[1] == "all" or each[0] not in every)


def cancellations_of(
    given: ast.expr | list[ast.expr] | None, scope: str, frame: Frame
) -> list[Cancellation]:
    """Give what is cancelled by Steps given one by one, or as a collection of them."""
    if given is None:
        return []
    parts = given if isinstance(given, list) else [given]
    element = not isinstance(given, list)
    steps = (steps_of(part, frame, (), element=element) for part in parts)
    return list(dict.fromkeys((name, scope) for found in steps for name, _ in found))
