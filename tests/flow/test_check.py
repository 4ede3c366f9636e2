"""A value that is not of the declared type is refused where it is given, not where it is read."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from types import GenericAlias
from typing import Any, Protocol

import pytest

from dexnb.errors import ValueMappingError
from dexnb.flow.typed import check, decode
from tests.flow.values import (
    Cat,
    Celsius,
    Color,
    Dog,
    Job,
    Kelvin,
    Level,
    Page,
    Point,
    Row,
    Seeded,
    Span,
    State,
    through,
)


class Kitten(Cat):
    """A Cat of its own class."""


class Named(Protocol):
    """Has a name."""

    name: str


REFUSED: list[tuple[Any, Any, str]] = [
    (1, str, "str requires str, got int"),
    ("1", int, "int requires int, got str"),
    (True, int, "int requires int, got bool"),
    (True, float, "float requires float, got bool"),
    (1.0, int, "int requires int, got float"),
    (2**53 + 1, float, "value must be float, stands"),
    (10**400, float, "value must be float, stands"),
    (None, str, "str requires str, got None"),
    (0, None, "None requires None, got int"),
    ("red", Color, "Color requires Color, got str"),
    ("QUEUED", State, "State requires State, got str"),
    (1, Level, "Level requires Level, got int"),
    (Dog("a"), Cat, "Cat requires Cat, got Dog"),
    (Kitten("a"), Cat, r"value is .*Kitten and would be read back as .*Cat"),
    (Cat, Cat, "Cat requires Cat, got type"),
    ({"name": "a"}, Cat, "Cat requires Cat, got dict"),
    (Job("QUEUED"), Job, r"value\.state is str and would be read back as .*State"),  # type: ignore[arg-type]  # the mistake
    (Page(["QUEUED"]), Page[State], r"value\.items\[0\] is str and would be read back as .*State"),
    (["QUEUED"], list[State], r"value\[0\] is str and would be read back as .*State"),
    ({"a": 1}, dict[str, str], r"value\['a'\] must be str, stands 1"),
    ({1: "a"}, dict[str, str], r"key of value must be str, stands 1"),
    ([1, "a"], list[int], r"value\[1\] must be int, stands 'a'"),
    ((1,), list[int], "value is tuple and would be read back as list"),
    ([1], tuple[int], "value is list and would be read back as tuple"),
    ((1, 2), tuple[int], r"value must be tuple\[int\], stands \[1, 2\]"),
    ((1,), Sequence[int], "value is tuple and would be read back as list"),
    ("ab", Sequence[str], r"value must be .*Sequence\[str\], stands 'ab'"),
    ((1, 2), Span, "Span requires Span, got tuple"),
    ({"note": "n"}, Row, "value lacks the key 'state' of Row"),
    ({"state": "QUEUED"}, Row, r"value\['state'\] is str and would be read back as .*State"),
    (Cat(State.QUEUED), Cat, r"value\.name is .*State and would be read back as str"),
    ([State.QUEUED], list, r"value\[0\] is .*State and would be read back as str"),
    ({"a": (1,)}, dict, r"value\['a'\] is tuple and would be read back as list"),
    (Point(1.0), object, "value is .*Point and would be read back as dict"),
    (Seeded(1, 2), Seeded, "value does not make a Seeded: .*seed"),
    (Cat("a"), Named, r"value must be Named, stands \{'name': 'a'\}"),
    (1, "int", r"value: 'int' cannot be read"),
    (1, list["int"], r"value must be list\['int'\], stands 1"),
    ([1], list["int"], r"value\[0\]: 'int' cannot be read"),
]


@pytest.mark.parametrize(("value", "type_", "text"), REFUSED)
def test_a_value_of_another_type_is_refused_at_the_call(value: Any, type_: Any, text: str) -> None:
    """With the operation, the path inside the value and both types."""
    with pytest.raises(ValueMappingError, match=f"^save: {text}"):
        check(value, type_, "save")


@pytest.mark.parametrize(
    ("value", "type_", "read"),
    [
        (1, float, 1.0),
        (Celsius(1.5), float, 1.5),
        (Level.LOW, int, 1),
        (State.QUEUED, str, "QUEUED"),
        ([1, 2.0], list[float], [1.0, 2.0]),
        (3, numbers.Number, 3),
    ],
)
def test_a_value_that_may_stand_for_the_declared_type_becomes_it(
    value: Any, type_: Any, read: Any
) -> None:
    """What type checkers accept is taken where nothing but the class changes."""
    stored = through(value, type_)
    assert stored == read
    assert type(stored) is type(read)


def test_a_class_that_was_defined_again_is_told_from_the_old_one() -> None:
    """In a notebook, a cell that was run again makes another class of the same name."""

    def cell() -> Any:
        @dataclass
        class Again:
            x: int

        return Again

    old, new = cell(), cell()
    with pytest.raises(ValueMappingError, match=r"older or newer one of that name: run the cells"):
        check(new(1), old, "save")


def cell_enum(**members: str) -> Any:
    """Run the cell of an Enum; each time it makes another class."""
    return Enum("State", members, module="__main__", qualname="State")


def test_an_enum_whose_cell_was_run_again_is_taken_by_its_members() -> None:
    """A run that goes on meets the class of before and that of now, alone and inside others."""
    old, new = cell_enum(DONE="done"), cell_enum(DONE="done", OVER="over")
    listed = GenericAlias(list, (old,))
    assert check(new.DONE, old, "save") == check(old.DONE, old, "save")
    assert check([new.DONE], listed, "save") == check([old.DONE], listed, "save")
    with pytest.raises(ValueMappingError, match=r"older or newer one of that name: run the cells"):
        check(new.OVER, old, "save")
    swapped = cell_enum(OVER="done", DONE="over")
    with pytest.raises(ValueMappingError, match=r"older or newer one of that name: run the cells"):
        check(swapped.OVER, old, "save")


def test_a_field_whose_annotation_cannot_be_resolved_is_named_with_the_fix() -> None:
    """A class made inside a function cannot be named in quotes from its fields."""

    @dataclass
    class Inner:
        x: int

    @dataclass
    class Outer:
        inner: Inner

    with pytest.raises(ValueMappingError, match=r"Outer: its annotations cannot be .*top level"):
        check(Outer(Inner(1)), Outer, "save")


def test_what_a_class_refuses_by_itself_is_named() -> None:
    """Whatever its own code raises, LookupError here."""
    with pytest.raises(ValueMappingError, match=r"value does not make a Kelvin: -1"):
        decode({"degrees": -1.0}, Kelvin, "read")


def test_a_datetime_given_for_a_date_stays_what_it_is() -> None:
    """It is a date to Python, and nothing of it is lost."""
    assert through(date(2026, 1, 1), date) == date(2026, 1, 1)


class Touchy(str):
    """A text that cannot be compared."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Never work."""
        raise ArithmeticError(self)

    __hash__ = str.__hash__


@dataclass
class Holder:
    """Has one inside, as an object."""

    text: Any

    def __eq__(self, other: object) -> bool:
        """Compare what it has."""
        return isinstance(other, Holder) and bool(self.text == other.text)

    __hash__ = None  # type: ignore[assignment]  # as dataclasses have it


@pytest.mark.parametrize(
    ("value", "type_", "path"),
    [
        ([Touchy("a")], list[str], r"value\[0\]"),
        (Holder(Touchy("a")), Holder, r"value\.text"),
    ],
)
def test_a_value_whose_comparison_fails_is_refused_with_its_place(
    value: Any, type_: Any, path: str
) -> None:
    """What a class of the user's raises never comes through bare."""
    text = rf"^set: {path} is 'a', a .*Touchy, whose == raised ArithmeticError: correct it"
    with pytest.raises(ValueMappingError, match=text):
        check(value, type_, "set")
