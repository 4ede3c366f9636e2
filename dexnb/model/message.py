"""What reaches a run: the messages that a turn folds."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from dexnb.errors import DocumentError
from dexnb.model.decision import (
    Decision,
    Failure,
    Movement,
    check_names,
    decision_from,
    failure_from,
    movement_from,
)
from dexnb.model.json_text import NUMBER, check_choice, check_fields, from_text, to_text
from dexnb.model.writes import wait_from, writes_from

StopKind = Literal["CANCEL", "TERMINATE", "FAIL"]
Method = Literal["wait_for", "execute"]
TimeoutPolicy = Literal["FAIL", "CANCEL", "HANDLER"]


@dataclass(frozen=True, slots=True)
class Start:
    """Start a run with its first Step.

    Args:
        flow_id: The Flow's id.
        flow_type: The Flow's registered name.
        input: The encoded input of the start Step.
        start_step: Where it begins.
        overrides: Knob values of this run.
        start_delay: Seconds before the start Step may begin.
        timeout: Seconds after which the policy takes effect; 0 for never.
        timeout_policy: What happens then.
        timeout_handler: The Step that runs then, for HANDLER.
        attributes: What the run's Attributes hold at the beginning, by physical name.
        request_id: Tells one start from another with the same flow id.
        parent: Whose SubFlow it is: `run_id`, `step_execution_id`, `condition`.
        config: What the run asks of the runtime: `step_durability`.
    """

    flow_id: str
    flow_type: str
    input: Any = None
    start_step: Movement | None = None
    overrides: dict[str, Any] = field(default_factory=dict)
    start_delay: float = 0.0
    timeout: float = 0.0
    timeout_policy: TimeoutPolicy = "FAIL"
    timeout_handler: Movement | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    request_id: str = ""
    parent: dict[str, Any] | None = None
    config: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DelayOver:
    """A Step whose start was delayed may begin."""

    step_execution_id: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """An attempt of `execute` ended with a decision; `writes` are what it changed."""

    step_execution_id: str
    attempt: int
    decision: Decision
    writes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WaitDone:
    """An attempt of `wait_for` ended with what to wait for; `writes` are what it changed."""

    step_execution_id: str
    attempt: int
    wait: dict[str, Any]
    writes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A Step's last attempt failed: no retry is left.

    Args:
        step_execution_id: Which execution.
        attempt: The last attempt's number.
        failure: Why it ended.
        recovery: Where `on_execute_failure_proceed_to` leads, or None to fail the Flow.
        method: Which of its methods failed.
    """

    step_execution_id: str
    attempt: int
    failure: Failure
    recovery: Movement | None = None
    method: Method = "execute"


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer of a waiting Step is due, or was skipped; `condition` is its place in the wait."""

    step_execution_id: str
    condition: int
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Published:
    """Values for a Channel from outside the run; a repeated `request_id` changes nothing."""

    channel: str
    values: list[Any]
    source: str = ""
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class RpcBegin:
    """An RPC asks for its locks, once; it holds them until it is done, or `until`.

    Args:
        request_id: Who holds them then.
        locks: Physical names of Attributes.
        until: Store time at which they end.
        renews: Whether it only moves `until`, which does nothing if it does not hold them.
    """

    request_id: str
    locks: list[str]
    until: float
    renews: bool = False


@dataclass(frozen=True, slots=True)
class RpcDone:
    """An RPC has run.

    Args:
        request_id: Whose locks end; a repeated one changes nothing.
        name: The RPC's name.
        writes: What it changed.
        movements: Steps that it starts.
        canceling_steps: Step types whose executions it cancels.
        locked: Whether it holds locks.
        version: The number of events that it saw, where it must have seen all of them.
    """

    request_id: str
    name: str
    writes: dict[str, Any] = field(default_factory=dict)
    movements: tuple[Movement, ...] = ()
    canceling_steps: list[str] = field(default_factory=list)
    locked: bool = False
    version: int | None = None


@dataclass(frozen=True, slots=True)
class RpcVisit:
    """An RPC asks for a moment in which nothing else happens to the run.

    Args:
        request_id: Whose changes come with the turn that takes it; otherwise it is refused.
    """

    request_id: str


@dataclass(frozen=True, slots=True)
class RpcExpired:
    """An RPC writes nothing; its locks end, and its caller is told why.

    Args:
        request_id: Whose locks end.
        reason: Why.
        until: Does nothing if they were renewed beyond it; 0 for the word of the call itself.
    """

    request_id: str
    reason: str = "expired: it ran longer than its timeout"
    until: float = 0.0


@dataclass(frozen=True, slots=True)
class SubFlowClosed:
    """A SubFlow has ended; `result` is what its parent's Step is told."""

    step_execution_id: str
    condition: int
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ParentAdded:
    """Another run waits for this one too; as in `Start.parent`."""

    parent: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FlowTimeout:
    """The run's timeout is over."""


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """What the run asks of the runtime has changed."""

    config: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stop:
    """End the run from outside.

    Args:
        type: How it ends.
        reason: Why.
        makes_way: Whether another run goes on in its place, as behind a time travel: those whose
            SubFlow it is are not told, because they wait for that one.
    """

    type: StopKind = "CANCEL"
    reason: str = ""
    makes_way: bool = False


@dataclass(frozen=True, slots=True)
class KnobsChanged:
    """Knobs of the run were turned while it was open.

    Args:
        overrides: By name, as in `Start`.
        request_id: A repeated one changes nothing.
    """

    overrides: dict[str, Any]
    request_id: str = ""


Message = (
    Start
    | DelayOver
    | StepDone
    | WaitDone
    | StepFailed
    | TimerFired
    | Published
    | RpcBegin
    | RpcDone
    | RpcVisit
    | RpcExpired
    | SubFlowClosed
    | ParentAdded
    | FlowTimeout
    | ConfigChanged
    | Stop
    | KnobsChanged
)
_KINDS: dict[str, type[Message]] = {
    "start": Start,
    "delay_over": DelayOver,
    "step_done": StepDone,
    "wait_done": WaitDone,
    "step_failed": StepFailed,
    "timer_fired": TimerFired,
    "published": Published,
    "rpc_begin": RpcBegin,
    "rpc_done": RpcDone,
    "rpc_visit": RpcVisit,
    "rpc_expired": RpcExpired,
    "subflow_closed": SubFlowClosed,
    "parent_added": ParentAdded,
    "flow_timeout": FlowTimeout,
    "config_changed": ConfigChanged,
    "stop": Stop,
    "knobs_changed": KnobsChanged,
}
_NAMES = {type_: name for name, type_ in _KINDS.items()}


def encode_message(message: Message) -> str:
    """Write a message as the JSON text that a store keeps."""
    return to_text({"kind": _NAMES[type(message)], **plain(message)})


def plain(message: Message) -> dict[str, Any]:
    """Give a message's plain JSON form without its kind."""
    # Not `asdict`, which copies every item of what are plain documents already.
    return {name: _plain(getattr(message, name)) for name in _FIELDS[type(message)]}


def _plain(value: Any) -> Any:
    if isinstance(value, Decision | Movement | Failure):
        return value.to_json()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def decode_message(text: str) -> Message:
    """Read what `encode_message` wrote.

    Raises:
        DocumentError: The text is no message; the run that it belongs to cannot go on with it.
    """
    document = check_fields(from_text(text, "message"), {"kind": str}, "message")
    kind = document["kind"]
    check_choice(kind, _KINDS, "message kind")
    message: Message = message_from(document, _KINDS[kind])
    return message


def message_from(document: Any, type_: type[Any]) -> Any:
    """Read the plain JSON form of a message of one type.

    Raises:
        DocumentError: It is no such document.
    """
    check_fields(document, _FIELDS[type_], _NAMES[type_])
    try:
        return type_(**{name: _read(type_, name, document[name]) for name in _FIELDS[type_]})
    except RecursionError:
        message = "message is nested too deeply"
        raise DocumentError(message) from None


def _read(type_: type[Any], name: str, value: Any) -> Any:
    if name in _PARTS:
        return _PARTS[name](value)
    if (type_, name) in _NAMED:
        check_names(value, f"{_NAMES[type_]} {name}")
    if (type_, name) in _CHOICES:
        check_choice(value, _CHOICES[type_, name], f"{_NAMES[type_]} {name}")
    return value


_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "bool": bool,
    "float": NUMBER,
    "int | None": (int, type(None)),
    "Any": object,
    "list[Any]": list,
    "list[str]": list,
    "dict[str, Any]": dict,
    "dict[str, Any] | None": (dict, type(None)),
    "Decision": dict,
    "Failure": dict,
    "Movement | None": (dict, type(None)),
    "tuple[Movement, ...]": list,
    "StopKind": str,
    "Method": str,
    "TimeoutPolicy": str,
}
_PARTS: dict[str, Any] = {
    "decision": decision_from,
    "failure": failure_from,
    "recovery": movement_from,
    "start_step": movement_from,
    "timeout_handler": movement_from,
    "writes": writes_from,
    "wait": wait_from,
    "movements": lambda documents: tuple(movement_from(each) for each in documents),
}
_NAMED = {(RpcBegin, "locks"), (RpcDone, "canceling_steps")}
_CHOICES: dict[tuple[type, str], tuple[str, ...]] = {
    (Stop, "type"): ("CANCEL", "TERMINATE", "FAIL"),
    (StepFailed, "method"): ("wait_for", "execute"),
    (Start, "timeout_policy"): ("FAIL", "CANCEL", "HANDLER"),
}


_FIELDS = {type_: {each.name: _TYPES[str(each.type)] for each in fields(type_)} for type_ in _NAMES}
