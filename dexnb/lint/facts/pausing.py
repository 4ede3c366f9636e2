"""Whether a poll may ask again without a pause though it has one."""

from __future__ import annotations

import ast
from typing import Literal

from dexnb.lint.facts.leaving import ways_without
from dexnb.lint.facts.liveness import Marked
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.sources import carried, names_in
from dexnb.lint.facts.spots import Spot

Pausing = Literal["always", "after errors alone", "sometimes"]


def pausing_of(method: MethodFacts, poll: Poll) -> Pausing:
    """Tell how often the rounds of a poll that has a pause make it.

    Rounds that are skipped for another reason than the answer say nothing: a first round often
    does not sleep, and a state that has changed is often asked for again at once.
    """
    inside = [spot for spot in poll.pauses if poll.loop.holds(spot)]
    if len(inside) < len(poll.pauses):
        return "always"
    calls = [spot for spot in method.spots.calls if poll.loop.holds(spot)]
    marked = Marked(inside, calls)
    head = poll.node.test if isinstance(poll.node, ast.While) else None
    if head is not None and marked(head):
        return "always"
    ways = ways_without(getattr(poll.node, "body", []), marked)
    if not ways & {"falls", "continues"}:
        return "always"
    if all(_is_after_error(spot, poll) for spot in inside):
        return "after errors alone"
    skips: list[Spot] = list(inside) if "falls" in ways else []
    if "continues" in ways:
        skips += [each for each in _continues(method, poll) if not _is_after_error(each, poll)]
    return "sometimes" if any(_hangs_on_answer(each, method, poll) for each in skips) else "always"


def _continues(method: MethodFacts, poll: Poll) -> list[Spot]:
    return [
        spot
        for spot in method.spots.exits
        if isinstance(spot.node, ast.Continue)
        and poll.loop.holds(spot)
        and not any(each.kind in ("loop", "call") for each in spot.within(poll.loop.loop))
    ]


def _is_after_error(spot: Spot, poll: Poll) -> bool:
    return any(each.kind == "handler" for each in spot.within(poll.loop.loop))


def _hangs_on_answer(spot: Spot, method: MethodFacts, poll: Poll) -> bool:
    kept = carried(poll.node, poll.frame)
    guards = [each for each in spot.within(poll.loop.loop) if each.kind == "guard" and each.passed]
    asked = {ask.node for ask in poll.asks}
    return bool(guards) and all(
        method.sources(each.node, each.frame).calls & asked and not set(names_in(each.node)) & kept
        for each in guards
    )
