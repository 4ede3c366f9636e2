"""DX305 constant-checkpoint."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.graph.redact import code_text
from dexnb.lint.facts.checkpoints import HAS, calls_of, kept_by
from dexnb.lint.facts.step import StepSubject
from dexnb.lint.rule import Remark, rule


@rule("DX305", "constant-checkpoint", "warning")
def constant_checkpoint(step: StepSubject) -> Iterator[Remark]:
    """All heartbeats of a poll's Step keep one and the same value.

    What:
        The value is a text, a number or an Enum's member that never changes. A heartbeat without a
        value and one with None only show that the attempt lives, which is fine; so are different
        constants in different phases, and a mark for has_last_heartbeat_value.

    Why:
        The value is what the next attempt begins from and what the Flow's page shows. A constant
        says neither how far the wait has come nor what was reported last.

    Instead:
        Keep what the next attempt has to know, or nothing::

            await context.heartbeat(job.state)
            await context.heartbeat()
    """
    for method in step.methods:
        if not method.polls:
            continue
        kept = list(kept_by(method))
        values = {each.same for each in kept}
        if len(values) != 1 or "" in values or calls_of(method, HAS):
            continue
        for each in kept:
            text = code_text(each.value)
            yield Remark(
                each.spot.node,
                each.spot.frame,
                f"this heartbeat always keeps {text}, which tells the next attempt nothing",
                "keep the state that was seen last, or beat without a value",
            )
