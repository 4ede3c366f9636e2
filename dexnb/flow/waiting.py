"""From the `Wait` that a Step's wait_for gave to the document that is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dexnb.errors import DefinitionError, InvalidStepResultError
from dexnb.flow.condition import ChannelCondition, Condition
from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow, RegisteredStep
from dexnb.flow.starting import StartReader
from dexnb.flow.subflow import SubFlowCondition
from dexnb.flow.wait import Wait
from dexnb.model.message import plain

FlowOf = Callable[[Flow[Any]], RegisteredFlow]


def map_wait(
    wait: Any, flow_of: FlowOf, flow: RegisteredFlow, step: RegisteredStep
) -> dict[str, Any]:
    """Check and encode what a wait_for returned.

    Args:
        wait: What it returned.
        flow_of: Gives what is registered of a SubFlow's type; registers its Flow if none is.
        flow: The Flow.
        step: Its Step.

    Raises:
        InvalidStepResultError: It is no Wait, or waits for something unknown or unfit.
    """
    try:
        return _map_wait(wait, flow_of, flow)
    except DefinitionError as error:
        raise InvalidStepResultError(
            flow.flow_type, step.step_type, "wait_for", str(error)
        ) from error


def _map_wait(wait: Any, flow_of: FlowOf, flow: RegisteredFlow) -> dict[str, Any]:
    if not isinstance(wait, Wait):
        detail = f"wait_for must return Wait, got {type(wait).__name__}: return Wait.until(...), "
        raise DefinitionError(f"{detail}Wait.any_of(...) or another")
    return {
        "kind": wait.kind,
        "conditions": [_condition(each, flow_of, flow) for each in wait.conditions],
        "combinations": [list(each) for each in wait.combinations],
    }


def _condition(condition: Condition, flow_of: FlowOf, flow: RegisteredFlow) -> dict[str, Any]:
    document = condition.document()
    if isinstance(condition, ChannelCondition):
        flow.persistence.check_condition(condition)
    if isinstance(condition, SubFlowCondition):
        document["start"] = _start(condition, flow_of)
    return document


def _start(condition: SubFlowCondition, flow_of: FlowOf) -> dict[str, Any]:
    target = flow_of(condition.flow)
    reader = StartReader(target, f"SubFlow {target.flow_type}.options")
    return plain(reader.with_input(reader.read(condition.options), condition.input))
