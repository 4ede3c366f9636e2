"""`RunState`: what a Flow's history adds up to. The fold that Python and TypeScript share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from dexnb.errors import DocumentError
from dexnb.model.event import Event
from dexnb.model.json_text import (
    NUMBER,
    Fields,
    check_choice,
    check_fields,
    from_text,
    to_text,
)
from dexnb.model.message import (
    Failure,
    Movement,
    decision_from,
    failure_from,
    movement_from,
)
from dexnb.model.shown import shown

RunStatus = Literal["RUNNING", "COMPLETED", "FAILED", "CANCELED", "TERMINATED"]


@dataclass(slots=True)
class StepExecution:
    """One scheduled execution of a Step that has not ended yet."""

    movement: Movement
    from_step_execution_id: str = ""
    recovery_error: Failure | None = None
    scheduled_at: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form."""
        error = self.recovery_error
        return {
            "step_type": self.movement.step_type,
            "input": self.movement.input,
            "options": self.movement.options,
            "from_step_execution_id": self.from_step_execution_id,
            "recovery_error": None if error is None else asdict(error),
            "scheduled_at": self.scheduled_at,
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> StepExecution:
        """Read the plain JSON form.

        Raises:
            DocumentError: It is no such document.
        """
        check_fields(document, _STEP, "active Step")
        return cls(
            movement_from({name: document[name] for name in ("step_type", "input", "options")}),
            document["from_step_execution_id"],
            failure_from(document["recovery_error"]),
            document["scheduled_at"],
        )


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
        active: Executions that are scheduled or running, by step execution id.
        numbers: How many executions each Step type has had.
        completions: Ends of branches, in order: step_type, step_execution_id, output if there is.
        error_type: Why the run failed, by FlowErrorType's names.
        error_message: The same in words.
        started_at: Seconds on the store's clock.
        closed_at: The same, or None while it runs.
        events: How many events were folded in.
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

    @property
    def closed(self) -> bool:
        """Tell whether the run has ended."""
        return self.status != "RUNNING"

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form that is stored and shown."""
        document = {name: getattr(self, name) for name in _FIELDS}
        document["active"] = {key: step.to_json() for key, step in self.active.items()}
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
        check_choice(document["status"], get_args(RunStatus), "run state status")
        for step_type, number in document["numbers"].items():
            check_fields({step_type: number}, {step_type: int}, "run state numbers")
        for completion in document["completions"]:
            check_fields(completion, _COMPLETION, "completion")
        try:
            steps = document["active"].items()
            active = {key: StepExecution.from_json(step) for key, step in steps}
        except RecursionError:
            message = "run state is nested too deeply"
            raise DocumentError(message) from None
        return cls(**{**{name: document[name] for name in _FIELDS}, "active": active})

    def apply(self, event: Event) -> None:
        """Fold one durable event in.

        Raises:
            DocumentError: The event is telemetry, which never decides anything, its payload is not
                that of its kind, or it ends a Step that is not active.
        """
        if event.kind not in _CHANGES:
            message = f"{event.kind} is no durable event"
            raise DocumentError(message)
        fields, change = _CHANGES[event.kind]
        what = f"event {event.seq} ({event.kind})"
        check_fields(event.payload, fields, what)
        try:
            change(self, event)
        except KeyError:
            message = f"{what} is about {shown(event.step_execution_id)}, which is not active"
            raise DocumentError(message) from None
        self.events += 1


def fold(events: Iterable[Event]) -> RunState:
    """Give the state that a run's durable events add up to."""
    state = RunState()
    for event in events:
        state.apply(event)
    return state


def _flow_started(state: RunState, event: Event) -> None:
    state.flow_id, state.run_id = event.flow_id, event.run_id
    state.flow_type = event.payload["flow_type"]
    state.input = event.payload["input"]
    state.overrides = event.payload["overrides"]
    state.started_at = event.time


def _step_scheduled(state: RunState, event: Event) -> None:
    payload = event.payload
    step_type = payload["step_type"]
    state.numbers[step_type] = state.numbers.get(step_type, 0) + 1
    state.active[event.step_execution_id] = StepExecution(
        movement=Movement(step_type, payload["input"], payload["options"]),
        from_step_execution_id=payload["from_step_execution_id"],
        recovery_error=failure_from(payload["recovery_error"]),
        scheduled_at=event.time,
    )


def _step_completed(state: RunState, event: Event) -> None:
    decision = decision_from(event.payload["decision"])
    step = state.active.pop(event.step_execution_id)
    if decision.kind in ("graceful_complete", "force_complete"):
        completion = {
            "step_type": step.movement.step_type,
            "step_execution_id": event.step_execution_id,
        }
        if decision.has_output:
            completion["output"] = decision.output
        state.completions.append(completion)


def _step_ended(state: RunState, event: Event) -> None:
    state.active.pop(event.step_execution_id, None)


def _stop_requested(state: RunState, event: Event) -> None:
    """A request is history; what follows from it comes as events of its own."""


def _knobs_changed(state: RunState, event: Event) -> None:
    state.overrides = {**state.overrides, **event.payload["overrides"]}


def _flow_closed(state: RunState, event: Event) -> None:
    check_choice(event.payload["status"], get_args(RunStatus), "flow_closed status")
    state.status = event.payload["status"]
    state.error_type = event.payload["error_type"]
    state.error_message = event.payload["error_message"]
    state.closed_at = event.time


_MAYBE_OBJECT = (dict, type(None))
_MOVEMENT: Fields = {"step_type": str, "input": object, "options": _MAYBE_OBJECT}
_ORIGIN: Fields = {"from_step_execution_id": str, "recovery_error": _MAYBE_OBJECT}
_STEP: Fields = {**_MOVEMENT, **_ORIGIN, "scheduled_at": NUMBER}
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
_FIELDS = tuple(RunState.__dataclass_fields__)

_Change = tuple[Fields, Callable[[RunState, Event], None]]
_CHANGES: dict[str, _Change] = {
    "flow_started": ({"flow_type": str, "input": object, "overrides": dict}, _flow_started),
    "step_scheduled": ({**_MOVEMENT, **_ORIGIN}, _step_scheduled),
    "step_completed": ({"decision": dict}, _step_completed),
    "step_failed": ({}, _step_ended),
    "step_cancelled": ({}, _step_ended),
    "stop_requested": ({}, _stop_requested),
    "knobs_changed": ({"overrides": dict}, _knobs_changed),
    "flow_closed": ({"status": str, "error_type": str, "error_message": str}, _flow_closed),
}
