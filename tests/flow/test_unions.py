"""A union gives back the arm that was given, or says at the call that it cannot be told."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any, Literal

import pytest

from dexnb.errors import ValueMappingError
from dexnb.flow.codec import encode
from dexnb.flow.typed import check, decode
from tests.flow.test_codec import identity
from tests.flow.values import (
    Cat,
    Color,
    Dog,
    Ended,
    Job,
    Left,
    Level,
    Mood,
    Point,
    Right_,
    Span,
    Started,
    State,
    back,
    through,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)

TOLD_APART: list[tuple[tuple[Any, ...], list[Any]]] = [
    ((int, str), [1, "1", 2**60]),
    ((float, int), [1, 1.0, -0.0, 2**53 + 1]),
    ((bool, int), [True, 1, False, 0]),
    ((float, bool), [1.0, True]),
    ((bytes, str), [b"a", "a"]),
    ((datetime, date, str), [NOW, date(2026, 1, 1), "2026-01-01"]),
    ((Decimal, float, int), [Decimal(1), 1.0, 1]),
    ((Color, str), [Color.RED, "blue"]),
    ((State, str), [State.QUEUED, "LOST"]),
    ((Level, int), [Level.LOW, 7]),
    ((Literal["auto"], int, None), ["auto", 3, None]),
    ((Started, Ended), [Started("a"), Ended("a")]),
    ((Job, Point, None), [Job(State.QUEUED), Point(1.0, 2.0), None]),
    ((Point, dict[str, Any]), [Point(1.0), {"z": 1}]),
    ((list[int], list[str]), [[1], ["a"], []]),
    ((list[Cat], list[Point]), [[Cat("a")], [Point(0.5)]]),
    ((dict[str, int], dict[int, int]), [{"1": 1}, {1: 1}]),
    ((Span, list[Any]), [Span(NOW, 2), [1]]),
]
CASES = [
    (reduce(or_, order), value)
    for arms, values in TOLD_APART
    for order in itertools.permutations(arms)
    for value in values
]


@pytest.mark.parametrize(("type_", "value"), CASES)
def test_the_arm_that_was_given_comes_back(type_: Any, value: Any) -> None:
    """In whatever order the arms are declared."""
    assert identity(through(value, type_)) == identity(value)
    assert identity(through([value], list[type_])[0]) == identity(value)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (Cat | Dog, Dog("a")),
        (Cat | Dog, Cat("a")),
        (Color | Mood, Mood.ANGRY),
        (list[int] | tuple[int, ...], (1,)),
        (dict[str, Cat | Dog] | list[int], {"pet": Cat("a")}),
    ],
)
def test_arms_that_cannot_be_told_apart_are_refused_at_the_call(type_: Any, value: Any) -> None:
    """The text names both, and the field that would tell them apart."""
    with pytest.raises(ValueMappingError, match=r"^save: value.* fits .+ and .+ alike") as caught:
        check(value, type_, "save")
    assert "kind: Literal['a'] = 'a'" in str(caught.value)
    with pytest.raises(ValueMappingError, match="alike"):
        decode(encode(value), type_, "read")


@pytest.mark.parametrize(
    ("type_", "value"), [(Color | str, "red"), (str | State, "QUEUED"), (Level | int, 1)]
)
def test_a_text_that_would_come_back_as_a_member_is_refused(type_: Any, value: Any) -> None:
    """The member itself is taken, so its plain value cannot be."""
    with pytest.raises(ValueMappingError, match=r"^save: value is \w+ and would be read back as"):
        check(value, type_, "save")


def test_a_document_that_fits_no_arm_is_refused_with_the_union() -> None:
    """All arms are named, and what stands there."""
    with pytest.raises(ValueMappingError, match=r"^read: value must be int \| str, stands 1\.5"):
        decode(1.5, int | str, "read")
    with pytest.raises(ValueMappingError, match=r"value\.due must be datetime.*, stands 'soon'"):
        decode({"state": "QUEUED", "due": "soon"}, Job, "read")


@dataclass
class Old:
    """What was stored by an older version of `New`."""

    name: str


@dataclass
class New:
    """Has one field more."""

    name: str
    size: int = 0


def test_the_arm_whose_fields_all_stand_there_is_preferred() -> None:
    """A default fills in only where no other arm fits better."""
    assert decode({"name": "a"}, New | Old) == Old("a")
    assert decode({"name": "a"}, New | Cat | None | Point) == Cat("a")
    assert decode({"name": "a", "size": 1}, Old | New) == New("a", 1)
    assert decode({"name": "a"}, New | Point) == New("a")


def test_arms_that_hold_each_other_are_not_tried_over_and_over() -> None:
    """Sixty levels of two arms: tried anew at each level, this would not end."""
    line: Any = Left(None)
    for index in range(60):
        line = Right_(line) if index % 2 else Left(line)
    assert back(line, Left | Right_) == line
    document = encode(line)
    inner = document
    while inner["next"] is not None:
        inner = inner["next"]
    inner["kind"] = "neither"
    with pytest.raises(ValueMappingError):
        decode(document, Left | Right_)
