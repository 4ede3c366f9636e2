"""What reaches a run: the messages that a turn folds, and the decision that a Step gave."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from dexnb.errors import DocumentError
from dexnb.model.json_text import from_text, to_text

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


Message = Start | StepDone | StepFailed | Stop
_KINDS: dict[str, type[Message]] = {
    "start": Start,
    "step_done": StepDone,
    "step_failed": StepFailed,
    "stop": Stop,
}
_NAMES = {type_: name for name, type_ in _KINDS.items()}


def encode_message(message: Message) -> str:
    """Write a message as the JSON text that a store keeps."""
    return to_text({"kind": _NAMES[type(message)], **asdict(message)})


def decode_message(text: str) -> Message:
    """Read what `encode_message` wrote.

    Raises:
        DocumentError: The text is no message; the run that it belongs to cannot go on with it.
    """
    document = from_text(text, "message")
    try:
        kind = document.pop("kind")
        return _READERS[kind](document)
    except (AttributeError, KeyError, TypeError) as error:
        message = f"message cannot be read: {type(error).__name__} {error}"
        raise DocumentError(message) from error


def movement_from(document: dict[str, Any] | None) -> Movement | None:
    """Read a Movement's plain JSON form; None stays None."""
    return None if document is None else Movement(**document)


def failure_from(document: dict[str, Any] | None) -> Failure | None:
    """Read a Failure's plain JSON form; None stays None."""
    if document is None:
        return None
    return Failure(
        document["error_type"], document["detail"], failure_from(document.get("last_error"))
    )


def decision_from(document: dict[str, Any]) -> Decision:
    """Read a Decision's plain JSON form."""
    movements = tuple(Movement(**movement) for movement in document["movements"])
    return Decision(**{**document, "movements": movements})


def _start(document: dict[str, Any]) -> Start:
    return Start(**{**document, "start_step": movement_from(document["start_step"])})


def _step_done(document: dict[str, Any]) -> StepDone:
    return StepDone(**{**document, "decision": decision_from(document["decision"])})


def _step_failed(document: dict[str, Any]) -> StepFailed:
    return StepFailed(
        **{
            **document,
            "failure": failure_from(document["failure"]),
            "recovery": movement_from(document["recovery"]),
        }
    )


_READERS: dict[str, Any] = {
    "start": _start,
    "step_done": _step_done,
    "step_failed": _step_failed,
    "stop": lambda document: Stop(**document),
}
