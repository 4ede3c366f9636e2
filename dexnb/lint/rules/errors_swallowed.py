"""DX307 errors-swallowed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.lint.facts.handlers import (
    ALL_ERRORS,
    caught,
    may_raise,
    suppressed,
    ways_of_swallowing,
)
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.spots import Spot
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

_HINT = "let errors end the attempt, or catch only what another round can cure"


@rule("DX307", "errors-swallowed", "warning")
def errors_swallowed(step: StepSubject) -> Iterator[Remark]:
    """A poll takes every error of its call and goes on.

    What:
        Around what a poll asks stands an `except Exception`, a bare `except` or a `suppress` of
        all errors, and the loop goes on without raising on any way. Catching one kind of error,
        or raising after some failures, is fine.

    Why:
        A wrong address, a revoked password or a bug is then polled until the time is up; the
        retry policy, which counts and spaces attempts and ends them, never hears of it.

    Instead:
        Let the error end the attempt: the policy retries it, and the checkpoint is kept. Or say
        which errors are harmless::

            try:
                job = await self._status(input)
            except ConnectionResetError:
                continue
    """
    for method, poll in step.polls:
        for spot in method.spots.tries:
            if isinstance(spot.node, ast.Try) and _asks_in(spot, poll):
                yield from _of_try(spot, spot.node, poll)
        yield from _of_withs(method, poll)


def _of_try(spot: Spot, node: ast.Try, poll: Poll) -> Iterator[Remark]:
    for handler in node.handlers:
        if not caught(handler, spot.frame) & ALL_ERRORS or may_raise(handler):
            continue
        ways = ways_of_swallowing(handler)
        in_helper = spot.frame is not poll.frame
        if ways & {"falls", "continues"} or (in_helper and "leaves" in ways):
            yield Remark(
                handler,
                spot.frame,
                "every error of this poll's call ends here: the retry policy never hears of it",
                _HINT,
                verdict="found" if poll.is_poll == "yes" else "cannot tell",
            )


def _of_withs(method: MethodFacts, poll: Poll) -> Iterator[Remark]:
    for spot in method.spots.withs:
        if not isinstance(spot.node, ast.With) or not _asks_in(spot, poll):
            continue
        for item in spot.node.items:
            if suppressed(item.context_expr, spot.frame) & ALL_ERRORS:
                message = "all errors of this poll's call are suppressed: nobody hears of them"
                yield Remark(item.context_expr, spot.frame, message, _HINT)


def _asks_in(spot: Spot, poll: Poll) -> bool:
    """Tell whether a statement inside the poll has one of its asks in its body."""
    if not poll.loop.holds(spot):
        return False
    return any(
        each.node is spot.node and each.kind in ("try", "with")
        for ask in poll.asks
        for each in ask.within(poll.loop.loop)
    )
