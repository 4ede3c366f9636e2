"""DX402 unused-resource."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.lint.facts.diagnosed import diagnosed
from dexnb.lint.facts.step import FlowSubject
from dexnb.lint.rule import Remark, rule


@rule("DX402", "unused-resource", "warning", of="flow")
def unused_resource(flow: FlowSubject) -> Iterator[Remark]:
    """An Attribute, a Channel or a Stream is listed and nobody uses it.

    What:
        get_persistence_schema() lists something that no Step and no RPC reads, writes, publishes
        to or waits for. An indexed Attribute is for searches and is fine. A Flow that hides what
        it uses is not judged.

    Why:
        Either it is left over, or what was to fill it was forgotten: a Stream without a message
        looks like a Flow that does nothing.

    Instead:
        Use it, or take it out of the schema::

            JOB_PROGRESS.write(context, job)
    """
    for each in diagnosed(flow, "unused_resource"):
        yield Remark(
            each.node,
            each.frame,
            each.diagnostic.message,
            "use it, or take it out of get_persistence_schema()",
            place=flow.place,
            node_id=each.node_id,
        )
