"""DX404 hidden-definition."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.diagnosed import diagnosed
from dexnb.lint.facts.step import FlowSubject
from dexnb.lint.rule import Remark, rule

_HINT = "say it plainly: name constants and classes, and keep the source where it can be read"


@rule("DX404", "hidden-definition", "warning", of="flow")
def hidden_definition(flow: FlowSubject) -> Iterator[Remark]:
    """A part of a Flow's definition only shows when it runs.

    What:
        A Step has no source that can be read; an option, a list of Steps or a schema comes from
        the environment, from a file or from a condition; what a wait_for waits for is not said.

    Why:
        The graph shows what is unknown there, the page cannot offer its knobs, and no rule can
        give an all-clear: what is behind it may be anything.

    Instead:
        Name constants, and choose among named ones::

            HEARTBEAT = timedelta(minutes=1)
            return StepOptions(heartbeat_timeout=HEARTBEAT)
    """
    for problem in flow.problems:
        if problem.kind == "cannot-tell":
            yield Remark(
                None,
                None,
                problem.message,
                _HINT,
                verdict="cannot tell",
                place=problem.place,
                node_id=_node_of(flow, problem.step),
            )
    for each in diagnosed(flow, "hidden_dex_decision", "hidden_dex_wait"):
        yield Remark(
            each.node,
            each.frame,
            each.diagnostic.message,
            _HINT,
            verdict="cannot tell",
            place=flow.place,
            node_id=each.node_id,
        )


def _node_of(flow: FlowSubject, name: str) -> str:
    """Give the node of a Step, which is named by its type or by its class."""
    for step_type, step in flow.flow.steps.items():
        if name in (step_type, type(step.step).__name__):
            return f"step:{step_type}"
    return ""
