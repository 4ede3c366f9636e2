"""`RunState`: what a Flow's history adds up to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal, get_args

from dexnb.errors import DocumentError
from dexnb.model.decision import check_names, movement_from
from dexnb.model.json_text import NUMBER, Fields, check_choice, check_fields, from_text, to_text
from dexnb.model.step_execution import StepExecution

RunStatus = Literal["RUNNING", "COMPLETED", "FAILED", "CANCELED", "TERMINATED"]

REQUESTS = 64
"""How many request ids are remembered, so that a repeated one changes nothing."""


@dataclass(slots=True)
class RunState:
    """A run as its history tells it.

    Args:
        flow_id: The id that the caller gave.
        run_id: This run of it.
        flow_type: The registered name of the Flow.
        status: RUNNING until the run is closed.
        input: The encoded input of the start Step.
        overrides: Knob values of this run.
        active: Executions that are scheduled, running or waiting, by step execution id.
        numbers: How many executions each Step type has had.
        completions: Ends of branches, in order: step_type, step_execution_id, output if there is.
        error_type: Why the run failed, by FlowErrorType's names.
        error_message: The same in words.
        started_at: Seconds on the store's clock.
        closed_at: The same, or None while it runs.
        events: How many events were folded in.
        attributes: What Attributes hold, encoded, by physical name.
        channels: Messages that nobody has consumed, as pairs of id and value, by physical name.
        published: How many messages there ever were; the newest one's id.
        locks: Who holds an Attribute, by its physical name: a step execution id, or a request id.
        rpc_until: Until when an RPC holds its locks, by request id, if it has renewed them.
        requests: The newest request ids that were served.
        parents: Runs whose SubFlow this is.
        timeout_policy: What happens when the run's timeout is over.
        timeout_handler: The Step that runs then, as a plain movement.
        config: What the run asks of the runtime.
        request_id: The start's.
        origins: The runs that this one was time-travelled from, oldest first.
    """

    flow_id: str = ""
    run_id: str = ""
    flow_type: str = ""
    status: RunStatus = "RUNNING"
    input: Any = None
    overrides: dict[str, Any] = field(default_factory=dict)
    active: dict[str, StepExecution] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    completions: list[dict[str, Any]] = field(default_factory=list)
    error_type: str = ""
    error_message: str = ""
    started_at: float = 0.0
    closed_at: float | None = None
    events: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)
    channels: dict[str, list[list[Any]]] = field(default_factory=dict)
    published: int = 0
    locks: dict[str, str] = field(default_factory=dict)
    rpc_until: dict[str, float] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    parents: list[dict[str, Any]] = field(default_factory=list)
    timeout_policy: str = ""
    timeout_handler: dict[str, Any] | None = None
    config: dict[str, Any] = field(default_factory=dict)
    request_id: str = ""
    origins: list[str] = field(default_factory=list)

    @property
    def closed(self) -> bool:
        """Tell whether the run has ended."""
        return self.status != "RUNNING"

    @property
    def waiting(self) -> Iterator[tuple[str, StepExecution]]:
        """Give the executions that wait for conditions, in the order in which they came."""
        return ((key, step) for key, step in self.active.items() if step.phase == "waiting")

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form that is stored and shown; unused parts are left out."""
        document = dict(zip(_STATE, _required(self), strict=True))
        document["active"] = {key: step.to_json() for key, step in self.active.items()}
        optional = zip(_OPTIONAL, _optional(self), strict=True)
        document.update({name: value for name, value in optional if value})
        return document

    def to_text(self) -> str:
        """Give the JSON text that a store keeps."""
        return to_text(self.to_json())

    @classmethod
    def from_text(cls, text: str) -> RunState:
        """Read the stored text.

        Raises:
            DocumentError: The text is no run state.
        """
        document = check_fields(from_text(text, "run state"), _STATE, "run state")
        check_choice(document["status"], _STATUSES, "run state status")
        numbers = document["numbers"]
        check_fields(numbers, dict.fromkeys(numbers, int), "run state numbers")
        for completion in document["completions"]:
            check_fields(completion, _COMPLETION, "completion")
        given = {name: document[name] for name in _OPTIONAL if name in document}
        check_fields(given, {name: _OPTIONAL[name] for name in given}, "run state")
        check_channels(given.get("channels", {}))
        check_names(given.get("origins", []), "run state origins")
        try:
            steps = document["active"].items()
            active = {key: StepExecution.from_json(step) for key, step in steps}
            movement_from(given.get("timeout_handler"))
        except RecursionError:
            message = "run state is nested too deeply"
            raise DocumentError(message) from None
        return cls(**{**{name: document[name] for name in _STATE}, "active": active, **given})


def active_step(text: str, step_execution_id: str) -> StepExecution | None:
    """Read one active execution out of a stored state, which may have thousands of others.

    Raises:
        DocumentError: The text is no run state, or the execution none.
    """
    document = check_fields(from_text(text, "run state"), {"active": dict}, "run state")
    step = document["active"].get(step_execution_id)
    return None if step is None else StepExecution.from_json(step)


def check_channels(channels: dict[str, Any]) -> None:
    """Take pending messages: for each Channel, pairs of id and value.

    Raises:
        DocumentError: They are no such thing.
    """
    for name, messages in channels.items():
        for pair in check_fields({name: messages}, {name: list}, "run state channels")[name]:
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):  # noqa: PLR2004
                message = f"Channel {name} holds no pair of id and value"
                raise DocumentError(message)


_STATUSES = get_args(RunStatus)
_COMPLETION: Fields = {"step_type": str, "step_execution_id": str}
_STATE: Fields = {
    "flow_id": str,
    "run_id": str,
    "flow_type": str,
    "status": str,
    "input": object,
    "overrides": dict,
    "active": dict,
    "numbers": dict,
    "completions": list,
    "error_type": str,
    "error_message": str,
    "started_at": NUMBER,
    "closed_at": (*NUMBER, type(None)),
    "events": int,
}
_OPTIONAL: Fields = {
    "attributes": dict,
    "channels": dict,
    "published": int,
    "locks": dict,
    "rpc_until": dict,
    "requests": list,
    "parents": list,
    "timeout_policy": str,
    "timeout_handler": dict,
    "config": dict,
    "request_id": str,
    "origins": list,
}
_required, _optional = attrgetter(*_STATE), attrgetter(*_OPTIONAL)
