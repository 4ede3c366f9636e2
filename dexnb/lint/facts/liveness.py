"""Whether every round of a loop shows that the attempt lives."""

from __future__ import annotations

import ast
from typing import Literal

from dexnb.lint.facts.following import follow
from dexnb.lint.facts.kinds import is_context
from dexnb.lint.facts.leaving import ways_without
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.nodes import within
from dexnb.lint.facts.origin import top_of
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.spots import SHOWS, CallKind, CallSpot

Liveness = Literal["always", "sometimes", "never", "cannot tell"]


def liveness_of(method: MethodFacts, poll: Poll) -> Liveness:
    """Tell how often the rounds of a poll beat or write to a Stream.

    A beat of another task counts; what happens after an error does not.
    """
    shows = list(method.calls(*SHOWS))
    if any(each.kind == "task" for spot in shows for each in spot.around):
        return "always"
    inside = [spot for spot in shows if poll.loop.holds(spot)]
    calls = [spot for spot in method.spots.calls if poll.loop.holds(spot)]
    if inside:
        body = getattr(poll.node, "body", [])
        marked = _Marked(inside, calls)
        head = poll.node.test if isinstance(poll.node, ast.While) else None
        silent = frozenset() if head and marked(head) else ways_without(body, marked)
        return "sometimes" if silent & {"falls", "continues"} else "always"
    if any(may_show(spot) for spot in method.spots.calls):
        return "cannot tell"
    return "never"


def may_show(spot: CallSpot) -> bool:
    """Tell a call that is handed the context, or a method of it, and cannot be read."""
    if spot.kind not in (CallKind.FOREIGN, CallKind.HIDDEN, CallKind.OWN):
        return False
    if top_of(spot.origin) == "dexnb":
        return False
    call = spot.call
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = (node for each in given for node in within(each) if isinstance(node, ast.Name))
    return any(is_context(name, spot.frame) for name in names)


class _Marked:
    """Tells whether code is sure to beat: itself, or by a helper that always does."""

    def __init__(self, shows: list[CallSpot], calls: list[CallSpot]) -> None:
        self._sure: set[ast.AST] = {spot.node for spot in shows}
        # Inner helpers are walked after their callers.
        for spot in reversed(calls):
            if spot.kind is CallKind.FOLLOWED and self._always(spot):
                self._sure.add(spot.node)

    def _always(self, spot: CallSpot) -> bool:
        helper = follow(spot.call, spot.frame)
        if helper is None:
            return False
        return not ways_without(helper.tree.body, self) - {"raises"}

    def __call__(self, node: ast.AST) -> bool:
        return any(each in self._sure for each in within(node))
