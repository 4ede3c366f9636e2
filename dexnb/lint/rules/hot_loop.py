"""DX309 hot-loop."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.limits import Limits
from dexnb.lint.facts.spots import CallSpot
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule


@rule("DX309", "hot-loop", "error")
def hot_loop(step: StepSubject) -> Iterator[Remark]:
    """A poll asks again without a pause.

    What:
        A loop asks another system for its state and asks again at once, or after a sleep of 0 s.

    Why:
        It asks as often as the network lets it: a bill for each query, a rate limit used up, and a
        processor that is busy with waiting.

    Instead:
        Sleep between two rounds, for an interval that the window rule allows::

            await asyncio.sleep(POLL_INTERVAL.total_seconds())
    """
    for method, poll in step.polls:
        limits = Limits(method.frames)
        if any(_is_long(pause, limits) for pause in poll.pauses):
            continue
        told = poll.is_poll == "yes"
        yield Remark(
            poll.node,
            poll.frame,
            "this poll asks again without a pause"
            if told
            else "it cannot be told whether this loop pauses before it asks again",
            "sleep between two rounds: await asyncio.sleep(interval)",
            verdict="found" if told else "cannot tell",
        )


def _is_long(pause: CallSpot, limits: Limits) -> bool:
    """Tell a sleep that is not known to be of 0 s."""
    seconds = limits.pause(pause)
    return seconds is None or seconds > 0
