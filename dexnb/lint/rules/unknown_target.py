"""DX403 unknown-target."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.diagnosed import diagnosed
from dexnb.lint.facts.step import FlowSubject
from dexnb.lint.rule import Remark, rule

_UNLISTED = {
    "unknown_step_target": "list the Step in get_steps()",
    "unknown_resource": "list it in get_persistence_schema()",
}
_DYNAMIC = ("dynamic_step_target", "dynamic_resource_name", "dynamic_subflow")


@rule("DX403", "unknown-target", "error", of="flow")
def unknown_target(flow: FlowSubject) -> Iterator[Remark]:
    """A Flow leads to a Step, or uses a resource, that it does not list.

    What:
        A decision, a recovery, an RPC or a cancellation names a Step that get_steps() does not
        list; a Step or an RPC uses an Attribute, a Channel or a Stream that
        get_persistence_schema() does not list. Where only running the code could tell what is
        meant, it cannot be told.

    Why:
        The run fails at that place and not before, and no retry helps.

    Instead:
        List what is used, and name it where it is used::

            return StepList.start_step(StartJob()).other_steps(AwaitJob(), GiveUp())
    """
    for code, hint in _UNLISTED.items():
        for each in diagnosed(flow, code):
            yield Remark(
                each.node,
                each.frame,
                each.diagnostic.message,
                hint,
                place=flow.place,
                node_id=each.node_id,
            )
    for each in diagnosed(flow, *_DYNAMIC):
        yield Remark(
            each.node,
            each.frame,
            each.diagnostic.message,
            "name it, or choose among named ones",
            verdict="cannot tell",
            severity="warning",
            place=flow.place,
            node_id=each.node_id,
        )
