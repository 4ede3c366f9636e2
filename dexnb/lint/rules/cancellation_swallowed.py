"""DX306 cancellation-swallowed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.graph.frames import Frame
from dexnb.graph.paths import inside
from dexnb.lint.facts.bindings import dotted
from dexnb.lint.facts.handlers import CANCELLATION, always_raises, caught, suppressed
from dexnb.lint.facts.leaving import leaves
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.spots import SHOWS, Spot
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

_HINT = "catch Exception, or end the handler with raise"


@rule("DX306", "cancellation-swallowed", "error")
def cancellation_swallowed(step: StepSubject) -> Iterator[Remark]:
    """A handler swallows the cancellation of the attempt.

    What:
        Around a sleep, a call or a heartbeat stands a bare `except`, an `except BaseException` or
        `except CancelledError` that does not raise again, a `suppress` of these, or a `finally`
        that leaves. `except Exception` lets a cancellation through, and is fine here. So is
        waiting for a task that the same function has cancelled.

    Why:
        A stopped Flow, a timed out attempt and a worker that shuts down cancel the Step. One that
        goes on polls for nobody, and what it writes is refused.

    Instead:
        Catch what the call may raise, or raise again::

            try:
                await asyncio.sleep(5)
            except asyncio.CancelledError:
                log.info("stopped")
                raise
    """
    for method in step.methods:
        for spot in method.spots.tries:
            if isinstance(spot.node, ast.Try | ast.TryStar) and _holds(spot, method):
                yield from _of_try(spot.node, spot.frame)
        for spot in method.spots.withs:
            yield from _of_with(spot, method)


def _of_try(node: ast.Try | ast.TryStar, frame: Frame) -> Iterator[Remark]:
    taken: set[str] = set()
    for handler in node.handlers:
        names = caught(handler, frame)
        own = (names & CANCELLATION) - taken
        covered = bool(taken & CANCELLATION)
        taken |= names
        if own and not covered and not always_raises(handler) and not _awaits_own(node, frame):
            yield Remark(
                handler,
                frame,
                f"this handler takes {_shown(names)} and does not raise it again: the attempt "
                "cannot be cancelled",
                _HINT,
            )
    if node.finalbody and leaves(node.finalbody) and not isinstance(node.finalbody[-1], ast.Raise):
        message = "this finally leaves by itself, and drops a cancellation that passes through"
        yield Remark(node.finalbody[-1], frame, message, "leave after the try statement")


def _of_with(spot: Spot, method: MethodFacts) -> Iterator[Remark]:
    node = spot.node
    if not isinstance(node, ast.With) or _awaits_own(node, spot.frame):
        return
    for item in node.items:
        if suppressed(item.context_expr, spot.frame) & CANCELLATION and _holds(spot, method):
            message = "this suppress takes cancellations: the attempt cannot be cancelled"
            yield Remark(item.context_expr, spot.frame, message, "suppress what the call raises")


def _shown(names: frozenset[str]) -> str:
    return " and ".join(sorted(names & CANCELLATION))


def _holds(spot: Spot, method: MethodFacts) -> bool:
    """Tell whether a cancellation may come in the body of a statement."""
    body = getattr(spot.node, "body", [])
    waits = ast.Await | ast.AsyncWith | ast.AsyncFor | ast.Yield | ast.YieldFrom
    if any(isinstance(each, waits) for statement in body for each in inside(statement)):
        return True
    return any(
        call.kind in SHOWS
        and any(each.node is spot.node and _inner(each.kind) for each in call.around)
        for call in method.spots.calls
    )


def _inner(kind: str) -> bool:
    return kind in ("try", "with")


def _awaits_own(node: ast.Try | ast.TryStar | ast.With, frame: Frame) -> bool:
    """Tell a wait for a task that the function itself has cancelled."""
    awaited = {
        dotted(each.value)
        for statement in node.body
        for each in inside(statement)
        if isinstance(each, ast.Await)
    }
    cancelled = {
        dotted(call.func.value)
        for call in frame.calls()
        if isinstance(call.func, ast.Attribute) and call.func.attr == "cancel"
    }
    return bool(awaited) and "" not in awaited and awaited <= cancelled
