"""What a Flow lists and nothing in its sources comes to."""

from __future__ import annotations

from collections.abc import Iterator

from dexnb.flow.attribute import Attribute, AttributeMap
from dexnb.flow.shape import unwrap
from dexnb.flow.timeout_step import TIMEOUT_STEP_TYPE
from dexnb.graph.frames import Frame
from dexnb.graph.mentions import mentioned, mentioned_by
from dexnb.graph.sketch import Sketch


def report_unused(sketch: Sketch, frames: list[Frame]) -> None:
    """Report what the schema lists and no Step and no RPC touches.

    An indexed Attribute is for searches: those who start runs give its value.
    """
    if sketch.hidden:
        return
    touched = {target for _, _, target in sketch.ways}
    left = {
        name: resource for name, resource in sketch.listed().items() if resource.id not in touched
    }
    if not left:
        return
    owners = (sketch.flow.flow, *(step.step for step in sketch.flow.steps.values()))
    known = mentioned(frames)
    if known is None:
        return
    known |= {name for owner in owners for name in mentioned_by(owner)}
    for name, value in sketch.definitions():
        searched = isinstance(value, Attribute | AttributeMap) and value.index is not None
        if name in left and name not in known and not searched:
            kind = left[name].kind.capitalize() + ("Map" if left[name].map else "")
            message = f"{kind} {name} is listed, and no Step and no RPC uses it"
            sketch.say("unused_resource", "warning", message)


def report_unreachable(sketch: Sketch) -> None:
    """Report the Steps that no decision, no RPC and no failure leads to."""
    flow = sketch.flow
    if sketch.hidden or flow.start is None:
        return
    ahead: dict[str, list[str]] = {}
    for kind, source, target in sketch.ways:
        if kind in ("transition", "failure_transition"):
            ahead.setdefault(source, []).append(target)
    waiting = [f"step:{flow.start.step_type}", *(f"rpc:{name}" for name in flow.rpcs)]
    if TIMEOUT_STEP_TYPE in flow.steps:
        waiting += [f"step:{name}" for name in (TIMEOUT_STEP_TYPE, *_after_timeout(sketch))]
    seen = set(waiting)
    while waiting:
        for target in ahead.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    for name in flow.steps:
        if f"step:{name}" not in seen:
            message = f"no decision and no recovery leads to Step {name}"
            sketch.say("unreachable_step", "warning", message)


def _after_timeout(sketch: Sketch) -> Iterator[str]:
    """Name the Steps to which the options of a start may lead when its handler has failed.

    Who starts the Flow says which, so that no source here tells: each that takes no input.
    """
    for step_type, step in sketch.flow.steps.items():
        if unwrap(step.handler.input_type) is type(None):
            yield step_type
