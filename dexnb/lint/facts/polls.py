"""Is this loop a poll? It asks somebody else's system in each round, until the answer ends it.

A poll has a call of foreign code (the *ask*) whose result decides whether the loop is left, and a
pause between two rounds; or no pause, and a round that does nothing but ask. Loops through data,
pages, messages or rows, waits for an event, retries of a local lock and socket reads are no polls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dexnb.graph.frames import Frame
from dexnb.lint.facts.bindings import dotted
from dexnb.lint.facts.handlers import ALL_ERRORS, caught
from dexnb.lint.facts.nodes import within
from dexnb.lint.facts.questions import may_ask, may_ask_alone
from dexnb.lint.facts.rounds import is_data_loop, only_asks
from dexnb.lint.facts.sources import Sources, names_in
from dexnb.lint.facts.spots import Around, CallKind, CallSpot, LoopSpot, Spot
from dexnb.lint.facts.stand_ins import OUTSIDE, stand_ins
from dexnb.lint.facts.walk import Spots, TooMuch
from dexnb.lint.facts.working import (
    changes_rows,
    converges,
    gives_up,
    picks_a_name,
    uses_what_it_finds,
)

MOST_ASKS = 100
"""Asks of one loop after which it is given up: each may come from all others."""

Answer = Literal["yes", "cannot tell"]


@dataclass(frozen=True, slots=True, eq=False)
class Poll:
    """A loop that waits for somebody else's system.

    Args:
        loop: It.
        asks: The calls whose results decide whether it ends; hidden helpers among them where the
            answer is `cannot tell`.
        pauses: Its sleeps.
        exits: Ways out of it that depend on an ask.
        tests: The tests on those ways, each with its function.
        is_poll: `cannot tell` where what it asks, or its pause, is in code that cannot be read.
    """

    loop: LoopSpot
    asks: tuple[CallSpot, ...]
    pauses: tuple[CallSpot, ...]
    exits: tuple[Spot, ...]
    tests: tuple[Around, ...]
    is_poll: Answer

    @property
    def node(self) -> ast.AST:
        """The statement of the loop."""
        return self.loop.node

    @property
    def frame(self) -> Frame:
        """The function that the loop is of."""
        return self.loop.frame


def read_polls(spots: Spots, frames: Iterable[Frame]) -> Iterator[Poll]:
    """Give the polls among the loops of a method, inner ones first."""
    taken: set[CallSpot] = set()
    frames = tuple(frames)
    for loop in reversed(spots.loops):
        poll = _Reader(loop, spots, frames, taken).read()
        if poll is not None:
            taken.update(poll.asks)
            yield poll


class _Reader:
    def __init__(
        self, loop: LoopSpot, spots: Spots, frames: tuple[Frame, ...], taken: set[CallSpot]
    ) -> None:
        self.loop = loop
        self.frames = frames
        self.calls = [spot for spot in spots.calls if loop.holds(spot)]
        self.exits = [spot for spot in spots.exits if loop.holds(spot) and _leaves(spot, loop)]
        self.assigns = [spot for spot in spots.assigns if loop.holds(spot)]
        self.pauses = tuple(self._pauses(spots.calls))
        self.tests = list(self._tests())
        self.taken = taken

    def read(self) -> Poll | None:
        """Give the loop as a poll; None where it is none."""
        pauses = self.pauses
        # A loop over a fixed number of rounds without a pause is a retry, and ends soon.
        if not pauses and isinstance(self.loop.node, ast.For | ast.AsyncFor):
            return None
        asks = self._asks()
        sure = [spot for spot in asks if _is_sure(spot)]
        hidden = [spot for spot in asks if not _is_sure(spot)]
        loop = self.loop
        if sure and (
            is_data_loop(loop, sure, self.calls, self.tests, self.frames) or self._works(sure)
        ):
            return None
        if sure and pauses:
            return self._poll(sure, pauses, "yes")
        if hidden and (pauses or not sure):
            return self._poll(hidden, pauses, "cannot tell")
        if not sure:
            return None
        if any(spot.kind is CallKind.HIDDEN for spot in self.calls):
            return self._poll(sure, pauses, "cannot tell")
        if only_asks(loop, sure, self.calls, self.frames):
            return self._poll(sure, pauses, "yes")
        return None

    def _works(self, asks: list[CallSpot]) -> bool:
        if uses_what_it_finds(asks, self.calls):
            return True
        return not self.pauses and (picks_a_name(asks, self.loop) or converges(self.tests))

    def _pauses(self, calls: Iterable[CallSpot]) -> Iterator[CallSpot]:
        """Give the sleeps of a round, those of a generator that the loop goes through too."""
        node = self.loop.node
        ticks = within(node.iter) if isinstance(node, ast.For | ast.AsyncFor) else frozenset()
        for spot in calls:
            if spot.kind is CallKind.PAUSE and (
                self.loop.holds(spot)
                or any(each.kind == "call" and each.node in ticks for each in spot.around)
            ):
                yield spot

    def _poll(self, asks: list[CallSpot], pauses: tuple[CallSpot, ...], is_poll: Answer) -> Poll:
        return Poll(self.loop, tuple(asks), pauses, tuple(self.exits), tuple(self.tests), is_poll)

    def _tests(self) -> Iterator[Around]:
        """Give the tests on the ways out of the loop."""
        node = self.loop.node
        waiting: list[Around] = []
        if isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
            waiting.append(Around("guard", node.test, self.loop.frame, passed=False))
        waiting += self._guards(self.exits)
        given: set[tuple[ast.AST, bool]] = set()
        while waiting:
            each = waiting.pop(0)
            if (each.node, each.passed) not in given:
                given.add((each.node, each.passed))
                yield each
                waiting += self._guards(self._set(each))

    def _guards(self, spots: Iterable[Spot]) -> Iterator[Around]:
        for spot in spots:
            yield from (each for each in spot.within(self.loop.loop) if each.kind == "guard")

    def _set(self, test: Around) -> Iterator[Spot]:
        """Give where the variables of a test are set: what leads there decides, too."""
        names = set(names_in(test.node))
        for spot in self.assigns:
            if spot.frame is test.frame and names & set(_targets(spot.node)):
                yield spot
        for call in self.calls if self.pauses else []:
            own = call.dropped and call.frame is test.frame
            function = call.call.func
            if own and isinstance(function, ast.Attribute) and dotted(function.value) in names:
                yield call

    def _asks(self) -> list[CallSpot]:
        able = [spot for spot in self.calls if spot.kind in OUTSIDE and may_ask(spot)]
        if self.pauses:
            able += [spot for spot in stand_ins(self.calls) if may_ask(spot)]
            able += self._far(able)
        if not able:
            return []
        sources = Sources(self.frames)
        for test in self.tests:
            sources.add(test.node, test.frame)
        found = [spot for spot in able if self._decides(spot, sources) and spot not in self.taken]
        if len(found) > MOST_ASKS:
            raise TooMuch
        made = {spot.node for spot in found}
        return [spot for spot in found if spot.awaited or not self._reads_a_result(spot, made)]

    def _decides(self, spot: CallSpot, sources: Sources) -> bool:
        if spot.node in sources.calls and not changes_rows(spot):
            return True
        return self._tried(spot)

    def _far(self, able: list[CallSpot]) -> list[CallSpot]:
        """Give the questions that are all that a round does beside its pause."""
        found = [spot for spot in self.calls if may_ask_alone(spot)]
        works = (*OUTSIDE, CallKind.FOLLOWED)
        others = [each for each in self.calls if each.kind in works and each not in found]
        return [] if able or others else found

    def _tried(self, spot: CallSpot) -> bool:
        """Tell the call of an endless loop that is left when it does not raise."""
        node = self.loop.node
        if not isinstance(node, ast.While) or not isinstance(node.test, ast.Constant):
            return False
        tried = [each for each in spot.within(self.loop.loop) if each.kind == "try"]
        if any(gives_up(each, self.loop, self.exits) for each in tried):
            return False
        after = [part for each in tried for part in getattr(each.node, "orelse", [])]
        return bool(tried) and any(
            isinstance(exit_.node, ast.Return | ast.Break)
            and (exit_.around[-1] is tried[-1] or any(exit_.node in within(p) for p in after))
            for exit_ in self.exits
        )

    def _reads_a_result(self, spot: CallSpot, made: set[ast.AST]) -> bool:
        """Tell a call of a method of what an ask has given, such as `response.json()`."""
        if not isinstance(spot.call.func, ast.Attribute):
            return False
        base = Sources(self.frames).add(spot.call.func.value, spot.frame)
        return bool((base.calls & made) - {spot.node})


def _is_sure(spot: CallSpot) -> bool:
    """Tell a call that asks somebody else for certain; a plain method may ask its own object."""
    return spot.kind is CallKind.FOREIGN or (spot.kind is CallKind.FOLLOWED and spot.awaited)


def _targets(node: ast.AST) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    for target in targets:
        yield from names_in(target)


def _leaves(spot: Spot, loop: LoopSpot) -> bool:
    """Tell whether a place leaves this loop, and not one inside of it or only a helper."""
    inner = spot.within(loop.loop)
    if isinstance(spot.node, ast.Continue):
        return False
    if isinstance(spot.node, ast.Break):
        return not any(each.kind == "loop" for each in inner)
    if isinstance(spot.node, ast.Return):
        return not any(each.kind == "call" for each in inner)
    return not any(each.kind == "try" and _catches_all(each) for each in inner)


def _catches_all(around: Around) -> bool:
    if not isinstance(around.node, ast.Try | ast.TryStar):
        return False
    return any(caught(each, around.frame) & ALL_ERRORS for each in around.node.handlers)
