"""DX105 hand-written-deadline."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dexnb.lint.facts.bindings import bindings_of
from dexnb.lint.facts.bounds import limits_in
from dexnb.lint.facts.clocks import reads_clock
from dexnb.lint.facts.following import generates
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.nodes import within
from dexnb.lint.facts.polls import Poll
from dexnb.lint.facts.sources import carried, names_in
from dexnb.lint.facts.spots import Around
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

_HINT = "set execute_method_timeout and total_duration in get_step_options()"


@rule("DX105", "hand-written-deadline", "warning")
def hand_written_deadline(step: StepSubject) -> Iterator[Remark]:
    """A poll keeps its own deadline.

    What:
        The loop ends by a clock, by counting its rounds, or by a timeout around the whole of it.
        A timeout around one call is another thing, and needed.

    Why:
        A deadline in a variable begins anew with each attempt: after a crash or a retry the Step
        waits the whole time again. The runtime's own bounds are kept in the store, and the Flow's
        graph and budget show them.

    Instead:
        Let the options bound the wait, and a recovery Step say what follows::

            return StepOptions(
                execute_method_timeout=MAX_WAIT,
                execute_retry=RetryPolicy(total_duration=MAX_WAIT),
            ).on_execute_failure_proceed_to(GiveUp)
    """
    for method, poll in step.polls:
        if poll.is_poll != "yes":
            continue
        for each in limits_in(poll.loop.around):
            yield Remark(
                each.node, each.frame, "this timeout bounds the whole poll, by attempt", _HINT
            )
        if isinstance(poll.node, ast.For) and not generates(poll.node.iter, poll.frame):
            message = "this poll gives up after a number of rounds that each attempt counts anew"
            yield Remark(poll.node, poll.frame, message, _HINT)
        for test in poll.tests:
            if _is_handled(test, poll):
                continue
            if reads_clock(method, test):
                message = "this poll compares a clock with a deadline of its own"
                yield Remark(test.node, test.frame, message, _HINT)
            elif _counts(test, poll, method):
                message = "this poll counts its rounds, and each attempt counts anew"
                yield Remark(test.node, test.frame, message, _HINT)


def _is_handled(test: Around, poll: Poll) -> bool:
    """Tell a test inside a handler: how many errors in a row are too many is another matter."""
    return any(
        test.node in within(each)
        for each in within(poll.node)
        if isinstance(each, ast.ExceptHandler)
    )


def _counts(test: Around, poll: Poll, method: MethodFacts) -> bool:
    """Tell a comparison of a number that each round makes larger by a constant."""
    if test.frame is not poll.frame:
        return False
    counters = {
        name
        for name in carried(poll.node, poll.frame)
        for each in bindings_of(poll.frame).of(name)
        if isinstance(each.statement, ast.AugAssign)
        and isinstance(each.statement.value, ast.Constant)
    }
    compared = (node for node in within(test.node) if isinstance(node, ast.Compare))
    return any(
        counters & set(names_in(node)) and not method.from_foreign(node, test.frame)
        for node in compared
    )
