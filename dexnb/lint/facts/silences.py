"""What a poll does between two signs of life: all pauses and calls of a round, added up."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dexnb.lint.facts.bounds import limits_in
from dexnb.lint.facts.limits import Limits
from dexnb.lint.facts.nodes import within
from dexnb.lint.facts.origin import last_of, origin_of
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.spots import Around, CallKind, CallSpot

_SHOWS = (CallKind.BEAT, CallKind.WRITE)


@dataclass(slots=True)
class Silence:
    """What lies between two signs of life of a poll.

    Args:
        pauses: Its pauses on the way that every round takes.
        interval: Seconds of them all.
        calls: Seconds that the calls on this way may take.
        untold: A pause or call that is made nobody knows how often, or None.
    """

    pauses: list[CallSpot] = field(default_factory=list)
    interval: float = 0.0
    calls: float = 0.0
    untold: CallSpot | None = None


def silences_of(poll: Poll, calls: Sequence[CallSpot], limits: Limits) -> list[Silence]:
    """Give the silences of a poll's rounds; none where no round shows anything.

    Args:
        poll: The poll.
        calls: The calls of its method, in the order of the code.
        limits: Reads durations of that method.
    """
    own = [spot for spot in calls if poll.loop.holds(spot)]
    cuts = [at for at, spot in enumerate(own) if spot.kind in _SHOWS]
    if not cuts:
        return []
    parts = [own[start + 1 : end] for start, end in pairwise(cuts)]
    # The end of one round and the beginning of the next are one silence.
    parts.append([*own[cuts[-1] + 1 :], *own[: cuts[0]]])
    shown = [own[at] for at in cuts]
    return [_added(part, poll, limits, shown) for part in parts]


def _added(
    part: Sequence[CallSpot], poll: Poll, limits: Limits, shown: Sequence[CallSpot]
) -> Silence:
    found = Silence()
    bounds: set[Around] = set()
    for spot in part:
        pauses = spot in poll.pauses
        if not (pauses or spot in poll.asks) or not _is_on_the_way(spot, poll, shown):
            continue
        trail = spot.within(poll.loop.loop)
        around = list(limits_in(trail))
        if any(each in bounds for each in around):
            continue  # one limit for several calls
        bounds.update(around)
        seconds = limits.pause(spot) if pauses else limits.call(spot, trail)
        times = _times(spot, poll, limits)
        if times is None and seconds:
            found.untold = found.untold or spot
        total = (seconds or 0.0) * (1.0 if times is None else times)
        if pauses:
            found.pauses.append(spot)
            found.interval += total
        else:
            found.calls += total
    return found


def _is_on_the_way(spot: CallSpot, poll: Poll, shown: Sequence[CallSpot]) -> bool:
    """Tell what every round comes by, alone: in no branch, and in no loop that beats itself."""
    for each in spot.within(poll.loop.loop):
        if each.kind in ("handler", "task"):
            return False
        if each.kind == "guard" and (each.passed or _is_otherwise(spot, each)):
            return False
        if each.kind == "loop" and any(each in other.around for other in shown):
            return False
    return True


def _is_otherwise(spot: CallSpot, guard: Around) -> bool:
    """Tell an `else`, from what stands behind an `if` that leaves."""
    places = {spot.node, *(each.node for each in spot.around if each.kind == "call")}
    for node in within(guard.frame.tree):
        if isinstance(node, ast.If) and node.test is guard.node:
            return any(places & within(part) for part in node.orelse)
    return True


def _times(spot: CallSpot, poll: Poll, limits: Limits) -> float | None:
    """Tell how often a round does something; None where the code does not tell."""
    times = 1.0
    for loop in _inner(spot, poll):
        match loop.node:
            case ast.For(iter=ast.Call(func=function, args=[*_, most])) if (
                last_of(origin_of(function, loop.frame)) == "range"
            ):
                count = limits.seconds(most, loop.frame)
            case ast.For(iter=ast.List(elts=parts) | ast.Tuple(elts=parts)):
                count = float(len(parts))
            case _:
                return None
        if count is None:
            return None
        times *= count
    return times


def _inner(spot: CallSpot, poll: Poll) -> Iterator[Around]:
    """Give the loops in a round; that of a generator goes on with the poll's own rounds."""
    node = poll.node
    ticks = within(node.iter) if isinstance(node, ast.For | ast.AsyncFor) else frozenset()
    for each in spot.within(poll.loop.loop):
        if each.kind == "call" and each.node in ticks:
            return
        if each.kind == "loop":
            yield each
