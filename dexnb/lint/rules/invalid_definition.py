"""DX405 invalid-definition."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.step import FlowSubject
from dexnb.lint.rule import Remark, rule


@rule("DX405", "invalid-definition", "error", of="flow")
def invalid_definition(flow: FlowSubject) -> Iterator[Remark]:
    """A Flow cannot be registered.

    What:
        What a registry refuses, in its own words: the field, its value and the fix. A method has
        the wrong form or annotation, an option cannot hold, a name is taken, a recovery leads in a
        circle, a schema lists a thing twice.

    Why:
        The Flow does not start anywhere. Some of this Dex refuses only when the Step is reached.

    Instead:
        Do what the message says; it ends with the fix::

            def execute(self, context: Context, input: str) -> StepDecision: ...
    """
    for problem in flow.problems:
        if problem.kind == "definition":
            yield Remark(
                None,
                None,
                problem.message,
                place=problem.place,
                node_id=f"step:{problem.step}" if problem.step in flow.flow.steps else "",
            )
