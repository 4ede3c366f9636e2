"""What reaches a run: the messages that a turn folds, and the decision that a Step gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, get_args, overload

from dexnb.errors import DocumentError
from dexnb.model.json_text import Fields, check_choice, check_fields, from_text, to_text
from dexnb.model.settings import StepSettings

DecisionKind = Literal["next", "graceful_complete", "force_complete", "force_fail", "dead_end"]
StopKind = Literal["CANCEL", "TERMINATE", "FAIL"]


@dataclass(frozen=True, slots=True)
class Movement:
    """A Step to schedule, with its encoded input and the options that replace its own."""

    step_type: str
    input: Any = None
    options: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a Step decided, encoded.

    Args:
        kind: What follows.
        movements: The Steps to schedule, for `next`.
        output: The encoded output, where `has_output`.
        has_output: Tells an explicit null from no output at all.
        reason: Why the Flow fails, for `force_fail`.
    """

    kind: DecisionKind
    movements: tuple[Movement, ...] = ()
    output: Any = None
    has_output: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as it is stored.

    Args:
        error_type: `module.QualName` of an exception, or the name of a timeout.
        detail: Its text, or the timeout's sentence.
        last_error: The last error of the Step's own code, where this one is a timeout.
    """

    error_type: str
    detail: str
    last_error: Failure | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Start a run with its first Step; `overrides` are knob values of this run."""

    flow_id: str
    flow_type: str
    input: Any = None
    start_step: Movement | None = None
    overrides: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepDone:
    """An attempt ended with a decision."""

    step_execution_id: str
    attempt: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A Step's last attempt failed: no retry is left.

    Args:
        step_execution_id: Which execution.
        attempt: The last attempt's number.
        failure: Why it ended.
        recovery: Where `on_execute_failure_proceed_to` leads, or None to fail the Flow.
    """

    step_execution_id: str
    attempt: int
    failure: Failure
    recovery: Movement | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """End the run from outside."""

    type: StopKind = "CANCEL"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KnobsChanged:
    """Knobs of the run were turned while it was open; by name, as in `Start`."""

    overrides: dict[str, Any]


Message = Start | StepDone | StepFailed | Stop | KnobsChanged
_KINDS: dict[str, type[Message]] = {
    "start": Start,
    "step_done": StepDone,
    "step_failed": StepFailed,
    "stop": Stop,
    "knobs_changed": KnobsChanged,
}
_NAMES = {type_: name for name, type_ in _KINDS.items()}


def encode_message(message: Message) -> str:
    """Write a message as the JSON text that a store keeps."""
    return to_text({"kind": _NAMES[type(message)], **_plain(message)})


def _plain(value: Any) -> Any:
    # Not `asdict`, which copies every item of what are plain documents already.
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def decode_message(text: str) -> Message:
    """Read what `encode_message` wrote.

    Raises:
        DocumentError: The text is no message; the run that it belongs to cannot go on with it.
    """
    document = check_fields(from_text(text, "message"), {"kind": str}, "message")
    kind = document["kind"]
    check_choice(kind, _READERS, "message kind")
    try:
        return _READERS[kind](document)
    except RecursionError:
        message = "message is nested too deeply"
        raise DocumentError(message) from None


@overload
def movement_from(document: dict[str, Any]) -> Movement: ...


@overload
def movement_from(document: dict[str, Any] | None) -> Movement | None: ...


def movement_from(document: dict[str, Any] | None) -> Movement | None:
    """Read a Movement's plain JSON form; None stays None.

    Raises:
        DocumentError: It is no movement.
    """
    return None if document is None else _movement(document)


def failure_from(document: dict[str, Any] | None) -> Failure | None:
    """Read a Failure's plain JSON form; None stays None.

    Raises:
        DocumentError: It is no failure.
    """
    return None if document is None else _failure(document)


def decision_from(document: dict[str, Any]) -> Decision:
    """Read a Decision's plain JSON form.

    Raises:
        DocumentError: It is no decision.
    """
    check_fields(document, _DECISION, "decision")
    check_choice(document["kind"], get_args(DecisionKind), "decision kind")
    movements = tuple(_movement(movement) for movement in document["movements"])
    return Decision(
        document["kind"],
        movements,
        document["output"],
        document["has_output"],
        document["reason"],
    )


_MAYBE_OBJECT = (dict, type(None))
_MOVEMENT: Fields = {"step_type": str, "input": object, "options": _MAYBE_OBJECT}
_FAILURE: Fields = {"error_type": str, "detail": str}
_DECISION: Fields = {
    "kind": str,
    "movements": (list, tuple),
    "output": object,
    "has_output": bool,
    "reason": str,
}
_START: Fields = {
    "flow_id": str,
    "flow_type": str,
    "input": object,
    "start_step": _MAYBE_OBJECT,
    "overrides": dict,
}
_DONE: Fields = {"step_execution_id": str, "attempt": int, "decision": dict}
_FAILED: Fields = {
    "step_execution_id": str,
    "attempt": int,
    "failure": dict,
    "recovery": _MAYBE_OBJECT,
}


def _movement(document: Any) -> Movement:
    check_fields(document, _MOVEMENT, "movement")
    options = document["options"]
    if options is not None:
        StepSettings.from_json(options)
    return Movement(document["step_type"], document["input"], options)


def _failure(document: Any) -> Failure:
    check_fields(document, _FAILURE, "failure")
    last_error = failure_from(document.get("last_error"))
    return Failure(document["error_type"], document["detail"], last_error)


def _start(document: dict[str, Any]) -> Start:
    check_fields(document, _START, "start")
    return Start(
        document["flow_id"],
        document["flow_type"],
        document["input"],
        movement_from(document["start_step"]),
        document["overrides"],
    )


def _step_done(document: dict[str, Any]) -> StepDone:
    check_fields(document, _DONE, "step_done")
    decision = decision_from(document["decision"])
    return StepDone(document["step_execution_id"], document["attempt"], decision)


def _step_failed(document: dict[str, Any]) -> StepFailed:
    check_fields(document, _FAILED, "step_failed")
    return StepFailed(
        document["step_execution_id"],
        document["attempt"],
        _failure(document["failure"]),
        movement_from(document["recovery"]),
    )


def _stop(document: dict[str, Any]) -> Stop:
    check_fields(document, {"type": str, "reason": str}, "stop")
    check_choice(document["type"], get_args(StopKind), "stop type")
    return Stop(document["type"], document["reason"])


def _knobs_changed(document: dict[str, Any]) -> KnobsChanged:
    check_fields(document, {"overrides": dict}, "knobs_changed")
    return KnobsChanged(document["overrides"])


_READERS: dict[str, Callable[[dict[str, Any]], Message]] = {
    "start": _start,
    "step_done": _step_done,
    "step_failed": _step_failed,
    "stop": _stop,
    "knobs_changed": _knobs_changed,
}
