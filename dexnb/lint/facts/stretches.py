"""How long code is silent: what its pauses and calls take before, between and after its beats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Span:
    """A time without a sign of life.

    Args:
        pause: Seconds slept in it.
        call: Seconds that its calls may take.
        pauses: How many sleeps it has.
        calls: How many calls it has.
        told: False where an inner loop may repeat a part of it nobody knows how often.
    """

    pause: float = 0.0
    call: float = 0.0
    pauses: int = 0
    calls: int = 0
    told: bool = True

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.pause + self.call

    def times(self, count: int | None) -> Span:
        """Give it repeated; None is an unknown number of times."""
        if count is None:
            return replace(self, told=not self.pauses + self.calls and self.told)
        numbers = (self.pause * count, self.call * count, self.pauses * count, self.calls * count)
        return Span(*numbers, self.told)

    def bounded(self, limit: float) -> Span:
        """Give it under a time limit around all of its calls."""
        return replace(self, call=min(self.call, limit), told=True)


Way = Span | None


def plus(left: Way, right: Way) -> Way:
    """Give one after the other; None where one of them is no way."""
    if left is None or right is None:
        return None
    return Span(
        left.pause + right.pause,
        left.call + right.call,
        left.pauses + right.pauses,
        left.calls + right.calls,
        left.told and right.told,
    )


def longest_of(*ways: Way) -> Way:
    """Give the longest of some ways."""
    known = [way for way in ways if way is not None]
    if not known:
        return None
    longest = max(known, key=lambda way: way.seconds)
    return replace(longest, told=all(way.told for way in known))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The silences of a piece of code; None where there is no such way.

    Args:
        through: From its begin to its end, without a beat.
        head: From its begin to its first beat.
        tail: From its last beat to its end.
        inside: Between two beats of its own.
        again: From its begin to a `continue`, without a beat.
        again_tail: From its last beat to a `continue`.
    """

    through: Way = None
    head: Way = None
    tail: Way = None
    inside: Way = None
    again: Way = None
    again_tail: Way = None

    def then(self, next_: Stretch) -> Stretch:
        """Give this and what follows it."""
        return Stretch(
            plus(self.through, next_.through),
            longest_of(self.head, plus(self.through, next_.head)),
            longest_of(next_.tail, plus(self.tail, next_.through)),
            longest_of(self.inside, next_.inside, plus(self.tail, next_.head)),
            longest_of(self.again, plus(self.through, next_.again)),
            longest_of(self.again_tail, next_.again_tail, plus(self.tail, next_.again)),
        )

    def either(self, other: Stretch) -> Stretch:
        """Give the longer silences of two ways, one of which is taken."""
        return Stretch(
            longest_of(self.through, other.through),
            longest_of(self.head, other.head),
            longest_of(self.tail, other.tail),
            longest_of(self.inside, other.inside),
            longest_of(self.again, other.again),
            longest_of(self.again_tail, other.again_tail),
        )

    def each(self, change: Callable[[Span], Span]) -> Stretch:
        """Give it with all of its silences changed."""
        ways = (self.through, self.head, self.tail, self.inside, self.again, self.again_tail)
        return Stretch(*(None if way is None else change(way) for way in ways))

    def looped(self, count: int | None) -> Stretch:
        """Give a loop whose round this is; None is an unknown number of rounds."""
        through = longest_of(self.through, self.again)
        tail = longest_of(self.tail, self.again_tail)
        whole = Span() if through is None else through.times(count)
        between = longest_of(self.inside, plus(tail, self.head))
        return Stretch(
            longest_of(Span(), whole) if count != 0 else Span(), self.head, tail, between
        )

    @property
    def longest(self) -> Span:
        """The longest silence of a loop whose round this is."""
        tail = longest_of(self.tail, self.again_tail)
        ways = (self.inside, self.through, self.again, plus(tail, self.head))
        return longest_of(*ways) or Span()


BEAT = Stretch(head=Span(), tail=Span())
NOTHING = Stretch(through=Span())
NOWHERE = Stretch()
