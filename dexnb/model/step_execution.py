"""`StepExecution`: one execution of a Step between its scheduling and its end."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any, Literal, get_args

from dexnb.model.decision import Failure, Movement, failure_from, movement_from, plan_fields
from dexnb.model.json_text import NUMBER, Fields, check_choice, check_fields
from dexnb.model.message import Method
from dexnb.model.writes import wait_from

Phase = Literal["delayed", "queued", "running", "waiting"]


@dataclass(slots=True)
class StepExecution:
    """One scheduled execution of a Step that has not ended yet.

    Args:
        movement: What was scheduled.
        from_step_execution_id: The execution that led here, or empty.
        recovery_error: Why that one failed, in a recovery.
        scheduled_at: Store time.
        method: The method that runs, or that is waited behind.
        phase: `delayed` by the start, `queued` for its locks, `running` (or in the work queue),
            `waiting` for conditions.
        wait: What it waits for.
        wait_started_at: Store time from which its timers count.
        fired: Places of the timers that are due.
        subflows: What is known of each SubFlow that was started, by its condition's place.
        results: What its wait has given to `execute`.
        local_values: Values that `wait_for` left for `execute`.
    """

    movement: Movement
    from_step_execution_id: str = ""
    recovery_error: Failure | None = None
    scheduled_at: float = 0.0
    method: Method = "execute"
    phase: Phase = "running"
    wait: dict[str, Any] | None = None
    wait_started_at: float = 0.0
    fired: list[int] = field(default_factory=list)
    subflows: dict[str, dict[str, Any]] = field(default_factory=dict)
    results: dict[str, Any] | None = None
    local_values: dict[str, Any] = field(default_factory=dict)

    @property
    def locks(self) -> list[str]:
        """The Attributes that its method must hold."""
        return plan_fields(self.movement.plan, self.method)[0]

    def enter(self, method: Method) -> None:
        """Go on with a method: at once, or when its locks are free."""
        self.method = method
        self.phase = "queued" if self.locks else "running"

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form; what only waiting Steps have is left out of the others."""
        error = self.recovery_error
        document = {
            **self.movement.to_json(),
            "from_step_execution_id": self.from_step_execution_id,
            "recovery_error": None if error is None else asdict(error),
            "scheduled_at": self.scheduled_at,
        }
        for (name, default), value in zip(_DEFAULTS.items(), _optional(self), strict=True):
            if value != default:
                document[name] = value
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> StepExecution:
        """Read the plain JSON form.

        Raises:
            DocumentError: It is no such document.
        """
        check_fields(document, _STEP, "active Step")
        given = {name: document[name] for name in _DEFAULTS if name in document}
        check_fields(given, {name: _OPTIONAL[name] for name in given}, "active Step")
        if "method" in given:
            check_choice(given["method"], get_args(Method), "active Step method")
        if "phase" in given:
            check_choice(given["phase"], get_args(Phase), "active Step phase")
        if "wait" in given:
            wait_from(given["wait"])
        return cls(
            movement_from(document),
            document["from_step_execution_id"],
            failure_from(document["recovery_error"]),
            document["scheduled_at"],
            **given,
        )


_STEP: Fields = {
    "from_step_execution_id": str,
    "recovery_error": (dict, type(None)),
    "scheduled_at": NUMBER,
}
_OPTIONAL: Fields = {
    "method": str,
    "phase": str,
    "wait": dict,
    "wait_started_at": NUMBER,
    "fired": list,
    "subflows": dict,
    "results": dict,
    "local_values": dict,
}
_DEFAULTS: dict[str, Any] = {
    "method": "execute",
    "phase": "running",
    "wait": None,
    "wait_started_at": 0.0,
    "fired": [],
    "subflows": {},
    "results": None,
    "local_values": {},
}
_optional = attrgetter(*_DEFAULTS)
