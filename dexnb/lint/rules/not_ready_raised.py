"""DX301 not-ready-raised."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.readiness import AFTER, raises_of
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule


@rule("DX301", "not-ready-raised", "warning")
def not_ready_raised(step: StepSubject) -> Iterator[Remark]:
    """An exception says that something is not ready yet.

    What:
        A Step asks another system, and raises because the answer is that it is still at work.
        Raising because the job has failed is fine.

    Why:
        Each round becomes a failed attempt, with the backoff and the attempt limit that were meant
        for errors; and the wait ends as a failure when they are used up.

    Instead:
        Not ready is an answer and no error: sleep and ask again::

            if job.state is JobState.RUNNING:
                await context.heartbeat(job.state)
                await asyncio.sleep(5)
                continue
    """
    for method in step.methods:
        for each in raises_of(method):
            if each.says == "yes" and each.error not in AFTER:
                yield Remark(
                    each.spot.node,
                    each.spot.frame,
                    f"{each.error} is raised while the answer is only: not ready yet",
                    "sleep and ask again inside the attempt; raise for errors alone",
                )
