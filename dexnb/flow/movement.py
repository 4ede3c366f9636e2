"""From a `StepMovement` to the document of a Step to schedule, with its plan."""

from __future__ import annotations

from typing import Any

from dexnb.errors import DefinitionError
from dexnb.flow.codec import text_of
from dexnb.flow.decision import StepMovement
from dexnb.flow.options import StepOptions
from dexnb.flow.plan import Plan, need_problems
from dexnb.flow.recovery import recovery_problems, with_recovery_plan
from dexnb.flow.registry import RegisteredFlow, RegisteredStep
from dexnb.flow.resolve import Resolver, step_type_of
from dexnb.flow.timeout_step import SYSTEM_PREFIX
from dexnb.flow.typed import check_input
from dexnb.model.decision import Movement
from dexnb.model.settings import StepSettings
from dexnb.model.shown import shown


def map_movement(movement: StepMovement, flow: RegisteredFlow) -> Movement:
    """Check and encode where a decision or an RPC leads.

    Raises:
        DefinitionError: It names something unknown or unfit.
    """
    given: Any = movement
    if not isinstance(given, StepMovement):
        raise DefinitionError(f"movement is {shown(given)}: give StepMovement.of(YourStep, input)")
    registered = registered_step(movement.step, flow)
    document = map_input(movement.input, flow, registered)
    if movement.options is None:
        return Movement(registered.step_type, document, plan=registered.plan)
    settings, plan = _resolve(movement.options, flow, registered)
    return Movement(registered.step_type, document, settings.to_json(), plan)


def map_recovery(settings: StepSettings, flow: RegisteredFlow) -> Movement | None:
    """Give where settings lead when no retry is left, without an input; None for nowhere."""
    if settings.recovery is None:
        return None
    planned = with_recovery_plan(settings, flow.steps)
    return Movement(settings.recovery, None, planned.recovery_options, planned.recovery_plan)


def registered_step(step: Any, flow: RegisteredFlow) -> RegisteredStep:
    """Give the registered Step of a class.

    Raises:
        DefinitionError: It is no Step class, or the Flow does not list it.
    """
    step_type = step_type_of(step)
    registered = flow.steps.get(step_type)
    if registered is None or step_type.startswith(SYSTEM_PREFIX):
        names = sorted(name for name in flow.steps if not name.startswith(SYSTEM_PREFIX))
        detail = f"Step class is not registered: {step_type}; get_steps() lists {', '.join(names)}"
        raise DefinitionError(detail)
    return registered


def step_types(steps: Any, flow: RegisteredFlow, field: str) -> tuple[str, ...]:
    """Give the types of Steps to cancel, each once.

    Raises:
        DefinitionError: One is no Step class of the Flow.
    """
    if type(steps) is tuple and not steps:
        return ()
    if not isinstance(steps, tuple | list):
        raise DefinitionError(f"{field} is {shown(steps)}: give a tuple of Step classes")
    try:
        return tuple(dict.fromkeys(registered_step(step, flow).step_type for step in steps))
    except DefinitionError as error:
        raise DefinitionError(f"{field}: {error}") from error


def map_input(value: Any, flow: RegisteredFlow, step: RegisteredStep) -> Any:
    """Check and encode what a Step gets.

    Raises:
        ValueMappingError: It is of another type, or cannot be stored.
    """
    operation = f"input of {flow.flow_type}.{step.step_type}"
    document = check_input(value, step.handler.input_type, operation)
    text_of(document, operation)
    return document


def _resolve(
    options: StepOptions, flow: RegisteredFlow, step: RegisteredStep
) -> tuple[StepSettings, Plan | None]:
    where = f"{flow.flow_type}.{step.step_type}"
    resolver = Resolver(where, flow.minimum_heartbeat)
    settings = with_recovery_plan(resolver.settings(options), flow.steps)
    plan = resolver.plan(options, waits=step.wait_for is not None)
    problems = [
        *resolver.problems,
        *recovery_problems(f"{where}.recovery", step.step_type, settings, flow.steps),
        *need_problems(resolver.needs, flow.persistence),
    ]
    if problems:
        raise DefinitionError("; ".join(map(str, problems)))
    return settings, plan
