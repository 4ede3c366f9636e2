"""How long a pause and a call may take, in seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from dexnb.graph.amounts import Amounts
from dexnb.graph.frames import Frame
from dexnb.lint.facts.bindings import bindings_of
from dexnb.lint.facts.bounds import OWN_LIMITS, is_limit, limits, limits_in, makers_of
from dexnb.lint.facts.endless import is_endless
from dexnb.lint.facts.origin import last_of, top_of
from dexnb.lint.facts.spots import Around, CallSpot, Trail

HTTPX = 5.0
"""What httpx waits where it is told nothing."""

_DEADLINES = frozenset({"timeout_at", "deadline"})
"""These name a point in time, which says nothing of how long a call may take."""


class Limits:
    """Reads durations of one method.

    Args:
        frames: The method and its helpers: attributes that they set are no constants.
    """

    def __init__(self, frames: Iterable[Frame]) -> None:
        """Look for what the method itself changes."""
        self._written = frozenset(name for frame in frames for name in _stored(frame))

    def seconds(self, expression: ast.expr, frame: Frame) -> float | None:
        """Give a duration; None where the code does not tell."""
        return Amounts(self._written).of(expression, frame).value

    def pause(self, spot: CallSpot) -> float | None:
        """Give the seconds of a pause; None where the code does not tell."""
        given = pause_given(spot.call)
        return None if given is None else self.seconds(given, spot.frame)

    def call(self, spot: CallSpot, trail: Trail) -> float | None:
        """Give the longest that a call may take; None where nothing says it.

        Args:
            spot: The call.
            trail: What around it counts.
        """
        given = list(_limits(spot, trail))
        found = [
            value
            for expression, frame in given
            if (value := self._limit(expression, frame)) is not None
        ]
        if found:
            return min(found)
        endless = _says(spot.call) or any(is_endless(*each) for each in given)
        return HTTPX if top_of(spot.origin) == "httpx" and not endless else None

    def _limit(self, given: ast.expr, frame: Frame) -> float | None:
        match given:
            case ast.Tuple(elts=parts):
                # To connect and to read, one behind the other.
                each = [self._limit(part, frame) for part in parts]
                return None if None in each else sum(part or 0.0 for part in each)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.endswith(
                "Timeout"
            ):
                inner = _given(given, 0, ("total", "timeout"))
                return None if inner is None else self._limit(inner, frame)
            case _:
                return self.seconds(given, frame)


def limit_around(around: Around, limits_: Limits) -> float | None:
    """Give the time limit that a `with` sets for all inside of it; None where it sets none."""
    found = [
        value
        for call in _made(around)
        if last_of(_callee(call)) not in _DEADLINES
        and (given := _given(call, 0, ("timeout", "delay"))) is not None
        and (value := limits_.seconds(given, around.frame)) is not None
    ]
    return min(found, default=None)


def pause_given(call: ast.Call) -> ast.expr | None:
    """Give what a pause is told to take: the limit where it waits for an event."""
    waits_for = isinstance(call.func, ast.Attribute | ast.Name) and "wait_for" in (
        getattr(call.func, "attr", ""),
        getattr(call.func, "id", ""),
    )
    return _given(call, 1 if waits_for else 0, ("delay", "seconds", "secs", "timeout"))


def _limits(spot: CallSpot, trail: Trail) -> Iterator[tuple[ast.expr, Frame]]:
    """Give what bounds a call: around it, of its own, or of its client."""
    for each in limits_in(trail):
        for call in _made(each):
            position = 1 if each.kind == "bound" else 0
            given = _given(call, position, ("timeout", "delay"))
            if given is not None and last_of(_callee(call)) not in _DEADLINES:
                yield given, each.frame
    own = _given(spot.call, -1, OWN_LIMITS)
    if own is not None:
        yield own, spot.frame
        return
    for made in makers_of(spot):
        client = next(
            (each.value for each in made.keywords if is_limit(each.arg or "", makes=True)), None
        )
        if client is not None:
            yield client, spot.frame
            return


def _made(around: Around) -> Iterator[ast.Call]:
    if isinstance(around.node, ast.Call):
        yield around.node
    elif isinstance(around.node, ast.With | ast.AsyncWith):
        for item in around.node.items:
            made = item.context_expr
            if limits(made, around.frame):
                if isinstance(made, ast.Name):
                    made = bindings_of(around.frame).of(made.id)[0].value
                if isinstance(made, ast.Call):
                    yield made


def _callee(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _says(call: ast.Call) -> bool:
    return _given(call, -1, OWN_LIMITS) is not None


def _given(call: ast.Call, at: int, names: Iterable[str]) -> ast.expr | None:
    """Give an argument by its names, or by its place where that is not below 0."""
    for keyword in call.keywords:
        name = keyword.arg or ""
        if name in names or (at < 0 and name.endswith("_timeout")):
            return keyword.value
    return call.args[at] if 0 <= at < len(call.args) else None


def _stored(frame: Frame) -> Iterator[str]:
    for node in ast.walk(frame.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
