"""DX102 retry-as-loop."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from dexnb.flow.options import RetryPolicy
from dexnb.graph.amounts import Amounts
from dexnb.graph.frames import Frame, argument
from dexnb.lint.facts.readiness import AFTER, raises_of
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

FEW = 3
"""Attempts that errors may need."""


@rule("DX102", "retry-as-loop", "warning")
def retry_as_loop(step: StepSubject) -> Iterator[Remark]:
    """Retries are used as the poll loop.

    What:
        A Step ends its attempt because the job is not ready, and leaves it to `retry_after` or to
        a retry policy of many attempts, or with a constant interval, to ask again. A `retry_after`
        that passes on a server's wish (too many requests) is fine.

    Why:
        Waiting looks like failing: attempts are counted and shown as errors, real errors drown
        among them and share their budget, and the checkpoint of a poll has no place to live. Where
        the pauses grow, the end is seen late, or never.

    Instead:
        Loop inside the attempt, and leave the retry policy to errors::

            while not job.done:
                await context.heartbeat(job.state)
                await asyncio.sleep(5)
                job = await self._status(input)
    """
    raised = [each for method in step.methods for each in raises_of(method)]
    for each in raised:
        if each.error in AFTER and each.says != "no":
            yield Remark(
                each.spot.node,
                each.spot.frame,
                f"{each.error} asks again by failing the attempt: the job is not ready, and that "
                "is no error"
                if each.says == "yes"
                else f"it cannot be told whether {each.error} is used to wait for a state here",
                "loop inside the attempt: sleep, beat, ask again",
                verdict="found" if each.says == "yes" else "cannot tell",
            )
    if any(each.says == "yes" for each in raised):
        yield from _policies(step)


def _policies(step: StepSubject) -> Iterator[Remark]:
    for call, frame in step.option_calls():
        if frame.scope.look(call.func) is not RetryPolicy:
            continue
        why = "its interval stays the same" if _is_steady(call, frame) else ""
        if not why and _tries(call, frame) > FEW:
            why = "its many attempts, ever further apart, are rounds"
        if why:
            yield Remark(
                call,
                frame,
                f"this retry policy is a poll loop: {why}, and the Step fails attempts while it "
                "waits",
                "loop inside the attempt, and leave a few retries to errors",
            )


def _is_steady(call: ast.Call, frame: Frame) -> bool:
    factor = argument(call, 1, "backoff_coefficient")
    least, most = argument(call, 0, "initial_interval"), argument(call, 2, "maximum_interval")
    amounts = Amounts()
    if factor is not None and amounts.of(factor, frame).value == 1:
        return True
    if least is None or most is None:
        return False
    shortest, longest = amounts.of(least, frame).value, amounts.of(most, frame).value
    return shortest is not None and shortest == longest


def _tries(call: ast.Call, frame: Frame) -> float:
    """Give how often a policy lets a Step try; without a number, as often as time allows."""
    given = argument(call, 3, "maximum_attempts")
    value = 0 if given is None else Amounts().of(given, frame).value
    return math.inf if value == 0 else value or 0
