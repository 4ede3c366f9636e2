"""JSON text is strict both ways, and a document's fields are checked before they are used."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.errors import DocumentError
from dexnb.model.json_text import NUMBER, Fields, check_choice, check_fields, from_text, to_text
from dexnb.model.shown import LONGEST, shown

DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**200), 2**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(DOCUMENTS)
def test_a_document_comes_back(document: Any) -> None:
    """As one line of ASCII, keys in their order."""
    text = to_text(document)
    assert text.isascii()
    assert "\n" not in text
    assert from_text(text) == document
    assert to_text(from_text(text)) == text


@pytest.mark.parametrize(
    "document", [math.nan, math.inf, [-math.inf], {1, 2}, {"a": b""}, object()]
)
def test_what_is_not_json_is_not_written(document: Any) -> None:
    """Neither NaN nor objects."""
    with pytest.raises(DocumentError, match="not a JSON document"):
        to_text(document)


def repr_start(value: Any) -> str:
    """Name a case."""
    return repr(value)[:20]


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "{", "NaN", "[Infinity]", '{"a":-Infinity}', "'a'", "{'a':1}", "1 2", "\ufeff1"),
        *('"\n"', "[1,]", "nul", "0x1", "1" * 5000, "[" * 100_000, b"\xff", None, 5),
    ],
    ids=repr_start,
)
def test_text_that_is_not_strict_json_is_not_read(text: Any) -> None:
    """The error names what was to be read."""
    with pytest.raises(DocumentError, match=r"^checkpoint cannot be read: "):
        from_text(text, "checkpoint")


FIELDS: Fields = {
    "name": str,
    "size": NUMBER,
    "count": int,
    "done": bool,
    "rest": object,
    "more": dict,
}
GOOD = {"name": "a", "size": 1.5, "count": 1, "done": True, "rest": None, "more": {}}


def test_a_document_with_its_fields_is_taken() -> None:
    """Others may stand beside, and an integer is a number."""
    document = {**GOOD, "size": 1, "rest": True, "other": 1}
    assert check_fields(document, FIELDS, "thing") is document


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"name": 1}, "thing field name is 1"),
        ({"size": True}, "thing field size is True"),
        ({"size": math.nan}, "thing field size is nan"),
        ({"size": math.inf}, "thing field size is inf"),
        ({"size": 10**400}, "thing field size is 1000"),
        ({"count": 1.0}, r"thing field count is 1\.0"),
        ({"count": False}, "thing field count is False"),
        ({"done": 1}, "thing field done is 1"),
        ({"more": []}, r"thing field more is \[\]"),
        ({"more": None}, "thing field more is None"),
    ],
)
def test_a_field_of_another_type_is_named(change: dict[str, Any], text: str) -> None:
    """With what stands there."""
    with pytest.raises(DocumentError, match=f"^{text}"):
        check_fields({**GOOD, **change}, FIELDS, "thing")


def test_what_is_no_object_or_lacks_a_field_is_refused() -> None:
    """In a text of bounded length."""
    for document in (None, [1], "x" * 10_000, 5):
        with pytest.raises(DocumentError, match=r", not an object$") as caught:
            check_fields(document, FIELDS, "thing")
        assert len(str(caught.value)) < 120
    with pytest.raises(DocumentError, match=r"^thing lacks the field 'name'$"):
        check_fields({}, FIELDS, "thing")


def test_a_choice_lists_what_may_stand() -> None:
    """What cannot even be compared is none of them."""
    check_choice("a", ("a", "b"), "letter")
    odd: list[Any] = ["c", None, [], {}]
    for value in odd:
        with pytest.raises(DocumentError, match=r"^letter is .*, not one of a, b$"):
            check_choice(value, ("a", "b"), "letter")


class Rude:
    """Does not want to be shown."""

    def __repr__(self) -> str:
        """Raise."""
        raise RuntimeError


DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


ODD = ["x" * 10**6, 10**10_000, Rude(), DEEP, {"a": ["b" * 99] * 99}]


@pytest.mark.parametrize("value", ODD, ids=["long", "large", "rude", "deep", "wide"])
def test_any_value_can_be_shown_in_an_error(value: Any) -> None:
    """Short, and without an error of its own."""
    assert 0 < len(shown(value)) <= LONGEST


def test_a_short_value_is_shown_whole() -> None:
    """As Python writes it."""
    assert shown({"a": [1, None, "b"]}) == "{'a': [1, None, 'b']}"
