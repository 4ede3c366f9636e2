"""Stored text comes from outside: it is data, and the worst it can do is to be refused."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.errors import DocumentError, ValueMappingError
from dexnb.flow.codec import natural
from dexnb.flow.typed import decode
from dexnb.model.json_text import from_text
from tests.flow.values import Color, Job, JobPage, Model, Point, Right, Row, Span, State, Tree

TYPES: list[Any] = [
    *(str, int, float, bool, bytes, None, Decimal, list, dict, tuple, Any),
    *(Color, State, Right, Job, Point, Tree, JobPage, Span, Row, Model),
    *(list[int], dict[int, Job], tuple[int, str], Job | Point, Color | str, int | None),
]

WRONG: list[Any] = [
    {"$int": 5},
    {"$int": "x"},
    {"$int": "1" * 5000},
    {"$float": [1]},
    {"$bytes": "é"},
    {"$bytes": "a"},
    {"$bytes": 7},
    {"$datetime": 5},
    {"$datetime": "tomorrow"},
    {"$date": {}},
    {"$time": "25:00"},
    {"$timedelta": [1, 2]},
    {"$timedelta": ["1", 2, 3]},
    {"$timedelta": [10**9, 0, 0]},
    {"$timedelta": [1e308, 0, 0]},
    {"$uuid": 5},
    {"$uuid": "x"},
    {"$decimal": [0, [1], 2]},
    {"$decimal": "one"},
    {"$dict": 5},
    {"$dict": {"a": 1}},
    {"$dict": [[1]]},
    {"$dict": [1, 2]},
    {"$dict": ["ab"]},
    {"$dict": [[[1], 2]]},
    {"$dict": [[{"a": 1}, 2]]},
]


@pytest.mark.parametrize("document", WRONG, ids=lambda document: str(document)[:40])
@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: [it], lambda it: {"k": {"x": it}}])
def test_a_tag_that_holds_something_else_is_refused(document: Any, wrap: Any) -> None:
    """However deep it stands, and in a text of bounded length."""
    with pytest.raises(ValueMappingError) as caught:
        natural(wrap(document))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("document", "type_"),
    [
        ({"$bytes": "YQ=="}, dict[str, str]),
        ({"$bytes": "YQ=="}, dict),
        ({"$bytes": "YQ=="}, Row),
        ({"$int": "1"}, Job),
        ({"state": "GONE"}, Job),
        ({"state": "__class__"}, Job),
        ("RED", Color),
        (True, Right),
        (4, Right),
        ([1, 2, 3], Span),
        ({"x": {"$int": "1" + "0" * 400}}, Point),
        ({"count": "1"}, Model),
        ({}, Job),
        ({"__init__": 1}, Point),
        (1, bool),
        ("true", bool),
    ],
)
def test_a_document_of_another_shape_is_refused(document: Any, type_: Any) -> None:
    """Never taken for something that was not stored."""
    with pytest.raises(ValueMappingError):
        decode(document, type_)


BOMBS = ["[" * 100_000, "[" * 900 + "]" * 900, '{"next":' * 900 + "null" + "}" * 900]


@pytest.mark.parametrize("text", BOMBS, ids=["open", "lists", "objects"])
@pytest.mark.parametrize("type_", [Any, Tree, list[Any]])
def test_text_that_is_nested_too_deeply_is_refused(text: str, type_: Any) -> None:
    """By whoever meets it first, the JSON reader or the codec; never by a RecursionError."""

    @dataclass
    class Endless:
        next: Any

    for kind in (type_, Endless):
        try:
            decode(from_text(text, "checkpoint"), kind)
        except (DocumentError, ValueMappingError):
            continue
        # A fresh stack may be deep enough for nine hundred levels.
        assert len(text) < 10_000


def test_a_class_that_the_text_names_is_not_looked_up() -> None:
    """No tag leads to an import, and nothing in the text is called."""
    loaded = set(sys.modules)
    for name in ("$class", "py/object", "__reduce__", "$import", "$Color"):
        document = {name: "antigravity.fly"}
        assert natural(document) == document
        assert decode({"a": document}, dict[str, Any]) == {"a": document}
    assert "antigravity" not in set(sys.modules) - loaded


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["$dict", "$int", "$bytes", "$timedelta", "$uuid", "state", "x", "items"]
            )
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(JSON_VALUES, st.sampled_from(TYPES))
def test_any_document_is_read_or_refused(document: Any, type_: Any) -> None:
    """No other error comes out, whatever type is asked for."""
    text = json.dumps(document)
    try:
        decode(from_text(text), type_)
    except (ValueMappingError, DocumentError):
        return
