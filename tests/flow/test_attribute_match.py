"""An AttributeMatch tells the value that a client waits for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb import Attribute, AttributeMatch, ValueMappingError
from dexnb.errors import DefinitionError
from tests.flow.values import Job, Level, State

NUMBERS = st.integers() | st.floats(allow_nan=False)


@given(value=NUMBERS, operand=NUMBERS)
def test_numbers_are_compared_as_their_makers_say(value: float, operand: float) -> None:
    """All six, each as its name says."""
    assert AttributeMatch.equal_to(operand).matches(value) == (value == operand)
    assert AttributeMatch.not_equal_to(operand).matches(value) == (value != operand)
    assert AttributeMatch.greater_than(operand).matches(value) == (value > operand)
    assert AttributeMatch.greater_than_or_equal(operand).matches(value) == (value >= operand)
    assert AttributeMatch.less_than(operand).matches(value) == (value < operand)
    assert AttributeMatch.less_than_or_equal(operand).matches(value) == (value <= operand)


@pytest.mark.parametrize(
    ("operand", "same", "other"),
    [
        *(("a", "a", "b"), (True, True, False), (None, None, 0), ([1], [1], [2])),
        *(
            (State.QUEUED, State.QUEUED, State.RUNNING),
            (Job(State.QUEUED), Job(State.QUEUED), None),
        ),
        *((1, 1, True), (True, True, 1), (False, False, 0)),
    ],
)
def test_equality_is_for_every_kind_of_value(operand: Any, same: Any, other: Any) -> None:
    """True is another value than 1."""
    assert AttributeMatch.equal_to(operand).matches(same)
    assert not AttributeMatch.equal_to(operand).matches(other)
    assert AttributeMatch.not_equal_to(operand).matches(other)
    assert not AttributeMatch.not_equal_to(operand).matches(same)


@pytest.mark.parametrize(
    "name", ["greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal"]
)
@pytest.mark.parametrize(
    "operand", ["a", True, None, b"a", [1], {"a": 1}, State.QUEUED, Job(State.QUEUED)]
)
def test_only_equality_is_for_what_has_no_order(name: str, operand: Any) -> None:
    """A str and a bool among them."""
    with pytest.raises(DefinitionError, match=f"^AttributeMatch.{name} operand is .* equal_to and"):
        getattr(AttributeMatch, name)(operand)


def test_times_and_counting_enums_are_compared() -> None:
    """A later one is greater."""
    assert AttributeMatch.greater_than(Level.LOW).matches(Level.HIGH)
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert AttributeMatch.greater_than(noon).matches(noon.replace(hour=13))
    assert AttributeMatch.less_than_or_equal(noon).matches(noon)


def test_no_value_is_above_and_below_nothing() -> None:
    """It differs from every value."""
    assert not AttributeMatch.less_than(5).matches(None)
    assert not AttributeMatch.greater_than_or_equal(0).matches(None)
    assert AttributeMatch.not_equal_to(5).matches(None)


def test_what_cannot_be_compared_is_an_error_and_no_endless_wait() -> None:
    """A time with a zone and one without; a number and a text."""
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - the mistake
    for operand, value in ((datetime(2026, 1, 1, tzinfo=UTC), naive), (5, "six")):
        with pytest.raises(
            DefinitionError, match=r"^AttributeMatch\.less_than operand is .*cannot"
        ):
            AttributeMatch.less_than(operand).matches(value)


@pytest.mark.parametrize(
    ("type_", "operand"),
    [
        *((int, 1), (int, 2.5), (float, 1), (str, "a"), (str, None), (State, State.QUEUED)),
        *((datetime, datetime(2026, 1, 1, tzinfo=UTC)), (list[int], [1]), (Any, {"a": 1})),
    ],
)
def test_an_operand_of_the_type_of_the_values_is_taken(type_: Any, operand: Any) -> None:
    """All numbers are of one kind here; None is no value."""
    AttributeMatch.equal_to(operand).check_fits(Attribute("a", type_))


@pytest.mark.parametrize(
    ("type_", "operand"), [(int, "1"), (int, True), (bool, 1), (str, 1), (State, "QUEUED")]
)
def test_a_match_that_no_value_could_meet_is_refused(type_: Any, operand: Any) -> None:
    """It would be waited for without end."""
    text = r"^AttributeMatch\.equal_to operand for Attribute a: "
    with pytest.raises(ValueMappingError, match=text):
        AttributeMatch.equal_to(operand).check_fits(Attribute("a", type_))


def test_a_test_that_does_not_exist_is_refused() -> None:
    """Whoever makes one by hand is told the names."""
    with pytest.raises(DefinitionError, match="test is 'like': give one of equal_to, not_equal_to"):
        AttributeMatch("like", "a")
    assert AttributeMatch("equal_to", 1) == AttributeMatch.equal_to(1)
