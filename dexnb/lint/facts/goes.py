"""Where a Step's method leads on: each `go_to` and `StepMovement` with its Steps and its input."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dexnb.flow.timer import Timer
from dexnb.graph.frames import argument
from dexnb.graph.movements import steps_of
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.origin import last_of, top_of
from dexnb.lint.facts.spots import Around, CallKind, CallSpot, Spot
from dexnb.lint.facts.step import StepSubject

_MAKERS = frozenset({"go_to", "StepMovement", "of"})


@dataclass(frozen=True, slots=True, eq=False)
class Going:
    """A way on.

    Args:
        spot: The call that makes it.
        targets: The Steps that it may lead to, by type.
        input: What they get; None where the call does not say.
    """

    spot: CallSpot
    targets: frozenset[str]
    input: ast.expr | None


def goings_of(method: MethodFacts) -> Iterator[Going]:
    """Give every way on that a method may take."""
    for spot in method.spots.calls:
        if top_of(spot.origin) != "dexnb" or last_of(spot.origin) not in _MAKERS:
            continue
        step = argument(spot.call, 0, "step")
        if step is not None:
            targets = {name for name, _ in steps_of(step, spot.frame, ())}
            yield Going(spot, frozenset(targets), argument(spot.call, 1, "input"))


def decides_by_asking(method: MethodFacts) -> bool:
    """Tell whether foreign code has a say in what a method decides."""
    return any(method.from_foreign(test.node, test.frame) for test in tests_of(method))


def tests_of(method: MethodFacts) -> Iterator[Around]:
    """Give the tests that lead to what a method returns, conditional expressions included."""
    for spot in method.spots.exits:
        if isinstance(spot.node, ast.Return | ast.Raise):
            yield from (each for each in spot.around if each.kind == "guard")
            yield from _conditions(spot)


def _conditions(spot: Spot) -> Iterator[Around]:
    for node in ast.walk(spot.node):
        if isinstance(node, ast.IfExp):
            yield Around("guard", node.test, spot.frame)


def timers_of(step: StepSubject) -> list[CallSpot]:
    """Give the Timers that a Step's wait_for makes."""
    method = step.wait_for
    if method is None:
        return []
    return [
        spot
        for spot in method.spots.calls
        if spot.frame.scope.look(spot.call.func) is Timer.by_duration
        or spot.origin.endswith("Timer.by_duration")
    ]


def pauses_of(step: StepSubject) -> list[CallSpot]:
    """Give the sleeps of a Step's execute that are in no loop."""
    method = step.execute
    if method is None:
        return []
    pauses = method.calls(CallKind.PAUSE)
    return [spot for spot in pauses if not any(each.kind == "loop" for each in spot.around)]
