"""DX103 silent-loop."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.liveness import liveness_of
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule

_MESSAGES = {
    "never": "no round of this poll shows that the attempt lives",
    "sometimes": "some rounds of this poll neither beat nor write to a Stream",
    "cannot tell": "it cannot be told whether this poll beats: its context goes where the code "
    "cannot be read",
}


@rule("DX103", "silent-loop", "error")
def silent_loop(step: StepSubject) -> Iterator[Remark]:
    """A poll has rounds without a heartbeat or a Stream message.

    What:
        There is a way through a round on which the attempt does not show that it lives. A Stream
        message counts as a sign of life, and so does the heartbeat of another task. What happens
        after an error does not count.

    Why:
        When nothing is heard for heartbeat_timeout, 60 s unless the Step says otherwise, a healthy
        attempt is failed and begins again; and it has no checkpoint to begin from.

    Instead:
        Beat in each round that writes nothing::

            if job.state is not reported:
                PROGRESS.write(context, job)
                reported = job.state
            else:
                await context.heartbeat(reported)
    """
    for method, poll in step.polls:
        liveness = liveness_of(method, poll)
        if liveness == "always":
            continue
        told = liveness != "cannot tell" and poll.is_poll == "yes"
        yield Remark(
            poll.node,
            poll.frame,
            _MESSAGES[liveness],
            "beat in each round: await context.heartbeat(value), or yield heartbeat(value)",
            verdict="found" if told else "cannot tell",
        )
