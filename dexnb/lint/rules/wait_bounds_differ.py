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
    node = step.node
    settings = step.step.settings
    if node is None or not polls or settings.retry.maximum_attempts == 1:
        return
    hidden = is_hidden(step, *_BOUNDS, "execute_retry", "maximum_attempts")
    given = [name for name in _BOUNDS if name in node.given]
    seconds = settings.execute_method_timeout, settings.retry.total_duration
    differ = abs(seconds[0] - seconds[1]) > GRAIN
    place = place_of_options(step, *_BOUNDS)
    if place is None or not (hidden or (given and differ)):
        return
    texts = [
        f"{name} {seconds_text(value)}{'' if name in given else ' (the default)'}"
        for name, value in zip(_BOUNDS, seconds, strict=True)
    ]
    told = not hidden and any(poll.is_poll == "yes" for poll in polls)
    yield Remark(
        *place,
        f"{step.step.step_type} waits with two bounds: {' and '.join(texts)}"
        if told
        else f"it cannot be told whether the bounds of {step.step.step_type} are one maximum wait",
        _HINT,
        verdict="found" if told else "cannot tell",
    )
