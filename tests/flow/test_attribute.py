"""An Attribute keeps a value of its type, under one name, for every method of its Flow."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb import (
    Attribute,
    AttributeIndex,
    AttributeLock,
    AttributeMap,
    AttributeMapLoad,
    AttributeMapNotLoadedError,
    IndexType,
    ValueMappingError,
)
from dexnb.errors import DefinitionError
from dexnb.flow.physical import definition_of, instance_of
from tests.flow.calls import call
from tests.flow.values import Client, Color, Job, Level, Page, Point, State

JOB = Job(State.RUNNING, datetime(2026, 1, 1, tzinfo=UTC))
PRICES = AttributeMap("prices", float)
COUNT = Attribute("count", int)
NOTE = Attribute("note", str)


@pytest.mark.parametrize(
    ("type_", "missing"),
    [
        *((str, None), (int, 0), (bool, False), (float, 0.0)),
        *((bytes, None), (Job, None), (list[int], None), (State, None), (Level, None)),
    ],
)
def test_a_missing_value_reads_as_the_default_of_its_type(type_: Any, missing: Any) -> None:
    """No error: 0, 0.0 and False for numbers and bool, None for all others."""
    attribute, map_ = Attribute("a", type_), AttributeMap("m", type_)
    context = call(attribute, map_, load_attributes=("m/",))
    for value in (attribute.get(context), map_.get(context, "x")):
        assert value == missing
        assert type(value) is type(missing)
    assert context.data.writes() == {}


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        *((str, "a\0\ud800"), (int, 2**70), (bool, True), (float, 1.5), (bytes, b"\xff")),
        *((Job, JOB), (Color, Color.PAIR), (datetime, datetime(2026, 1, 1, tzinfo=UTC))),
        *(
            (UUID, UUID(int=7)),
            (list[Job], [JOB]),
            (dict[str, int], {"$int": 1}),
            (Point, Point(1, 2)),
        ),
        *((Decimal, Decimal("1.10")), (Page[Job], Page([JOB])), (Any, {"a": [None]})),
    ],
)
def test_what_is_set_is_read_again_in_this_call_and_in_the_next(type_: Any, value: Any) -> None:
    """An uncommitted write is visible to own reads; its document gives it to later calls."""
    attribute: Attribute[Any] = Attribute("a", type_)
    context = call(attribute, attributes={"a": None})
    attribute.set(context, value)
    assert attribute.get(context) == value
    written = context.data.writes()
    assert written.keys() == {"attributes"}
    assert attribute.get(call(attribute, attributes=written["attributes"])) == value


def test_the_last_of_set_and_delete_counts() -> None:
    """A value that was set and deleted leaves only the deletion, and the other way round."""
    context = call(COUNT, attributes={"count": 5})
    assert COUNT.get(context) == 5
    COUNT.set(context, 6)
    COUNT.delete(context)
    assert COUNT.get(context) == 0
    assert context.data.writes() == {"deleted": ["count"]}
    COUNT.set(context, 7)
    assert context.data.writes() == {"attributes": {"count": 7}}


def test_setting_none_deletes() -> None:
    """For an Attribute and for an instance of a map, whatever the option about hard deletion."""
    hard = Attribute("hard", str, hard_delete_on_null=True, sync_to_attribute_store=True)
    context = call(NOTE, hard, PRICES, attributes={"note": "x", "hard": "y", "prices/a": 1.0})
    NOTE.set(context, None)
    hard.set(context, None)
    PRICES.set(context, "a", None)
    assert NOTE.get(context) is None
    assert context.data.writes() == {"deleted": ["note", "hard", "prices/a"]}


def test_a_deletion_is_written_though_the_snapshot_had_no_value() -> None:
    """Another Step may have set one since."""
    context = call(COUNT)
    COUNT.delete(context)
    assert context.data.writes() == {"deleted": ["count"]}


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (str, 5, "Attribute a set: str requires str, got int"),
        (int, True, "Attribute a set: int requires int, got bool"),
        (int, 1.0, "Attribute a set: int requires int, got float"),
        (Job, Job("x"), r"Attribute a set: value\.state must be State, stands"),  # type: ignore[arg-type]  # the mistake
        (Any, {"k": Client()}, r"Attribute a set: value\['k'\] is a tests\.flow\.values\.Client"),
        (str, "x" * (2 << 20), "Attribute a set: value of 2,097,154 bytes is over the limit"),
        (Color, Color.NOTHING, "Attribute a set: <Color.NOTHING: None> is stored as None"),
    ],
)
def test_a_value_that_cannot_be_kept_fails_the_call_that_gave_it(
    type_: Any, value: Any, text: str
) -> None:
    """Wrong type, wrong inside, too large, or one that would be no value: nothing is written."""
    attribute: Attribute[Any] = Attribute("a", type_)
    context = call(attribute)
    with pytest.raises(ValueMappingError, match=f"^{text}"):
        attribute.set(context, value)
    assert context.data.writes() == {}


def test_a_kept_value_of_another_type_is_refused_when_it_is_read() -> None:
    """The Flow's type was another one when it was written."""
    with pytest.raises(ValueMappingError, match=r"^Attribute count get: value must be int, stands"):
        COUNT.get(call(COUNT, attributes={"count": "five"}))


def test_an_int_is_taken_for_a_float_and_read_as_one() -> None:
    """As everywhere where a float is declared."""
    context = call(PRICES, load_attributes=("prices/",))
    PRICES.set(context, "a", 2)
    assert type(PRICES.get(context, "a")) is float


@pytest.mark.rule("2.9/maps-declared")
def test_a_map_is_read_only_where_it_is_loaded() -> None:
    """Even right after an own set, which itself needs no load."""
    context = call(PRICES, load_attributes=("prices/b",))
    PRICES.set(context, "a", 1.5)
    text = (
        r"^AttributeMap prices instance 'a' is not loaded: name it in load_attribute_maps .*"
        r"\.load\('a'\) of it in load_attribute_map_instances"
    )
    with pytest.raises(AttributeMapNotLoadedError, match=text) as caught:
        PRICES.get(context, "a")
    assert (caught.value.name, caught.value.instance) == ("prices", "a")
    assert PRICES.get(context, "b") == 0.0
    assert context.data.writes() == {"attributes": {"prices/a": 1.5}}


def test_the_keys_of_a_map_need_the_whole_map() -> None:
    """One loaded instance does not tell which others there are."""
    context = call(PRICES, load_attributes=("prices/a",))
    for ask in (PRICES.get_map_size, PRICES.get_all_instance_keys):
        with pytest.raises(AttributeMapNotLoadedError, match=r"^AttributeMap prices is not loaded"):
            ask(context)


def test_the_keys_of_a_map_are_those_with_a_value_in_order() -> None:
    """Own writes count; another definition with a longer name does not."""
    longer = AttributeMap("prices2", float)
    kept = {"prices/b%2F": 1.0, "prices/c": 2.0, "prices2/z": 3.0, "prices": 4.0}
    context = call(PRICES, longer, attributes=kept, load_attributes=("prices/",))
    PRICES.set(context, "a", 1.0)
    PRICES.delete(context, "c")
    assert PRICES.get_all_instance_keys(context) == ("a", "b/")
    assert PRICES.get_map_size(context) == 2


@given(name=st.text("ab%/ ü\ud800", min_size=1), other=st.text("ab%/ ü", min_size=1))
def test_each_instance_has_a_physical_name_of_its_own(name: str, other: str) -> None:
    """Whatever it is called, it is found again from its physical name."""
    map_ = AttributeMap("m", str)
    try:
        physical = map_.physical_name(name)
    except DefinitionError:
        assert not name.isprintable()
        return
    assert instance_of(physical) == name
    assert definition_of(physical) == "m"
    assert physical.isascii()
    assert physical.count("/") == 1
    assert (physical == map_.physical_name(other)) == (name == other)


@pytest.mark.parametrize("instance", ["", None, 5, "a\nb", "x" * 256])
def test_an_instance_that_cannot_be_a_name_is_refused(instance: Any) -> None:
    """Empty, no str, unprintable or too long."""
    context = call(PRICES, load_attributes=("prices/",))
    for use in (PRICES.load, PRICES.lock, lambda each: PRICES.get(context, each)):
        with pytest.raises(DefinitionError, match=r"^AttributeMap prices instance is "):
            use(instance)


@pytest.mark.parametrize("kind", [Attribute, AttributeMap])
@pytest.mark.parametrize("name", ["", None, 5, "a/b", "a\nb", "x" * 256])
def test_a_name_that_cannot_be_kept_is_refused(kind: Any, name: Any) -> None:
    """A slash is for the instances of maps."""
    with pytest.raises(DefinitionError, match=f"^{kind.__name__} name is "):
        kind(name, str)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"value_type": "Job"}, "Attribute a value_type is 'Job': give a type such as str"),
        ({"index": IndexType.INT}, "Attribute a index is .*: give AttributeIndex"),
        ({"sync_to_attribute_store": 1}, "Attribute a sync_to_attribute_store is 1: give True"),
        ({"hard_delete_on_null": None}, "Attribute a hard_delete_on_null is None: give True"),
    ],
)
def test_an_option_that_cannot_hold_is_refused_at_once(options: Any, text: str) -> None:
    """The text names the Attribute, the option, the value and the fix."""
    with pytest.raises(DefinitionError, match=f"^{text}"):
        Attribute("a", **{"value_type": str, **options})


def test_definitions_made_twice_are_equal_and_show_themselves() -> None:
    """What a cell makes again is the same thing."""
    assert Attribute("a", list[int]) == Attribute("a", list[int])
    made = {Attribute("a", int), Attribute("a", int), Attribute("b", int), AttributeMap("a", int)}
    assert len(made) == 3
    assert repr(Attribute("a", Job)) == "Attribute('a', Job)"
    assert repr(PRICES) == "AttributeMap('prices', float)"


def test_a_lock_names_an_attribute_or_one_instance() -> None:
    """Made by `lock`, or by hand."""
    assert COUNT.lock() == AttributeLock(COUNT)
    assert COUNT.lock().physical_name() == "count"
    assert PRICES.lock("a b") == AttributeLock(PRICES, "a b")
    assert PRICES.lock("a b").physical_name() == "prices/a%20b"


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((PRICES,), "AttributeMap prices instance is ''"),
        ((COUNT, "x"), "AttributeLock instance is 'x': leave it out, Attribute count has none"),
        (("count",), "AttributeLock attribute is 'count': give an Attribute"),
    ],
)
def test_a_lock_on_nothing_is_refused(parts: Any, text: str) -> None:
    """A map without an instance, an Attribute with one, a name."""
    with pytest.raises(DefinitionError, match=f"^{text}"):
        AttributeLock(*parts)


def test_a_load_names_one_instance_of_a_map() -> None:
    """A plain Attribute is always loaded."""
    assert PRICES.load("a/b") == AttributeMapLoad(PRICES, "a/b")
    assert PRICES.load("a/b").physical_name() == "prices/a%2Fb"
    with pytest.raises(DefinitionError, match="a plain Attribute is always loaded"):
        AttributeMapLoad(COUNT, "a")  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize("key", [5, None, "a\nb"])
def test_an_index_that_cannot_hold_is_refused(key: Any) -> None:
    """Its type and its key."""
    assert AttributeIndex(IndexType.KEYWORD).index_key == ""
    with pytest.raises(DefinitionError, match=r"^AttributeIndex index_key is "):
        AttributeIndex(IndexType.KEYWORD, key)
    with pytest.raises(DefinitionError, match=r"^AttributeIndex type is 'KEYWORD': give one such"):
        AttributeIndex("KEYWORD")  # type: ignore[arg-type]  # the mistake
