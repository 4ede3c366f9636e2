"""From what a user's code gives to the documents that are stored: inputs, decisions, failures."""

from __future__ import annotations

from typing import Any, get_args

from dexnb.errors import (
    DefinitionError,
    FlowDefinitionError,
    InvalidStepResultError,
    Problem,
)
from dexnb.flow.codec import encode, text_of
from dexnb.flow.decision import StepDecision, StepMovement
from dexnb.flow.name import name_fix
from dexnb.flow.output import OMITTED
from dexnb.flow.recovery import recovery_problems
from dexnb.flow.registry import RegisteredFlow, RegisteredStep
from dexnb.flow.resolve import Resolver, step_type_of
from dexnb.flow.typed import check, check_own
from dexnb.model.message import Decision, DecisionKind, Failure, Movement, Start
from dexnb.model.shown import cut, shown

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
    fix_id = name_fix(flow_id)
    if fix_id is not None:
        problems.append(Problem(f"{flow.flow_type} flow_id", shown(flow_id), fix_id))
    if problems or flow.start is None:
        raise FlowDefinitionError(flow.flow_type, problems)
    document = _input(input, flow, flow.start)
    movement = Movement(flow.start.step_type, document)
    return Start(flow_id, flow.flow_type, document, movement, _overrides(flow, overrides))


def _overrides(flow: RegisteredFlow, overrides: dict[str, Any] | None) -> dict[str, Any]:
    operation = f"overrides of {flow.flow_type}"
    document: dict[str, Any] = encode(dict(overrides or {}), operation)
    text_of(document, operation)
    return document


def map_decision(decision: Any, flow: RegisteredFlow, step: RegisteredStep) -> Decision:
    """Check and encode what a Step method returned.

    Raises:
        InvalidStepResultError: It is no decision, or names something unknown or unfit.
    """
    try:
        return _map_decision(decision, flow)
    except DefinitionError as error:
        raise InvalidStepResultError(
            flow.flow_type, step.step_type, "execute", str(error)
        ) from error


def _map_decision(decision: Any, flow: RegisteredFlow) -> Decision:
    if not isinstance(decision, StepDecision):
        detail = f"execute must return StepDecision, got {type(decision).__name__}: "
        detail += "return go_to(...), graceful_complete(...) or another decision"
        raise DefinitionError(detail)
    if decision.kind not in get_args(DecisionKind):
        kinds = "go_to(...), graceful_complete(...), force_fail(...) or another maker"
        raise DefinitionError(f"decision kind is {shown(decision.kind)}: use {kinds}")
    if decision.kind == "next" and not decision.movements:
        raise DefinitionError("decision next has no movement: use go_to(YourStep, input)")
    if not isinstance(decision.reason, str):
        raise DefinitionError(f"force_fail reason is {shown(decision.reason)}: give a str")
    text_of(decision.reason, "force_fail reason")
    movements = tuple(_map_movement(movement, flow) for movement in decision.movements)
    if decision.output is OMITTED:
        return Decision(decision.kind, movements, reason=decision.reason)
    output = check_own(decision.output, "output")
    text_of(output, "output")
    return Decision(decision.kind, movements, output, has_output=True, reason=decision.reason)


def _map_movement(movement: StepMovement, flow: RegisteredFlow) -> Movement:
    given: Any = movement
    if not isinstance(given, StepMovement):
        raise DefinitionError(f"movement is {shown(given)}: give StepMovement.of(YourStep, input)")
    step_type = step_type_of(movement.step)
    registered = flow.steps.get(step_type)
    if registered is None:
        names = ", ".join(sorted(flow.steps))
        detail = f"Step class is not registered: {step_type}; get_steps() lists {names}"
        raise DefinitionError(detail)
    document = _input(movement.input, flow, registered)
    if movement.options is None:
        return Movement(step_type, document)
    where = f"{flow.flow_type}.{step_type}"
    resolver = Resolver(where, flow.minimum_heartbeat)
    settings = resolver.settings(movement.options)
    problems = [
        *resolver.problems,
        *recovery_problems(f"{where}.recovery", step_type, settings, flow.steps),
    ]
    if problems:
        raise DefinitionError("; ".join(map(str, problems)))
    return Movement(step_type, document, settings.to_json())


def _input(value: Any, flow: RegisteredFlow, step: RegisteredStep) -> Any:
    operation = f"input of {flow.flow_type}.{step.step_type}"
    document = check(value, step.handler.input_type, operation)
    text_of(document, operation)
    return document


def failure_of(error: BaseException) -> Failure:
    """Name an exception as a recovery Step sees it: `module.QualName` and its text."""
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return Failure(cut(name, MAX_ERROR_TYPE), cut(_text_of(error), MAX_DETAIL))


def _text_of(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception as broken:  # noqa: BLE001 - an exception's own __str__ may raise anything
        return f"{type(error).__name__} whose text raised {type(broken).__name__}"
