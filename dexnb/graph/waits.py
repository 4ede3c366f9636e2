"""What a Step's wait_for may wait for: each Wait in its source, with its conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from dexnb.flow.step import Step
from dexnb.flow.wait import Wait
from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.conditions import Awaited, awaited, of_object
from dexnb.graph.frames import Frame, argument, file_of
from dexnb.graph.guards import condition_text, either

HIDDEN = "waits"
"""Stands where a wait_for says nothing that can be read."""

MOST = 12
SKIP = "skipWaitImmediately"
_KINDS = {
    "skip": SKIP,
    "all_of": "allOf",
    "any_of": "anyOf",
    "any_combination_of": "anyComboOf",
}
_MAKERS = {
    vars(Wait)[name].__func__: kind
    for name, kind in {
        "skip_immediately": SKIP,
        "until": "until",
        "all_of": "allOf",
        "any_of": "anyOf",
        "any_combination_of": "anyComboOf",
    }.items()
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """One Wait in a Step's source.

    Args:
        type: `until`, `anyOf` and so on; `unknown` where a value is returned whose origin cannot be
            followed.
        conditions: What it waits for.
        condition: What leads there, as text.
        line: Where it stands in its file or cell.
        column: The same.
        path: Its file's name; empty for a cell.
    """

    type: str
    conditions: tuple[Awaited, ...]
    condition: str
    line: int
    column: int
    path: str


def read_waits(frame: Frame) -> list[Waiting]:
    """Give every Wait that a wait_for may return, in the order of its source."""
    merged: dict[Waiting, list[str]] = {}
    alternatives = Alternatives()
    for found in frame.paths.returns:
        for leaf in alternatives.of(found.expression, frame, found.guards):
            for waiting in _waits(leaf):
                bare = replace(waiting, condition="")
                merged.setdefault(bare, []).append(waiting.condition)
    made = [replace(bare, condition=either(texts)) for bare, texts in merged.items()]
    return sorted(made, key=lambda waiting: (waiting.line, waiting.column))


def rows_of(waits: list[Waiting]) -> tuple[str, ...]:
    """Give what stands on a Step of its waits: each condition once, the first of them."""
    labels = (each.label for wait in waits for each in wait.conditions if each.kind != "unknown")
    return tuple(islice(dict.fromkeys(labels), MOST)) or (HIDDEN,)


def _waits(leaf: Leaf) -> Iterator[Waiting]:
    where = leaf.expression
    place = (where.lineno, where.col_offset, file_of(leaf.frame))
    blank = Waiting("unknown", (), condition_text(leaf.guards), *place)
    if isinstance(leaf.value, Wait):
        found = tuple(of_object(each, where) for each in leaf.value.conditions)
        yield replace(blank, type=_KINDS[leaf.value.kind], conditions=found)
    elif isinstance(where, ast.Call) and leaf.value is not None:
        yield from _of_call(where, leaf, blank)
    elif leaf.value is not None:
        yield blank


def _of_call(call: ast.Call, leaf: Leaf, blank: Waiting) -> Iterator[Waiting]:
    callee, _ = leaf.frame.callee(call.func)
    callee = getattr(callee, "__func__", callee)
    kind = _MAKERS.get(callee) if callable(callee) else None
    if callee is Step.wait_for:
        yield replace(blank, type=SKIP)
    elif callee is Wait:
        yield _of_constructor(call, leaf, blank)
    elif kind == "until":
        yield from _one_of(call, leaf, blank)
    else:
        found = _conditions(call, leaf) if kind is not None else ()
        yield replace(blank, type=kind or "unknown", conditions=found)


def _one_of(call: ast.Call, leaf: Leaf, blank: Waiting) -> Iterator[Waiting]:
    """Give one Wait for each condition that the argument may stand for."""
    given = argument(call, 0, "condition")
    found = [] if given is None else list(awaited(given, leaf.frame, leaf.guards))
    if not found:
        yield replace(blank, type="until")
    for each in found:
        bare = replace(each, guards="")
        yield replace(blank, type="until", conditions=(bare,), condition=each.guards)


def _conditions(call: ast.Call, leaf: Leaf) -> tuple[Awaited, ...]:
    found = (each for given in call.args for each in awaited(given, leaf.frame))
    return tuple(dict.fromkeys(replace(each, guards="") for each in found))


def _of_constructor(call: ast.Call, leaf: Leaf, blank: Waiting) -> Waiting:
    kind: Any = leaf.frame.scope.look(argument(call, 0, "kind") or call)
    if not isinstance(kind, str) or kind not in _KINDS:
        return blank
    given = argument(call, 1, "conditions")
    found = [] if given is None else awaited(given, leaf.frame, element=True)
    bare = dict.fromkeys(replace(each, guards="") for each in found)
    return replace(blank, type=_KINDS[kind], conditions=tuple(bare))
