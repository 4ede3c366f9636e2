"""DX401 unreachable-step."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.diagnosed import diagnosed
from dexnb.lint.facts.step import FlowSubject
from dexnb.lint.rule import Remark, rule


@rule("DX401", "unreachable-step", "warning", of="flow")
def unreachable_step(flow: FlowSubject) -> Iterator[Remark]:
    """A Step is listed and nothing leads to it.

    What:
        get_steps() lists a Step that no decision, no recovery, no RPC and no timeout handler
        leads to. A Flow that hides where a Step leads is not judged.

    Why:
        Either it is left over, or the way to it was forgotten; the second is a Flow that never
        does what it was written for.

    Instead:
        Lead to it, or take it out of get_steps()::

            return StepOptions(...).on_execute_failure_proceed_to(GiveUp)
    """
    for each in diagnosed(flow, "unreachable_step"):
        yield Remark(
            each.node,
            each.frame,
            each.diagnostic.message,
            "lead to it, or take it out of get_steps()",
            place=flow.place,
            node_id=each.node_id,
        )
