"""The values that a Step's heartbeats keep, and whether an attempt reads them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dexnb.graph.alternatives import Alternatives, Leaf
from dexnb.graph.frames import Frame, argument
from dexnb.graph.scope import UNKNOWN
from dexnb.lint.facts.following import dotted_name
from dexnb.lint.facts.liveness import may_show
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.spots import CallKind, CallSpot

READS = "get_last_heartbeat_value"
HAS = "has_last_heartbeat_value"


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A heartbeat with a value.

    Args:
        spot: It.
        value: What it keeps.
        same: What tells a value that is always the same from others; empty for any other.
    """

    spot: CallSpot
    value: ast.expr
    same: str


def kept_by(method: MethodFacts) -> Iterator[Kept]:
    """Give the heartbeats of a method that keep something; one without a value keeps nothing."""
    for spot in method.calls(CallKind.BEAT):
        value = argument(spot.call, 0, "value")
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield Kept(spot, value, _same(value, spot.frame))


def calls_of(method: MethodFacts, name: str) -> bool:
    """Tell whether a method asks its context for something, also by way of helpers."""
    found = any(dotted_name(spot.call.func) == name for spot in method.spots.calls)
    return found or any(
        isinstance(node, ast.Attribute) and node.attr == name
        for frame in method.frames
        for node in ast.walk(frame.tree)
    )


def hands_on(method: MethodFacts) -> bool:
    """Tell whether code that cannot be read gets the context."""
    return any(may_show(spot) for spot in method.spots.calls)


def _same(value: ast.expr, frame: Frame) -> str:
    """Tell a value that is the same in every round: a literal, a constant or an Enum's member."""
    found = {_constant(leaf) for leaf in Alternatives().of(value, frame)}
    return next(iter(found)) if len(found) == 1 else ""


def _constant(leaf: Leaf) -> str:
    match leaf.expression:
        case ast.JoinedStr(values=parts) if all(isinstance(part, ast.Constant) for part in parts):
            return ast.dump(leaf.expression)
        case ast.Constant(value=value) if value is not None:
            return _plain(value)
        case ast.Name(id=name) if name not in leaf.frame.scope.locals:
            return _plain(leaf.value)
        case ast.Attribute() if isinstance(leaf.value, Enum):
            return _plain(leaf.value)
        case _:
            return ""


def _plain(value: Any) -> str:
    if value is UNKNOWN or not isinstance(value, str | int | float | Enum):
        return ""
    return str(value) if isinstance(value, Enum) else repr(value)
