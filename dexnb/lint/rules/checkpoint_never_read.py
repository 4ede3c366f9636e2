"""DX304 checkpoint-never-read."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.checkpoints import HAS, READS, calls_of, hands_on, kept_by
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule


@rule("DX304", "checkpoint-never-read", "note")
def checkpoint_never_read(step: StepSubject) -> Iterator[Remark]:
    """A poll keeps a value that no attempt reads.

    What:
        A Step that polls beats with a value that changes, and neither it nor a helper asks for
        get_last_heartbeat_value or has_last_heartbeat_value. The first such heartbeat is named.
        Loops through data, whose heartbeats show how far they are, are not judged.

    Why:
        The value is kept for the next attempt. Without that look the attempt begins from nothing:
        it reports again what was reported, and does again what was done.

    Instead:
        Begin where the last attempt was, or beat without a value::

            reported = context.get_last_heartbeat_value(JobState)
            while True:
                ...
                await context.heartbeat(reported)
    """
    for method in step.methods:
        if not method.polls:
            continue
        kept = [each for each in kept_by(method) if not each.same]
        if not kept or calls_of(method, READS) or calls_of(method, HAS):
            continue
        hidden = hands_on(method)
        yield Remark(
            kept[0].spot.node,
            kept[0].spot.frame,
            "it cannot be told whether an attempt reads the value that this heartbeat keeps"
            if hidden
            else "no attempt reads the value that this heartbeat keeps",
            "read it with context.get_last_heartbeat_value(...), or beat without a value",
            verdict="cannot tell" if hidden else "found",
        )
