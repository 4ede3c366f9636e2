"""The window rule of a poll: how long it is silent between two signs of life."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dexnb.lint.facts.growth import delays_of
from dexnb.lint.facts.limits import Limits
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.options import is_hidden
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.spots import SHOWS, CallSpot
from dexnb.lint.facts.step import StepSubject
from dexnb.model.budget import Window


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of a poll.

    Args:
        spot: It.
        seconds: How long it is in the first round; None where the code does not tell.
        grows: Whether later rounds change it.
    """

    spot: CallSpot
    seconds: float | None
    grows: bool


def pauses_of(poll: Poll, method: MethodFacts, limits: Limits) -> Iterator[Pause]:
    """Give the pauses of a poll."""
    for spot in poll.pauses:
        delays = delays_of(poll, spot, method, limits)
        if delays is None:
            yield Pause(spot, limits.pause(spot), grows=False)
        else:
            first = next(delays, None)
            seconds = first.number if first is not None and first.exact else None
            yield Pause(spot, seconds, grows=True)


def call_timeout(poll: Poll, limits: Limits) -> float | None:
    """Give the longest that one call of a poll may take; None where an ask has no known limit."""
    longest = 0.0
    for spot in poll.asks:
        seconds = limits.call(spot, spot.within(poll.loop.loop))
        if seconds is None:
            return None
        longest = max(longest, seconds)
    return longest


def window(step: StepSubject, interval: float, call: float | None) -> Window:
    """Give the window rule of a Step for an interval and a call timeout."""
    heartbeat = step.step.settings.heartbeat_timeout
    return Window(interval, call or 0.0, heartbeat, step.settings.margin)


def hides_heartbeat(step: StepSubject) -> bool:
    """Tell whether a Step's heartbeat_timeout could not be told."""
    return is_hidden(step, "heartbeat_timeout")


def beats_aside(method: MethodFacts) -> bool:
    """Tell whether another task beats, so that no round of a poll has to."""
    return any(each.kind == "task" for spot in method.calls(*SHOWS) for each in spot.around)
