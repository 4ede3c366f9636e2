"""How the pause between two rounds changes from round to round, worked out as the code does it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dexnb.graph.amounts import amount_of
from dexnb.graph.frames import Frame
from dexnb.graph.source import parsed
from dexnb.lint.facts.bindings import Binding, bindings_of
from dexnb.lint.facts.growing import Growing, Value
from dexnb.lint.facts.limits import Limits, pause_given
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.sources import Sources, bound_inside
from dexnb.lint.facts.spots import CallSpot

MOST_ROUNDS = 1000
"""Rounds after which a pause that still fits is taken to stay so."""

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Update:
    """One variable that a round changes: `delay = min(delay * 2, CAP)`."""

    name: str
    binding: Binding

    @property
    def place(self) -> Place:
        """Where it stands."""
        return _place(self.binding.statement)


@dataclass(frozen=True, slots=True)
class Counter:
    """What `for` counts: its variable, the number of the first round, and how many there are."""

    name: str
    first: float
    rounds: int


def delays_of(
    poll: Poll, pause: CallSpot, method: MethodFacts, limits: Limits
) -> Iterator[Value] | None:
    """Give the pause of each round until it changes no more; None where rounds do not change it.

    Args:
        poll: The poll.
        pause: One of its pauses.
        method: The method that both are of.
        limits: Reads durations of that method.
    """
    given = pause_given(pause.call)
    if given is None:
        return None
    names = Sources(method.frames).add(given, pause.frame).names
    counter = _counter(poll, Growing(poll.frame, limits))
    own = [each for name in sorted(names) for each in _updates(name, poll, method.frames)]
    grows = any(_is_of_itself(each, poll, method.frames) for each in own)
    counts = counter is not None and counter.name in names
    if not (grows or counts):
        return None
    return _Rounds(poll, pause, limits, own, counter if counts else None).delays(given)


def rounds_of(poll: Poll, limits: Limits) -> int:
    """Give how many rounds a poll has at most."""
    counter = _counter(poll, Growing(poll.frame, limits))
    return MOST_ROUNDS if counter is None else counter.rounds


class _Rounds:
    def __init__(
        self,
        poll: Poll,
        pause: CallSpot,
        limits: Limits,
        updates: list[Update],
        counter: Counter | None,
    ) -> None:
        self._poll = poll
        self._pause = pause
        self._values = Growing(poll.frame, limits)
        self._counter = counter
        self._rounds = rounds_of(poll, limits)
        here = _place(_in_loop(pause, poll))
        ordered = sorted(updates, key=lambda each: each.place)
        self._before = [each for each in ordered if each.place < here]
        self._behind = [each for each in ordered if each.place >= here]

    def delays(self, given: ast.expr) -> Iterator[Value]:
        """Give the pause of each round."""
        now = dict(self._first())
        for number in range(min(self._rounds, MOST_ROUNDS)):
            start = dict(now)
            if self._counter is not None:
                now[self._counter.name] = Value(self._counter.first + number)
            self._update(self._before, now)
            yield self._values.of(given, self._pause.frame, now)
            self._update(self._behind, now)
            if self._counter is None and now == start:
                return

    def _update(self, updates: list[Update], now: dict[str, Value]) -> None:
        made: dict[str, Value] = {}
        statement: ast.AST | None = None
        for each in updates:
            if each.binding.statement is not statement:
                now.update(made)
                made, statement = {}, each.binding.statement
            made[each.name] = self._values.of(each.binding.value, self._poll.frame, now)
        now.update(made)

    def _first(self) -> Iterator[tuple[str, Value]]:
        """Give what the variables hold before the first round."""
        own = set(ast.walk(self._poll.node))
        frame = self._poll.frame
        for name in {each.name for each in (*self._before, *self._behind)}:
            bound = [
                each.value
                for each in bindings_of(frame).of(name)
                if each.statement not in own and not each.effect
            ]
            yield name, self._values.of(bound[-1], frame, {}) if bound else self._given(name)

    def _given(self, name: str) -> Value:
        """Give what a parameter or an attribute has from the caller or from the instance."""
        frame = self._poll.frame
        if name in frame.arguments:
            expression, caller = frame.arguments[name][:2]
            return self._values.of(expression, caller, {})
        return Value(amount_of(frame.scope.look(parsed(name, "eval").body)))


def _counter(poll: Poll, values: Growing) -> Counter | None:
    match poll.node:
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Call(
                func=ast.Name(id="range" | "count" as kind) | ast.Attribute(attr="count" as kind),
                args=args,
            ),
        ):
            numbers = [values.of(each, poll.frame, {}).number for each in args]
        case _:
            return None
    if kind == "count":
        return Counter(name, (numbers or [0.0])[0] or 0.0, MOST_ROUNDS)
    first = numbers[0] or 0.0 if len(numbers) > 1 else 0.0
    end = numbers[1] if len(numbers) > 1 else (numbers or [None])[0]
    return Counter(name, first, MOST_ROUNDS if end is None else max(0, int(end - first)))


def _updates(name: str, poll: Poll, frames: Iterable[Frame]) -> list[Update]:
    """Give what a round changes of a variable; where it grows, what sets it back is left out."""
    bound = bound_inside(name, poll.node, poll.frame)
    made = [
        Update(name, each) for each in bound if not each.effect and each.statement is not poll.node
    ]
    growing = [each for each in made if _is_of_itself(each, poll, frames)]
    return growing or made


def _is_of_itself(update: Update, poll: Poll, frames: Iterable[Frame]) -> bool:
    return update.name in Sources(frames).add(update.binding.value, poll.frame).names


def _in_loop(pause: CallSpot, poll: Poll) -> ast.AST:
    """Give what stands in the loop's own function: the pause, or the helper's call."""
    calls = [each for each in pause.within(poll.loop.loop) if each.kind == "call"]
    return calls[0].node if calls else pause.node


def _place(node: ast.AST) -> Place:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
