"""What names an execution, a Timer or a point in time is checked where it is made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dexnb import (
    StepExecutionId,
    StopFlowOptions,
    StopType,
    TimerId,
    TimeTravelOptions,
    TimeTravelStepMethod,
    TimeTravelType,
    WaitForAttributeOptions,
    WaitForStepCompletionOptions,
)
from dexnb.clock import LONGEST
from dexnb.errors import DefinitionError
from tests.flow.flows import Plain


class Named(Plain):
    """A Step with a type of its own."""

    def get_step_type(self) -> str:
        """Give it."""
        return "await-job"


def test_options_have_the_defaults_of_the_reference() -> None:
    """A stop cancels; an execution is the first; a wait has no limit."""
    assert (StopFlowOptions().type, StopFlowOptions().reason) == (StopType.CANCEL, None)
    assert StepExecutionId("A").number == 1
    for options in (WaitForStepCompletionOptions(), WaitForAttributeOptions()):
        assert (options.request_id, options.request_timeout) == ("", 0)
        assert (options.internal_handler_timeout, options.seconds) == (0, None)


@pytest.mark.parametrize(("kind", "name"), [("A", "A"), (Plain, "Plain"), (Named, "await-job")])
def test_an_execution_is_named_by_type_or_class(kind: Any, name: str) -> None:
    """It reads as in a history."""
    assert str(StepExecutionId(kind, 3)) == f"{name}-3"


def test_an_execution_of_the_timeout_handler_can_be_named() -> None:
    """Its type has a colon, which users' types have not."""
    assert str(StepExecutionId("sys:timeout_handler")) == "sys:timeout_handler-1"


def test_a_timer_is_named_by_id_or_place() -> None:
    """Never by both."""
    assert TimerId.by_condition_id("a").condition_id == "a"
    assert TimerId.by_condition_index(0).condition_index == 0
    both: dict[str, Any] = {"condition_id": "a", "condition_index": 0}
    for fields in ({}, both):
        with pytest.raises(DefinitionError, match=r"use TimerId\.by_condition_id"):
            TimerId(**fields)
    for given in ("", 5):
        condition_id: Any = given
        with pytest.raises(DefinitionError, match=r"TimerId\.condition_id is"):
            TimerId.by_condition_id(condition_id)


def test_a_place_given_for_a_timers_id_is_told_what_takes_it() -> None:
    """The first argument is the id."""
    fix = r"TimerId.condition_id is 2: .* or TimerId\.by_condition_index\(2\)"
    with pytest.raises(DefinitionError, match=fix):
        TimerId(2)  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(0, None), (1.5, 1.5), (timedelta(seconds=2), 2.0), (timedelta.max, LONGEST)],
)
def test_a_wait_has_a_limit_in_seconds(given: Any, seconds: float | None) -> None:
    """A number or a timedelta; 0 for none."""
    assert WaitForStepCompletionOptions(request_timeout=given).seconds == seconds


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"type": TimeTravelType.BEGINNING, "reason": "again", "skip_writes_reapply": True}, ""),
        ({"type": TimeTravelType.HISTORY_EVENT_TIME, "history_event_time": NOW}, ""),
        ({"type": TimeTravelType.STEP_TYPE, "step_type": Named}, "await-job"),
        (
            {
                "type": TimeTravelType.STEP_TYPE,
                "step_type": "A",
                "step_method": TimeTravelStepMethod.WAIT_FOR,
            },
            "A",
        ),
        (
            {
                "type": TimeTravelType.STEP_EXECUTION_ID,
                "step_execution_id": StepExecutionId("B", 2),
                "step_method": TimeTravelStepMethod.EXECUTE,
            },
            "B",
        ),
    ],
)
def test_each_kind_of_point_in_time_has_its_field(fields: dict[str, Any], name: str) -> None:
    """And what goes with it."""
    assert TimeTravelOptions(**fields).step_name == name


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"type": "BEGINNING"}, "type is 'BEGINNING': give TimeTravelType.BEGINNING"),
        (
            {"type": TimeTravelType.STEP_EXECUTION_ID, "step_execution_id": "A-1"},
            "step_execution_id is 'A-1': give StepExecutionId('YourStep', 1)",
        ),
        ({"type": TimeTravelType.STEP_TYPE, "step_type": "a/b"}, "step_type is 'a/b': leave out"),
        (
            {"type": TimeTravelType.STEP_TYPE, "step_type": "A", "step_method": "execute"},
            "step_method is 'execute': give TimeTravelStepMethod.WAIT_FOR or EXECUTE",
        ),
        (
            {"type": TimeTravelType.BEGINNING, "step_method": TimeTravelStepMethod.EXECUTE},
            "leave it out where no Step is named",
        ),
        ({"type": TimeTravelType.BEGINNING, "reason": 5}, "reason is 5: give a str or None"),
        (
            {"type": TimeTravelType.BEGINNING, "skip_writes_reapply": None},
            "skip_writes_reapply is None: give True or False",
        ),
    ],
)
def test_what_names_no_point_in_time_is_refused(fields: dict[str, Any], text: str) -> None:
    """With the field and the fix."""
    with pytest.raises(DefinitionError, match=r"^TimeTravelOptions\.") as caught:
        TimeTravelOptions(**fields)
    assert text in str(caught.value)
