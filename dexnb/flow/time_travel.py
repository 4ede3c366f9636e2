"""`TimeTravelOptions`: back to which point a run is taken."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.flow.client_options import StepExecutionId, StepName
from dexnb.flow.name import name_fix
from dexnb.flow.resolve import step_type_of
from dexnb.model.shown import shown


class TimeTravelType(Enum):
    """What names the point: the beginning, a time, a Step's first execution, an execution."""

    BEGINNING = "beginning"
    HISTORY_EVENT_TIME = "history_event_time"
    STEP_TYPE = "step_type"
    STEP_EXECUTION_ID = "step_execution_id"


class TimeTravelStepMethod(Enum):
    """Before which method of the Step."""

    WAIT_FOR = "wait_for"
    EXECUTE = "execute"


@dataclass(frozen=True)
class TimeTravelOptions:
    """Back to which point a run is taken, as a new run; needs the field that its type names.

    Args:
        type: What names the point.
        history_event_time: The time, with a zone.
        step_type: A Step's type, or its class.
        step_execution_id: An execution.
        step_method: Before which of its methods; before the first one by default.
        reason: For the history.
        skip_writes_reapply: Whether what came from outside after that point is left out.

    Raises:
        DefinitionError: A field is missing, superfluous or of another kind.
    """

    type: TimeTravelType
    history_event_time: datetime | None = None
    step_type: StepName | None = None
    step_execution_id: StepExecutionId | None = None
    step_method: TimeTravelStepMethod | None = None
    reason: str | None = None
    skip_writes_reapply: bool = False

    def __post_init__(self) -> None:
        """Refuse what names no point."""
        if not isinstance(self.type, TimeTravelType):
            _refuse("type", self.type, "give TimeTravelType.BEGINNING or another member")
        for member in TimeTravelType:
            name = member.value
            if member is TimeTravelType.BEGINNING:
                continue
            given = getattr(self, name) is not None
            if given and member is not self.type:
                fix = f"leave it out, or give TimeTravelType.{member.name} as the type"
                _refuse(name, getattr(self, name), fix)
            if not given and member is self.type:
                _refuse(name, None, f"give it, because the type is {member.name}")
        self._check_kinds()

    def _check_kinds(self) -> None:
        time: Any = self.history_event_time
        if time is not None and (not isinstance(time, datetime) or time.tzinfo is None):
            _refuse("history_event_time", time, "give a datetime with a zone")
        execution: Any = self.step_execution_id
        if execution is not None and not isinstance(execution, StepExecutionId):
            _refuse("step_execution_id", execution, "give StepExecutionId('YourStep', 1)")
        if self.step_type is not None:
            fix = name_fix(self.step_name, reserved="/$")
            if fix is not None:
                _refuse("step_type", self.step_type, fix)
        self._check_rest()

    def _check_rest(self) -> None:
        method: Any = self.step_method
        if method is not None and not isinstance(method, TimeTravelStepMethod):
            _refuse("step_method", method, "give TimeTravelStepMethod.WAIT_FOR or EXECUTE")
        if method is not None and self.step_type is None and self.step_execution_id is None:
            _refuse("step_method", method, "leave it out where no Step is named")
        reason: Any = self.reason
        if reason is not None and not isinstance(reason, str):
            _refuse("reason", reason, "give a str or None")
        skip: Any = self.skip_writes_reapply
        if not isinstance(skip, bool):
            _refuse("skip_writes_reapply", skip, "give True or False")

    @property
    def step_name(self) -> str:
        """The type of the Step that is named; empty for none."""
        if self.step_execution_id is not None:
            return self.step_execution_id.name
        given = self.step_type
        if given is None:
            return ""
        return given if isinstance(given, str) else step_type_of(given)


def _refuse(field: str, value: Any, fix: str) -> None:
    raise DefinitionError(f"TimeTravelOptions.{field} is {shown(value)}: {fix}")
