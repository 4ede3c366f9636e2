"""From what a user's code gives to the documents that are stored: inputs, decisions, failures."""

from __future__ import annotations

from typing import Any, get_args

from dexnb.errors import DefinitionError, InvalidStepResultError, RetryAfterError
from dexnb.flow.channel import Channel
from dexnb.flow.codec import text_of
from dexnb.flow.decision import StepDecision
from dexnb.flow.movement import map_movement, map_recovery, step_types
from dexnb.flow.output import OMITTED
from dexnb.flow.registry import RegisteredFlow, RegisteredStep
from dexnb.flow.rpc_mapping import map_rpc_input, map_rpc_plan, map_rpc_result
from dexnb.flow.starting import map_start
from dexnb.flow.typed import check_own
from dexnb.flow.wait import Wait
from dexnb.flow.waiting import map_wait
from dexnb.model.decision import Decision, DecisionKind, Failure, Movement
from dexnb.model.shown import cut, shown

__all__ = [
    "failure_of",
    "map_decision",
    "map_recovery",
    "map_rpc_input",
    "map_rpc_plan",
    "map_rpc_result",
    "map_start",
    "map_wait",
]

MAX_DETAIL = 1024
MAX_ERROR_TYPE = 256

CONDITIONAL = "force_complete_if_channels_empty"
_KINDS = get_args(DecisionKind)


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
        detail += "a Wait is returned by wait_for; " if isinstance(decision, Wait) else ""
        detail += "return go_to(...), graceful_complete(...) or another decision"
        raise DefinitionError(detail)
    if decision.kind not in _KINDS:
        kinds = "go_to(...), graceful_complete(...), force_fail(...) or another maker"
        raise DefinitionError(f"decision kind is {shown(decision.kind)}: use {kinds}")
    _check_shape(decision)
    movements = tuple(map_movement(movement, flow) for movement in decision.movements)
    output, has_output = None, decision.output is not OMITTED
    if has_output:
        output = check_own(decision.output, "output")
        text_of(output, "output")
    return Decision(
        decision.kind,
        movements,
        output,
        has_output=has_output,
        reason=decision.reason,
        empty_channels=_channels(decision, flow),
        fallback=_fallback(decision, flow),
        **_canceling(decision, flow),
    )


def _check_shape(decision: StepDecision) -> None:
    """Refuse what no maker makes: parts that do not go together, or are missing."""
    kind, given = decision.kind, decision.movements
    if not isinstance(given, tuple | list):
        fix = "give a tuple, or use go_to_many(StepMovement.of(YourStep, input), ...)"
        raise DefinitionError(f"decision movements is {shown(given)}: {fix}")
    if kind == "next" and not decision.movements:
        fix = "use go_to(YourStep, input), or give go_to_many(...) a movement"
        raise DefinitionError(f"decision next has no movement: {fix}")
    if kind != "next" and decision.movements:
        fix = "use go_to or go_to_many alone; a Flow that ends goes nowhere"
        raise DefinitionError(f"decision {kind} has movements: {fix}")
    if decision.output is not OMITTED and kind in _WITHOUT_OUTPUT:
        fix = "leave it out, or end with graceful_complete(output)"
        raise DefinitionError(f"decision {kind} has an output: {fix}")
    if not isinstance(decision.reason, str):
        raise DefinitionError(f"force_fail reason is {shown(decision.reason)}: give a str")
    text_of(decision.reason, "force_fail reason")


_WITHOUT_OUTPUT = ("next", "force_fail", "dead_end")


def _channels(decision: StepDecision, flow: RegisteredFlow) -> tuple[str, ...]:
    channels: Any = decision.empty_channels
    if decision.kind != CONDITIONAL:
        if channels:
            raise DefinitionError(f"decision {decision.kind} has empty_channels: use {CONDITIONAL}")
        return ()
    if not channels or not isinstance(channels, tuple | list):
        fix = "give the Channels that must be empty after the fallback, or use force_complete"
        raise DefinitionError(f"{CONDITIONAL} has no Channel: {fix}")
    for channel in channels:
        if not isinstance(channel, Channel):
            fix = "give a Channel; a ChannelMap cannot be checked as a whole"
            raise DefinitionError(f"{CONDITIONAL} got {shown(channel)}: {fix}")
        flow.persistence.check(channel)
    return tuple(dict.fromkeys(channel.name for channel in channels))


def _fallback(decision: StepDecision, flow: RegisteredFlow) -> Movement | None:
    if decision.kind == CONDITIONAL:
        try:
            return map_movement(decision.fallback, flow)  # type: ignore[arg-type]  # None is refused there
        except DefinitionError as error:
            raise DefinitionError(f"{CONDITIONAL} fallback: {error}") from error
    if decision.fallback is not None:
        raise DefinitionError(f"decision {decision.kind} has a fallback: use {CONDITIONAL}")
    return None


def _canceling(decision: StepDecision, flow: RegisteredFlow) -> dict[str, tuple[str, ...]]:
    every = step_types(decision.canceling_steps, flow, "canceling_steps")
    siblings = step_types(decision.canceling_sibling_steps, flow, "canceling_sibling_steps")
    return {
        "canceling_steps": every,
        "canceling_sibling_steps": tuple(each for each in siblings if each not in every),
    }


def failure_of(error: BaseException) -> Failure:
    """Name an exception as a recovery Step sees it: `module.QualName` and its text.

    What `retry_after` was given stands for itself.
    """
    while isinstance(error, RetryAfterError):
        error = error.cause
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return Failure(cut(name, MAX_ERROR_TYPE), cut(_text_of(error), MAX_DETAIL))


def _text_of(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception as broken:  # noqa: BLE001 - an exception's own __str__ may raise anything
        return f"{type(error).__name__} whose text raised {type(broken).__name__}"
