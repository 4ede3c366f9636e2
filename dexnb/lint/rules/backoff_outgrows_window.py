"""DX204 backoff-outgrows-window."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.beside import beats_aside
from dexnb.lint.facts.growing import Value
from dexnb.lint.facts.growth import delays_of
from dexnb.lint.facts.limits import Limits
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.facts.window import call_timeout, hides_heartbeat, window
from dexnb.lint.rule import Remark, rule
from dexnb.model.budget import Window


@rule("DX204", "backoff-outgrows-window", "warning")
def backoff_outgrows_window(step: StepSubject) -> Iterator[Remark]:
    """The interval of a poll grows until it no longer fits into the heartbeat timeout.

    What:
        A round makes the next interval longer, `delay *= 1.5`, `2 ** attempt` or
        `min(delay * 2, CAP)`, and with or without a cap some round breaks the window rule. The
        round is named where it can be worked out; chance is taken at its longest.

    Why:
        The first rounds go well. Then, long after the last test, the sleep is longer than the
        silence that is allowed, and an attempt that is healthy is failed.

    Instead:
        Cap the interval by what the window rule leaves::

            delay = min(delay * 2, LONGEST_INTERVAL)  # heartbeat_timeout - 10 s - call timeout
    """
    for method, poll in step.polls:
        limits = Limits(method.frames)
        for pause in () if beats_aside(method, poll) else poll.pauses:
            delays = delays_of(poll, pause, method, limits)
            if delays is None:
                continue
            found = _judge(step, delays, call_timeout(poll, limits))
            if found is not None:
                message, hint, told = found
                told = told and poll.is_poll == "yes" and not hides_heartbeat(step)
                yield Remark(
                    pause.node,
                    pause.frame,
                    message,
                    hint,
                    verdict="found" if told else "cannot tell",
                )


def _judge(
    step: StepSubject, delays: Iterator[Value], call: float | None
) -> tuple[str, str, bool] | None:
    """Look for the first round that does not fit; with whether that is certain."""
    longest = window(step, 0.0, call).longest_interval
    hint = f"cap it at {max(longest, 0.0):g} s"
    slept = 0.0
    for number, delay in enumerate(delays, 1):
        if delay.number is None:
            return f"it cannot be told how long this interval grows: {hint}", hint, False
        rule = window(step, delay.number, call)
        if not rule.holds:
            if number == 1 and delay.exact:
                return None
            return _text(rule, number, told=delay.exact), hint, delay.exact
        slept += delay.number
        if slept >= step.step.settings.execute_method_timeout:
            return None
    return None


def _text(rule: Window, number: int, *, told: bool) -> str:
    if told:
        return f"this interval outgrows the heartbeat window in round {number}: {rule.problem}"
    return f"this interval may outgrow the heartbeat window: {rule.problem}"
