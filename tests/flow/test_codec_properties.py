"""Whatever the type and whatever the value: it comes back, or it was refused at the call."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from types import GenericAlias
from typing import Any, get_args, get_origin
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from dexnb.errors import ValueMappingError
from dexnb.flow.codec import encode_text
from dexnb.flow.output import encode_checkpoint
from dexnb.flow.typed import decode
from tests.flow.test_codec import identity
from tests.flow.values import (
    Bits,
    Client,
    Color,
    Doubled,
    Level,
    Page,
    Point,
    Right,
    State,
    strict,
    through,
)

DAY = 86_399
ZONES = st.none() | st.integers(-DAY, DAY).map(lambda s: timezone(timedelta(seconds=s)))
TEXTS = st.text(st.characters(exclude_categories=()), max_size=8)
LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers() | st.sampled_from([2**53, -(2**53), 2**53 - 1, 2**64]),
    float: st.floats(),
    bool: st.booleans(),
    type(None): st.none(),
    bytes: st.binary(max_size=8),
    datetime: st.datetimes(timezones=ZONES),
    date: st.dates(),
    time: st.times(timezones=ZONES),
    timedelta: st.timedeltas(),
    UUID: st.uuids(),
    Decimal: st.decimals(),
    Color: st.sampled_from([Color.RED, Color.PAIR]),
    State: st.sampled_from(State),
    Level: st.sampled_from(Level),
    Right: st.integers(0, 3).map(Right),
    Bits: st.integers(0, 9).map(Bits),
    Point: st.builds(Point, st.floats(), st.floats()),
    Doubled: st.builds(Doubled, st.integers()),
}
KEYS = [str, int, bool, bytes, date, UUID, State, Color, float]


def with_containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Give types that hold the given ones."""
    makers: list[Callable[..., Any]] = [
        lambda item, _: GenericAlias(list, (item,)),
        lambda item, _: GenericAlias(tuple, (item, ...)),
        lambda first, second: GenericAlias(tuple, (first, second)),
        lambda item, _: item | None,
        lambda item, _: Page[item],  # type: ignore[valid-type]  # made at run time
    ]
    made = st.builds(lambda make, *items: make(*items), st.sampled_from(makers), inner, inner)
    keyed = st.tuples(st.sampled_from(KEYS), inner)
    return made | keyed.map(lambda pair: GenericAlias(dict, pair))


TYPES = st.recursive(st.sampled_from(list(LEAVES)), with_containers, max_leaves=4)


def values_of(type_: Any) -> st.SearchStrategy[Any]:
    """Give values of a type."""
    if type_ in LEAVES:
        return LEAVES[type_]
    arguments = get_args(type_)
    match get_origin(type_):
        case origin if origin is list:
            return st.lists(values_of(arguments[0]), max_size=3)
        case origin if origin is tuple and arguments[1:] == (...,):
            return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
        case origin if origin is tuple:
            return st.tuples(*map(values_of, arguments))
        case origin if origin is dict:
            return st.dictionaries(*map(values_of, arguments), max_size=3)
        case origin if origin is Page:
            items = values_of(arguments[0])
            return st.builds(Page, st.lists(items, max_size=3), st.none() | items)
    return st.one_of(*map(values_of, arguments))


def is_kept_by_json(value: Any) -> bool:
    """Tell text that no JSON reader joins: no two halves of a surrogate pair side by side."""
    shown = repr(value).replace("\\ud", "\ud800")
    return "\ud800" not in shown


@given(st.data())
@settings(max_examples=400)
def test_a_value_of_any_type_comes_back(data: st.DataObject) -> None:
    """Equal in value and in type, all the way down; the text is strict JSON, the same each time."""
    type_ = data.draw(TYPES)
    value = data.draw(values_of(type_))
    try:
        read = through(value, type_)
    except ValueMappingError:
        assert not is_kept_by_json(value)
        return
    assert identity(read) == identity(value)
    assert encode_text(read) == encode_text(value)


ANY_VALUES = st.recursive(
    st.one_of(*LEAVES.values()) | st.sampled_from([Client(), {1}, 1j, print, Client, range(3)]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(TEXTS | st.integers(), inner, max_size=3)
        | st.builds(Page, st.lists(inner, max_size=2), inner)
    ),
    max_leaves=6,
)


@given(ANY_VALUES)
@settings(max_examples=300)
def test_a_checkpoint_of_any_value_is_read_as_its_class_or_was_refused(value: Any) -> None:
    """Nothing is found out only when the next attempt asks for it."""
    try:
        text = encode_checkpoint(value)
    except ValueMappingError as error:
        assert error.operation == "heartbeat"  # noqa: PT017 - it need not come
        return
    assert text is not None
    read = decode(strict(text), type(value))
    if type(value) not in (list, tuple, dict):
        assert identity(read) == identity(value)
    assert encode_text(read) == json.dumps(json.loads(text), separators=(",", ":"))
