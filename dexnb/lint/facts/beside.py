"""The heartbeats of another task: which of them go on, and how far they are apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.lint.facts.bindings import bindings_of, dotted
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.nodes import within
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.spots import SHOWS, Around, CallKind, CallSpot


def beats_aside(method: MethodFacts, poll: Poll) -> bool:
    """Tell whether another task beats again and again, so that no round of a poll has to."""
    return any(True for _ in beating_loops(method, poll))


def beating_loops(method: MethodFacts, poll: Poll) -> Iterator[Around]:
    """Give the loops that beat in another task than a poll, each once.

    A task that beats once and ends is none, and neither is one that is cancelled at once.
    """
    given = {poll.node}
    for spot in method.calls(*SHOWS):
        tasks = [at for at, each in enumerate(spot.around) if each.kind == "task"]
        if not tasks or _is_cancelled(spot.around[tasks[-1]], method):
            continue
        for each in spot.around[tasks[-1] + 1 :]:
            if each.kind == "loop" and each.node not in given:
                given.add(each.node)
                yield each


def pauses_in(loop: Around, method: MethodFacts) -> list[CallSpot]:
    """Give the sleeps of such a loop."""
    return [spot for spot in method.calls(CallKind.PAUSE) if _has(spot, loop)]


def _has(spot: CallSpot, loop: Around) -> bool:
    return any(each.node is loop.node for each in spot.around)


def _is_cancelled(task: Around, method: MethodFacts) -> bool:
    """Tell a task that is cancelled before anything is asked: not behind the polls, nor in them."""
    if not method.polls:
        return False
    names = {
        name
        for name, bound in bindings_of(task.frame).by_name.items()
        if any(task.node in within(each.value) for each in bound)
    }
    first = min(_line(poll.node) for poll in method.polls)
    return any(
        isinstance(spot.call.func, ast.Attribute)
        and spot.call.func.attr == "cancel"
        and dotted(spot.call.func.value) in names
        and spot.frame is task.frame
        and _line(spot.node) < first
        and not {each.kind for each in spot.around} & {"finally", "handler", "guard"}
        for spot in method.spots.calls
    )


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
