"""DX307 errors-swallowed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.lint.facts.bindings import dotted
from dexnb.lint.facts.handlers import (
    ALL_ERRORS,
    caught,
    may_raise,
    suppressed,
    ways_of_swallowing,
)
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.spots import Around, Spot
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

_HINT = "let errors end the attempt, or catch only what another round can cure"


@rule("DX307", "errors-swallowed", "warning")
def errors_swallowed(step: StepSubject) -> Iterator[Remark]:
    """A poll takes every error of its call and goes on.

    What:
        Around what a poll asks stands an `except Exception`, a bare `except` or a `suppress` of
        all errors, and the loop goes on without raising on any way; or `gather` gives errors as
        answers, and none of them leads out of the loop. Catching one kind of error,
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
            if isinstance(spot.node, ast.Try | ast.TryStar) and _asks_in(spot, poll):
                yield from _of_try(spot, spot.node, poll)
        yield from _of_withs(method, poll)
        yield from _of_gathers(method, poll)


def _of_gathers(method: MethodFacts, poll: Poll) -> Iterator[Remark]:
    """Judge `gather(..., return_exceptions=True)`: its errors are answers like any other."""
    given: dict[ast.AST, Around] = {}
    for ask in poll.asks:
        for each in ask.within(poll.loop.loop):
            if each.kind == "task" and _returns_errors(each.node):
                given[each.node] = each
    if given and not any(_tells(spot) for spot in method.spots.exits if poll.loop.holds(spot)):
        for each in given.values():
            message = "errors of this poll's calls come as answers: the retry policy hears of none"
            yield Remark(each.node, each.frame, message, _HINT)


def _returns_errors(node: ast.AST) -> bool:
    match node:
        case ast.Call(keywords=keywords):
            return any(
                each.arg == "return_exceptions"
                and isinstance(each.value, ast.Constant)
                and each.value.value is True
                for each in keywords
            )
        case _:
            return False


def _tells(spot: Spot) -> bool:
    """Tell a way out for errors: a `raise`, or a return where an answer is an exception."""
    if isinstance(spot.node, ast.Raise):
        return True
    guards = [each.node for each in spot.around if each.kind == "guard" and each.passed]
    return isinstance(spot.node, ast.Return) and any(_asks_for_error(each) for each in guards)


def _asks_for_error(test: ast.AST) -> bool:
    """Tell a test that holds for an exception: `isinstance(answer, Exception)`, not negated."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return False
    if isinstance(test, ast.Call) and dotted(test.func) == "isinstance":
        return True
    return any(_asks_for_error(each) for each in ast.iter_child_nodes(test))


def _of_try(spot: Spot, node: ast.Try | ast.TryStar, poll: Poll) -> Iterator[Remark]:
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
