"""What a Flow keeps is checked as a whole when it is registered."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal
from uuid import UUID

import pytest

from dexnb import (
    Attribute,
    AttributeIndex,
    AttributeMap,
    Channel,
    ChannelMap,
    IndexType,
    PersistenceSchema,
    Stream,
)
from dexnb.errors import DefinitionError
from dexnb.flow.persistence import read_persistence
from tests.flow.calls import persistence_of, problem_of, problems_of
from tests.flow.values import Client, Job, Level, Page, State

ATTRIBUTE, MAP = Attribute("a", int), AttributeMap("m", Job)
CHANNEL, CHANNEL_MAP = Channel("c", str), ChannelMap("cm", Job)
STREAM = Stream("s/1", str, 100)


def test_a_schema_sorts_definitions_by_their_kind() -> None:
    """In any order, each kind in its own."""
    sorted_ = PersistenceSchema.of(STREAM, CHANNEL_MAP, ATTRIBUTE, CHANNEL, MAP)
    assert sorted_ == PersistenceSchema((ATTRIBUTE, MAP), (CHANNEL_MAP, CHANNEL), (STREAM,))
    assert PersistenceSchema.of() == PersistenceSchema()


@pytest.mark.parametrize("given", ["a", Attribute, [ATTRIBUTE], None, int])
def test_what_is_no_definition_is_refused_by_the_maker(given: Any) -> None:
    """A name, a class, a list, a type."""
    with pytest.raises(DefinitionError, match=r"^PersistenceSchema\.of got .*: give Attribute, Ch"):
        PersistenceSchema.of(ATTRIBUTE, given)


def test_what_a_flow_keeps_is_known_by_name() -> None:
    """Maps are among Attributes and Channels."""
    kept = persistence_of(ATTRIBUTE, MAP, CHANNEL, CHANNEL_MAP, STREAM)
    assert kept.flow_type == "F"
    assert kept.attributes == {"a": ATTRIBUTE, "m": MAP}
    assert kept.channels == {"c": CHANNEL, "cm": CHANNEL_MAP}
    assert kept.streams == {"s/1": STREAM}


@pytest.mark.parametrize("given", [None, [ATTRIBUTE], PersistenceSchema])
def test_what_is_no_schema_is_one_problem(given: Any) -> None:
    """The Flow keeps nothing then."""
    kept, (problem,) = read_persistence("F", given)
    assert str(problem).startswith("F.get_persistence_schema is ")
    assert problem.fix == "return PersistenceSchema.of(...)"
    assert (kept.attributes, kept.channels, kept.streams) == ({}, {}, {})


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (
            PersistenceSchema(attributes=(CHANNEL,)),  # type: ignore[arg-type]  # the mistake
            "holding Channel('c', str): give Attribute or AttributeMap definitions",
        ),
        (
            PersistenceSchema(channels=ATTRIBUTE),  # type: ignore[arg-type]  # the mistake
            "holding Attribute('a', int): give Channel or ChannelMap definitions",
        ),
        (
            PersistenceSchema(streams=[STREAM, "b"]),  # type: ignore[arg-type]  # the mistake
            "holding 'b': give Stream definitions",
        ),
    ],
)
def test_a_definition_in_the_wrong_place_is_refused(schema: Any, text: str) -> None:
    """A Channel among Attributes, one that stands alone, a name."""
    (problem,) = problems_of(schema)
    assert str(problem) == f"F.get_persistence_schema is {text}"


@pytest.mark.parametrize(
    "other",
    [Attribute("a", str), AttributeMap("a", int), Channel("a", int), Stream("a", int, 1)],
)
def test_names_are_shared_by_attributes_channels_and_streams(other: Any) -> None:
    """The same name twice, whatever the kinds, which are told."""
    kinds = f"Attribute and {type(other).__name__}"
    text = (
        f"F.duplicate persistence definition a is {kinds}: give each definition a name of its own"
    )
    assert problem_of(ATTRIBUTE, other) == text


@pytest.mark.parametrize("kind", [Attribute, AttributeMap, Channel, ChannelMap])
def test_a_type_that_cannot_be_stored_is_refused(kind: Any) -> None:
    """However deep it stands."""
    text = problem_of(kind("x", Page[Client]))
    assert text.startswith(f"F.{kind.__name__} x value_type is ")
    assert "Client cannot be stored: make it a dataclass" in text


def test_every_problem_is_listed_at_once() -> None:
    """A user corrects them all before the next try."""
    wrong = Attribute("x", int, AttributeIndex(IndexType.BOOL), hard_delete_on_null=True)
    assert len(problems_of(PersistenceSchema((wrong, wrong), (Channel("x", Client),)))) == 5


INDEXABLE: list[tuple[IndexType, Any]] = [
    *((IndexType.KEYWORD, type_) for type_ in (str, State, UUID, Literal["a"], str | None, Any)),
    *((IndexType.FULL_TEXT, str), (IndexType.FULL_TEXT, State)),
    *((IndexType.KEYWORD_ARRAY, list[str]), (IndexType.KEYWORD_ARRAY, tuple[State, ...])),
    *((IndexType.KEYWORD_ARRAY, list), (IndexType.INT, int), (IndexType.INT, Level)),
    *((IndexType.DOUBLE, type_) for type_ in (float, int, Decimal, float | None)),
    *((IndexType.BOOL, bool), (IndexType.DATETIME, datetime)),
]


@pytest.mark.parametrize(("index", "type_"), INDEXABLE)
def test_an_index_for_values_of_its_type_is_taken(index: IndexType, type_: Any) -> None:
    """None among the values is no matter: it is no value."""
    persistence_of(Attribute("x", type_, AttributeIndex(index)))


@pytest.mark.parametrize(
    ("index", "type_", "fix"),
    [
        (IndexType.INT, str, "str needs IndexType.KEYWORD or IndexType.FULL_TEXT"),
        (IndexType.INT, bool, "bool needs IndexType.BOOL"),
        (IndexType.KEYWORD, int, "int needs IndexType.INT or IndexType.DOUBLE"),
        (IndexType.KEYWORD, list[str], "list[str] needs IndexType.KEYWORD_ARRAY"),
        (IndexType.KEYWORD_ARRAY, str, "str needs IndexType.KEYWORD or IndexType.FULL_TEXT"),
        (IndexType.KEYWORD_ARRAY, list[int], "list[int] cannot be indexed: leave the index out"),
        (IndexType.DATETIME, float, "float needs IndexType.DOUBLE"),
        (IndexType.KEYWORD, Job, "Job cannot be indexed: leave the index out"),
        (IndexType.KEYWORD, bytes, "bytes cannot be indexed: leave the index out"),
    ],
)
def test_an_index_for_values_of_another_type_is_refused(
    index: IndexType, type_: Any, fix: str
) -> None:
    """The text names the index that serves."""
    text = f"F.Attribute x index is {index}: {fix}"
    assert problem_of(Attribute("x", type_, AttributeIndex(index))) == text


def test_two_indexes_of_one_key_have_one_type() -> None:
    """The key is the Attribute's name when it has none of its own."""
    first = Attribute("x", str, AttributeIndex(IndexType.KEYWORD))
    second = Attribute("y", str, AttributeIndex(IndexType.FULL_TEXT, "x"))
    assert problem_of(first, second) == (
        "F.Attribute y index x is IndexType.FULL_TEXT: is IndexType.KEYWORD elsewhere in this "
        "Flow: give one of them another index_key"
    )
    persistence_of(first, Attribute("y", str, AttributeIndex(IndexType.KEYWORD, "x")))


def test_an_indexed_map_needs_a_key() -> None:
    """All its instances share it."""
    assert problem_of(AttributeMap("m", str, AttributeIndex(IndexType.KEYWORD))) == (
        "F.AttributeMap m index_key is empty: give one for all instances, "
        'AttributeIndex(IndexType.KEYWORD, "m")'
    )
    persistence_of(AttributeMap("m", str, AttributeIndex(IndexType.KEYWORD, "m")))


@pytest.mark.parametrize("type_", [bool, int, float, bytes])
def test_a_hard_deletion_is_for_text_and_objects_only(type_: Any) -> None:
    """A number has no null."""
    text = problem_of(Attribute("x", type_, hard_delete_on_null=True))
    assert text.startswith(
        f"F.Attribute x hard_delete_on_null is True: leave it out for a {type_.__name__}; it is for"
    )


@pytest.mark.parametrize("type_", [str, Job, list[int], Enum, datetime])
def test_a_hard_deletion_of_text_and_objects_is_taken(type_: Any) -> None:
    """And the option without it, for all."""
    persistence_of(Attribute("x", type_, hard_delete_on_null=True, sync_to_attribute_store=True))
