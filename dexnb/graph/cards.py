"""The cards inside a Step or an RPC: what it waits for, what it decides, and the diamonds."""

from __future__ import annotations

from typing import Any

from dexnb.graph.conditions import Awaited
from dexnb.graph.outcomes import Outcome
from dexnb.graph.sketch import Sketch, Spot
from dexnb.graph.waits import Waiting
from dexnb.model.flow_graph import Node

UNKNOWN_TYPE = "unknown"


def decision_cards(owner: Spot, outcomes: list[Outcome], sketch: Sketch) -> None:
    """Draw what a method may decide, and where that leads."""
    if len(outcomes) > 1:
        diamond = f"decision-dispatch:{owner.owner}"
        sketch.inner.append(Node(diamond, "decision_dispatch", "?", parentId=owner.owner))
    for number, outcome in enumerate(outcomes, 1):
        spot = Spot(owner.owner, outcome.line, outcome.column, outcome.path)
        targets = [sketch.step(target, spot, outcome.type) for target in outcome.targets]
        for target in targets:
            sketch.way("transition", owner.owner, target, outcome.condition)
        checked = [sketch.resource(each, spot, "checks") for each in outcome.checked]
        for channel in checked:
            sketch.way("resource_read", owner.owner, channel)
        sketch.inner.append(
            Node(
                id=f"decision:{owner.owner}:{number}",
                kind="decision",
                name=outcome.type,
                parentId=owner.owner,
                condition=outcome.condition,
                decision={
                    "type": outcome.type,
                    "targets": targets,
                    "checkedChannels": checked,
                    "cancellations": [
                        {"stepId": sketch.step(step, spot, "cancels"), "scope": scope}
                        for step, scope in outcome.cancellations
                    ],
                },
                path=outcome.path,
                line=outcome.line,
                column=outcome.column,
            )
        )


def wait_cards(owner: Spot, waits: list[Waiting], sketch: Sketch) -> None:
    """Draw what a Step may wait for, and whom that ties it to."""
    if len(waits) > 1:
        diamond = f"wait-dispatch:{owner.owner}"
        sketch.inner.append(Node(diamond, "wait_dispatch", "?", parentId=owner.owner))
    for number, waiting in enumerate(waits, 1):
        spot = Spot(owner.owner, waiting.line, waiting.column, waiting.path)
        if waiting.type == UNKNOWN_TYPE:
            _say_hidden(spot, "wait_for returns a Wait", sketch)
            sketch.way("wait_condition", owner.owner, sketch.unknown(spot), waiting.condition)
        conditions = [_condition(each, waiting, spot, sketch) for each in waiting.conditions]
        sketch.inner.append(
            Node(
                id=f"wait:{owner.owner}:{number}",
                kind="wait",
                name=waiting.type,
                parentId=owner.owner,
                condition=waiting.condition,
                wait={"type": waiting.type, "conditions": conditions},
                path=waiting.path,
                line=waiting.line,
                column=waiting.column,
            )
        )


def _condition(each: Awaited, waiting: Waiting, spot: Spot, sketch: Sketch) -> dict[str, Any]:
    resource = subflow = ""
    if each.kind == "channel":
        resource = sketch.resource(each.resource, spot, "waits for")
        sketch.way("wait_condition", spot.owner, resource, waiting.condition)
    elif each.kind == "subflow":
        subflow = sketch.subflow(each.flow, spot)
        sketch.way("subflow", spot.owner, subflow, waiting.condition)
    elif each.kind == UNKNOWN_TYPE:
        _say_hidden(spot, f"waits for {each.expression}, a condition", sketch)
        sketch.way("wait_condition", spot.owner, sketch.unknown(spot), waiting.condition)
    return {
        "kind": each.kind,
        "label": each.label,
        "resourceId": resource,
        "subFlowId": subflow,
        "expression": each.expression,
    }


def _say_hidden(spot: Spot, what: str, sketch: Sketch) -> None:
    message = (
        f"{spot.name} line {spot.line}: {what} that only running the code can tell; "
        "make it where it is returned, or in a function that is called there by its name"
    )
    sketch.say("hidden_dex_wait", "warning", message, spot)
