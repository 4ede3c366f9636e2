"""DX202 wait-bounds-differ."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.options import is_hidden, place_of_options
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule
from dexnb.model.budget import GRAIN, seconds_text

_BOUNDS = ("execute_method_timeout", "total_duration")
_HINT = "give both the same duration: one maximum wait"


@rule("DX202", "wait-bounds-differ", "warning")
def wait_bounds_differ(step: StepSubject) -> Iterator[Remark]:
    """A polling Step has two different maximum waits.

    What:
        execute_method_timeout and the retry policy's total_duration of a Step that polls are not
        the same. One that is not set has its default: 2 h for execute_method_timeout, 4 h for
        total_duration. A Step that sets neither is a matter of unbounded-wait, and a Step with one
        attempt has no retries to bound.

    Why:
        execute_method_timeout bounds one attempt and total_duration says until when another may
        begin: with different values nobody can say how long the wait lasts. A shorter
        execute_method_timeout ends attempts that wait as they should, and counts them as errors.

    Instead:
        Name the longest wait once::

            return StepOptions(
                execute_method_timeout=MAX_WAIT,
                execute_retry=RetryPolicy(total_duration=MAX_WAIT),
            )
    """
    polls = [poll for method, poll in step.polls if method.name == "execute"]
    place = place_of_options(step, *_BOUNDS)
    if not polls or place is None or step.step.settings.retry.maximum_attempts == 1:
        return
    name, bounds = step.step.step_type, _bounds(step)
    if is_hidden(step, *_BOUNDS, "execute_retry", "maximum_attempts"):
        message = f"it cannot be told whether the bounds of {name} are one maximum wait"
        yield Remark(*place, message, _HINT, verdict="cannot tell")
    elif bounds:
        told = any(poll.is_poll == "yes" for poll in polls)
        message = f"{name} waits with two bounds: {bounds}"
        yield Remark(*place, message, _HINT, verdict="found" if told else "cannot tell")


def _bounds(step: StepSubject) -> str:
    """Write the two bounds of a Step; nothing where they are the same or none is set."""
    settings = step.step.settings
    seconds = settings.execute_method_timeout, settings.retry.total_duration
    given = [name for name in _BOUNDS if step.node is not None and name in step.node.given]
    if not given or abs(seconds[0] - seconds[1]) <= GRAIN:
        return ""
    return " and ".join(
        f"{name} {seconds_text(value)}{'' if name in given else ' (the default)'}"
        for name, value in zip(_BOUNDS, seconds, strict=True)
    )
