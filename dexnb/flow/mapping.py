"""From what a user's code gives to the documents that are stored: inputs, decisions, failures."""

from __future__ import annotations

from typing import Any

from dexnb.errors import FlowDefinitionError, InvalidStepResultError, Problem, ValueMappingError
from dexnb.flow.codec import encode_text
from dexnb.flow.decision import StepDecision, StepMovement
from dexnb.flow.output import OMITTED
from dexnb.flow.registry import RegisteredFlow, RegisteredStep
from dexnb.flow.resolve import Resolver, step_type_of
from dexnb.flow.typed import check
from dexnb.model.json_text import from_text
from dexnb.model.message import Decision, Failure, Movement, Start

MAX_DETAIL = 1024
MAX_ERROR_TYPE = 256


def map_start(
    flow: RegisteredFlow, flow_id: str, input: Any, overrides: dict[str, Any] | None = None
) -> Start:
    """Make the message that starts a run.

    Raises:
        FlowDefinitionError: The Flow has no start Step, or the flow id cannot be one.
        ValueMappingError: The input does not fit the start Step or cannot be stored.
    """
    problems = []
    if flow.start is None:
        fix = "give get_steps() a StepList.start_step(...)"
        problems.append(Problem(f"{flow.flow_type}.get_steps", "without a start Step", fix))
    if not isinstance(flow_id, str) or not flow_id or any(letter in flow_id for letter in "/$:"):
        fix = "give a non-empty str without '/', '$' and ':'"
        problems.append(Problem(f"{flow.flow_type} flow_id", repr(flow_id), fix))
    if problems or flow.start is None:
        raise FlowDefinitionError(flow.flow_type, problems)
    operation = f"input of {flow.flow_type}.{flow.start.step_type}"
    document = _checked(input, flow.start.handler.input_type, operation)
    movement = Movement(flow.start.step_type, document)
    return Start(flow_id, flow.flow_type, document, movement, dict(overrides or {}))


def map_decision(decision: Any, flow: RegisteredFlow, step: RegisteredStep) -> Decision:
    """Check and encode what a Step method returned.

    Raises:
        InvalidStepResultError: It is no decision, or names something unknown or unfit.
    """
    if not isinstance(decision, StepDecision):
        got = type(decision).__name__
        detail = f"execute must return StepDecision, got {got}: return go_to(...), "
        detail += "graceful_complete(...) or another decision"
        raise InvalidStepResultError(flow.flow_type, step.step_type, "execute", detail)
    try:
        movements = tuple(_map_movement(movement, flow) for movement in decision.movements)
        has_output = decision.output is not OMITTED
        output = _checked(decision.output, Any, "output") if has_output else None
    except ValueMappingError as error:
        raise InvalidStepResultError(
            flow.flow_type, step.step_type, "execute", str(error)
        ) from error
    if decision.kind == "force_fail" and not isinstance(decision.reason, str):
        detail = f"force_fail reason is {decision.reason!r}: give a str"
        raise InvalidStepResultError(flow.flow_type, step.step_type, "execute", detail)
    return Decision(decision.kind, movements, output, has_output, decision.reason)


def _map_movement(movement: StepMovement, flow: RegisteredFlow) -> Movement:
    target = movement.step
    if not isinstance(target, type):
        detail = f"go_to got {target!r}: give the Step class, not an instance"
        raise ValueMappingError("decision", detail)
    step_type = step_type_of(target)
    registered = flow.steps.get(step_type)
    if registered is None:
        names = ", ".join(sorted(flow.steps))
        detail = f"Step class is not registered: {step_type}; get_steps() lists {names}"
        raise ValueMappingError("decision", detail)
    operation = f"input of {flow.flow_type}.{step_type}"
    document = _checked(movement.input, registered.handler.input_type, operation)
    if movement.options is None:
        return Movement(step_type, document)
    resolver = Resolver(f"{flow.flow_type}.{step_type}")
    settings = resolver.settings(movement.options)
    if resolver.problems:
        raise ValueMappingError("decision", "; ".join(map(str, resolver.problems)))
    return Movement(step_type, document, settings.to_json())


def _checked(value: Any, type_: Any, operation: str) -> Any:
    check(value, type_, operation)
    return from_text(encode_text(value, operation))


def failure_of(error: BaseException) -> Failure:
    """Name an exception as a recovery Step sees it: `module.QualName` and its text."""
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return Failure(_cut(name, MAX_ERROR_TYPE), _cut(_text_of(error), MAX_DETAIL))


def _text_of(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception as broken:  # noqa: BLE001 - an exception's own __str__ may raise anything
        return f"{type(error).__name__} whose text raised {type(broken).__name__}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
