"""What calls on an open run take beside its id: how to stop it, what to wait for, which Timer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from dexnb.clock import seconds_of
from dexnb.errors import DefinitionError
from dexnb.flow.name import name_fix
from dexnb.flow.resolve import step_type_of
from dexnb.flow.step import Step
from dexnb.model.shown import shown

StepName = str | type[Step[Any]]
"""A Step's type, or its class."""


class StopType(Enum):
    """How a run is ended: the status that it gets.

    With each of them a running async method gets CancelledError at once, and what it awaits in its
    own `finally` is refused; only what is closed by `async with` or a generator's end still runs. A
    sync method sees `is_cancellation_requested()`.
    """

    CANCEL = "cancel"
    TERMINATE = "terminate"
    FAIL = "fail"


@dataclass(frozen=True)
class StopFlowOptions:
    """How a run is ended from outside, and why.

    Raises:
        DefinitionError: The type is none, or the reason is no str.
    """

    type: StopType = StopType.CANCEL
    reason: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no run could be told."""
        if not isinstance(self.type, StopType):
            fix = "give StopType.CANCEL, TERMINATE or FAIL"
            raise DefinitionError(f"StopFlowOptions.type is {shown(self.type)}: {fix}")
        if self.reason is not None and not isinstance(self.reason, str):
            fix = "give a str or None"
            raise DefinitionError(f"StopFlowOptions.reason is {shown(self.reason)}: {fix}")


@dataclass(frozen=True)
class StepExecutionId:
    """One execution of a Step: its type, or its class, and which one from 1.

    Raises:
        DefinitionError: The type cannot be one, or the number is below 1.
    """

    step_type: StepName
    number: int = 1

    def __post_init__(self) -> None:
        """Refuse what no execution has."""
        fix = name_fix(self.name, reserved="/$")
        if fix is not None:
            raise DefinitionError(f"StepExecutionId.step_type is {shown(self.step_type)}: {fix}")
        if type(self.number) is not int or self.number < 1:
            fix = "give a whole number from 1"
            raise DefinitionError(f"StepExecutionId.number is {shown(self.number)}: {fix}")

    @property
    def name(self) -> str:
        """The Step's type."""
        given = self.step_type
        return given if isinstance(given, str) else step_type_of(given)

    def __str__(self) -> str:
        """Give it as histories show it: `AwaitJob-1`."""
        return f"{self.name}-{self.number}"


@dataclass(frozen=True)
class TimerId:
    """A Timer of a waiting Step; made by `by_condition_id` or `by_condition_index`.

    Raises:
        DefinitionError: It is neither an id nor an index, or both.
    """

    condition_id: str | None = None
    condition_index: int | None = None

    def __post_init__(self) -> None:
        """Refuse what names no Timer."""
        if (self.condition_id is None) == (self.condition_index is None):
            fix = "use TimerId.by_condition_id('...') or TimerId.by_condition_index(0)"
            raise DefinitionError(f"TimerId is {shown(self.condition_id)}: {fix}")
        if self.condition_id is not None:
            fix_id = name_fix(self.condition_id, reserved="")
            if fix_id is not None:
                if isinstance(self.condition_id, int):
                    fix_id += f", or TimerId.by_condition_index({shown(self.condition_id)})"
                raise DefinitionError(
                    f"TimerId.condition_id is {shown(self.condition_id)}: {fix_id}"
                )
        elif type(self.condition_index) is not int or self.condition_index < 0:
            fix = "give the Timer's place among the Timers of the Wait, from 0"
            raise DefinitionError(
                f"TimerId.condition_index is {shown(self.condition_index)}: {fix}"
            )

    @classmethod
    def by_condition_id(cls, condition_id: str) -> TimerId:
        """Name a Timer by the id that its condition was given."""
        return cls(condition_id=condition_id)

    @classmethod
    def by_condition_index(cls, index: int) -> TimerId:
        """Name a Timer by its place among the Timers of the Wait, from 0."""
        return cls(condition_index=index)


@dataclass(frozen=True)
class RequestOptions:
    """What a call that waits may say of itself.

    Args:
        request_id: Tells one call from another in logs.
        request_timeout: Longest wait; a number is seconds, 0 for no limit.
        internal_handler_timeout: Taken for code that gives it; there is no such handler here.

    Raises:
        DefinitionError: The id is no str, or a timeout is no duration.
    """

    request_id: str = ""
    request_timeout: timedelta | float = 0
    internal_handler_timeout: timedelta | float = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be waited for."""
        name = type(self).__name__
        if not isinstance(self.request_id, str):
            raise DefinitionError(f"{name}.request_id is {shown(self.request_id)}: give a str")
        for field in ("request_timeout", "internal_handler_timeout"):
            seconds_of(getattr(self, field), name=f"{name}.{field}")

    @property
    def seconds(self) -> float | None:
        """The longest wait in seconds; None for no limit."""
        return seconds_of(self.request_timeout, name="request_timeout") or None


@dataclass(frozen=True)
class WaitForStepCompletionOptions(RequestOptions):
    """What a wait for the end of a Step's execution may say of itself."""


@dataclass(frozen=True)
class WaitForAttributeOptions(RequestOptions):
    """What a wait for an Attribute's value may say of itself."""
