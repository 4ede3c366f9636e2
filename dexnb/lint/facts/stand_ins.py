"""Calls of objects that answer by themselves: fakes of the systems that a Step asks.

Notebooks and tests have such a class beside the Step. Its methods are read like every helper, and
nothing foreign is found in them; with the real client the same code asks somebody else.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import ModuleType

from dexnb.lint.facts.bindings import dotted
from dexnb.lint.facts.following import Reading
from dexnb.lint.facts.spots import CallKind, CallSpot

OUTSIDE = (CallKind.FOREIGN, CallKind.HIDDEN)


def stand_ins(calls: Sequence[CallSpot]) -> list[CallSpot]:
    """Give the calls that may stand for another system's: nothing foreign is called in them.

    That are methods of other objects, and functions that a coroutine awaits.
    """
    going_out = {part.node for spot in calls if spot.kind in OUTSIDE for part in spot.around}
    return [
        spot
        for spot in calls
        if spot.kind is CallKind.FOLLOWED and spot.node not in going_out and _is_of_another(spot)
    ]


def _is_of_another(spot: CallSpot) -> bool:
    """Tell what the Step holds or was given, or a stub in a notebook, from what is its own."""
    function = spot.call.func
    if isinstance(function, ast.Name):
        return spot.awaited
    if not isinstance(function, ast.Attribute) or isinstance(spot.call, Reading):
        return False
    base = spot.frame.scope.look(function.value)
    named = dotted(function.value) not in ("", "self", "cls")
    return named and not isinstance(base, type | ModuleType)
