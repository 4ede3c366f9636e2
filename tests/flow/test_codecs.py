"""Codecs of the user's: what a registry takes, and how values are stored and read by them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from dexnb import BOOL, BYTES, DOUBLE, INT64, STRING, Codec, CodecRegistry, JsonCodec
from dexnb.errors import DefinitionError, ValueMappingError
from dexnb.flow.codec import encode
from dexnb.flow.declared import type_problem
from dexnb.flow.typed import check, check_own, decode


class Money:
    """A class without a natural form, and without an equality."""

    def __init__(self, cents: int) -> None:
        """Hold an amount."""
        self.cents = cents


class Tip(Money):
    """One of its kinds."""


@dataclasses.dataclass
class Order:
    """Holds some."""

    price: Money
    parts: list[Money]


def decoded(document: Any) -> Money:
    """Make one of its stored form."""
    return Money(document["cents"])


MONEY = JsonCodec("Money", decoded, lambda value: {"cents": value.cents})


class AsText:
    """A codec that is a class of its own."""

    type_name = "tests.flow.test_codecs.Money"
    wire_kind: str | Codec[Any] = "string"

    def encode(self, value: Money, /) -> Any:
        """Give the amount as text."""
        return str(value.cents)

    def decode(self, document: Any, /) -> Money:
        """Read it."""
        return Money(int(document))


def kept(value: Any, type_: Any, *codecs: Codec[Any]) -> tuple[Any, Any]:
    """Store a value; give the document, and what is read of it."""
    with CodecRegistry(codecs).used():
        document = check(value, type_, "Attribute price set")
        return document, decode(document, type_, "Attribute price get")


@pytest.mark.rule("1.10/codec", "1.10/plain-history")
def test_a_value_is_stored_as_its_codec_gives_it() -> None:
    """Alone, in a collection, in a dataclass, and where it may be missing; all of it plain JSON."""
    document, value = kept(Money(120), Money, MONEY)
    assert (document, value.cents) == ({"cents": 120}, 120)
    document, values = kept({"a": [Money(1)]}, dict[str, list[Money]], MONEY)
    assert (document, values["a"][0].cents) == ({"a": [{"cents": 1}]}, 1)
    document, order = kept(Order(Money(2), [Money(3)]), Order, AsText())
    assert document == {"price": "2", "parts": ["3"]}
    assert (type(order), order.price.cents, order.parts[0].cents) == (Order, 2, 3)
    assert kept(None, Money | None, MONEY) == (None, None)
    assert kept(Money(4), Money | None, MONEY)[1].cents == 4


def test_a_value_whose_reader_names_its_type_is_stored_so_too() -> None:
    """A checkpoint or an output."""
    with CodecRegistry([MONEY]).used():
        assert check_own(Money(5), "heartbeat") == {"cents": 5}


def test_a_codec_goes_before_the_natural_form_of_its_class() -> None:
    """A dataclass may be stored otherwise than field by field."""
    codec = JsonCodec(
        "Order", lambda cents: Order(Money(cents), []), lambda order: order.price.cents, Order
    )
    document, order = kept(Order(Money(6), []), Order, codec, MONEY)
    assert (document, order.price.cents) == (6, 6)


def test_a_codec_of_a_class_is_for_its_subclasses_too() -> None:
    """A path is of a class of its platform; a class that has a natural form keeps that."""
    codec = JsonCodec("Path", Path, str, Path)
    assert kept(Path("/a"), Path, codec) == ("/a", Path("/a"))
    assert kept(Path("/a"), type(Path("/a")), codec) == ("/a", Path("/a"))
    with pytest.raises(ValueMappingError, match=r"codec Money gave <.*Money.*its decode must give"):
        kept(Tip(7), Tip, MONEY)
    with pytest.raises(ValueMappingError, match="PurePosixPath, which cannot be stored"):
        kept(PurePosixPath("/a"), object, codec)


@pytest.mark.parametrize(
    ("kind", "plain", "document"),
    [
        ("string", "a", "a"),
        (STRING, "a", "a"),
        (BOOL, True, True),
        (INT64, -(2**63), {"$int": str(-(2**63))}),
        (DOUBLE, 2, 2.0),
        (BYTES, b"\0", {"$bytes": "AA=="}),
        ("object", [1, {"a": None}], [1, {"a": None}]),
    ],
)
def test_every_wire_kind_is_stored_as_such_values_are(kind: Any, plain: Any, document: Any) -> None:
    """And comes back to `decode` as `encode` gave it; the constants stand for their kinds."""
    seen = []

    class Given(AsText):
        wire_kind = kind

        def encode(self, value: Money, /) -> Any:
            return plain

        def decode(self, document: Any, /) -> Money:
            seen.append(document)
            return Money(0)

    assert kept(Money(0), Money, Given())[0] == document
    assert seen == [plain] * 2


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        ("string", 1),
        ("string", None),
        ("object", None),
        ("bool", 1),
        ("int64", True),
        ("int64", 2**63),
        ("double", "1"),
        ("bytes", "a"),
    ],
)
@pytest.mark.rule("1.10/wire-kind")
def test_a_codec_that_gives_something_else_is_told_its_wire_kind(kind: str, plain: Any) -> None:
    """None stands for no value, and no codec may give it."""

    class Given(AsText):
        wire_kind = kind

        def encode(self, value: Money, /) -> Any:
            return plain

    with pytest.raises(ValueMappingError, match=rf"price: codec .* its wire_kind '{kind}' says"):
        kept(Order(Money(0), []), Order, Given())


def fails(*_: Any) -> Any:
    """Fail as a user's code may."""
    raise LookupError("no rate")


@pytest.mark.rule("1.10/codec-failure")
def test_a_codec_that_fails_names_what_it_was_given_and_where_it_stands() -> None:
    """On the way in and on the way out, with its own error as the cause."""
    with pytest.raises(ValueMappingError) as caught:
        kept(Order(Money(1), []), Order, JsonCodec("Money", decoded, fails))
    text = "Attribute price set: value.price: codec Money cannot encode <"
    assert text in str(caught.value)
    assert "LookupError: no rate" in str(caught.value)
    assert isinstance(caught.value.__cause__, LookupError)
    with (
        CodecRegistry([JsonCodec("Money", fails, dict)]).used(),
        pytest.raises(ValueMappingError, match=r"x: value\[0\]: codec Money cannot decode {"),
    ):
        decode([{"a": 1}], list[Money], "x")


def test_a_document_of_another_kind_is_refused_before_the_codec_sees_it() -> None:
    """As after a codec was replaced by one of another kind."""
    with (
        CodecRegistry([AsText()]).used(),
        pytest.raises(ValueMappingError, match=r"Money as string, stands {'cents': 1}"),
    ):
        decode({"cents": 1}, Money)


def test_what_a_codec_gives_must_be_plain() -> None:
    """Itself, or a value that needs another codec, could not be read back."""
    with pytest.raises(ValueMappingError, match=r"value by codec Money is a .*Money, which cannot"):
        kept(Money(1), Money, JsonCodec("Money", decoded, lambda value: value))


def test_a_union_takes_the_arm_whose_codec_fits() -> None:
    """A value that another arm's codec would take over is refused when it is stored."""
    assert kept(Money(1), Money | str, MONEY)[1].cents == 1
    assert kept("a", Money | str, MONEY) == ("a", "a")
    with pytest.raises(ValueMappingError, match="would be read back as"):
        kept("1", Money | str, AsText())


def test_without_its_codec_a_value_cannot_be_stored() -> None:
    """Neither outside of runtimes, nor inside one that has other codecs."""
    for codecs in (CodecRegistry(), CodecRegistry([JsonCodec("Other", decoded, fails)])):
        with codecs.used(), pytest.raises(ValueMappingError, match="Money, which cannot be stored"):
            encode(Money(1))
        with codecs.used():
            assert "give the runtime a codec for it" in (type_problem(list[Money]) or "")
    with CodecRegistry([MONEY]).used():
        assert type_problem(list[Money]) is None


def test_a_class_that_a_cell_defines_again_keeps_its_codec() -> None:
    """Values of before and of now are stored, whichever of the two the codec makes."""
    old, new = (
        type("Cell", (), {"__module__": "__main__", "__init__": Money.__init__}) for _ in "ab"
    )
    codec: JsonCodec[Any] = JsonCodec("Cell", old, lambda value: value.cents, old)
    for given in (old, new):
        for declared in (old, new):
            document, value = kept(given(3), declared, codec)
            assert (document, value.cents) == (3, 3)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: [MONEY, JsonCodec("Money", decoded, fails)], "codec Money is there twice"),
    (lambda: [JsonCodec(name, decoded, fails, Money) for name in "ab"], "codec b is there twice"),
    (lambda: [JsonCodec("str", str, str)], "codec str is for a built-in type"),
    (lambda: [JsonCodec("builtins.int", int, int)], "codec builtins.int is for a built-in type"),
    (lambda: [JsonCodec("Count", int, int, int)], "codec Count is for a built-in type"),
    (lambda: {dict: MONEY}, "codec Money is for a built-in type"),
    (lambda: [JsonCodec("", decoded, fails)], "codec type_name is '': give a non-empty str"),
    (lambda: ["Money"], "codec is 'Money': give one with type_name, or JsonCodec"),
    (lambda: [JsonCodec], "give an instance of it, or JsonCodec"),
    (lambda: 5, r"codecs is 5: give a list of codecs"),
    (lambda: {"Money": MONEY}, r"key is 'Money': give the class itself, \{Money: \.\.\.\}, or a"),
    (lambda: {None: MONEY}, "key is None: give the class itself"),
    (
        lambda: {Order: JsonCodec("m", decoded, fails, Money)},
        "codec m is given for Order, and its expected_type is Money: give both the same class",
    ),
    (lambda: "ab", r"codecs is 'ab': give a list of codecs"),
    (lambda: [JsonCodec("a", 1, fails)], "JsonCodec decoder is 1: give a function"),  # type: ignore[arg-type]
    (lambda: [JsonCodec("a", fails, fails, "Money")], "codec a expected_type is 'Money'"),  # type: ignore[arg-type]
    (
        lambda: [type("Odd", (AsText,), {"wire_kind": "json"})()],
        "wire_kind is 'json': give one of 'string', 'bool', 'int64', 'double', 'bytes', 'object'",
    ),
]


@pytest.mark.rule("1.10/registry-refuses")
@pytest.mark.parametrize(("codecs", "text"), REFUSED)
def test_a_registry_refuses_what_cannot_hold(codecs: Callable[[], Any], text: str) -> None:
    """One error each, when it is made."""
    with pytest.raises(DefinitionError, match=text):
        CodecRegistry(codecs())


def test_a_registry_shows_its_codecs() -> None:
    """By their types; what is stored as it is needs none, and may be listed all the same."""
    registry = CodecRegistry([STRING, MONEY, INT64])
    assert (list(registry), len(registry), repr(registry)) == ([MONEY], 1, "CodecRegistry(Money)")
    assert list(CodecRegistry({Money: AsText()})) != []
    assert not CodecRegistry()


def test_of_two_registries_the_later_one_counts() -> None:
    """For the types that it has."""
    other, text = JsonCodec("Other", fails, fails), JsonCodec("Money", fails, lambda _: "m")
    joined = CodecRegistry([MONEY, other]).joined(CodecRegistry([text]))
    assert set(joined) == {other, text}
    with joined.used():
        assert encode(Money(1)) == "m"


def test_reading_without_the_codec_that_stored_says_what_to_give() -> None:
    """Where there is none, where another one is, and where it fails: codecs= is the way out."""
    fix = r"give the codec that stored it, codecs=CodecRegistry\(\[\.\.\.\]\)"
    with pytest.raises(ValueMappingError, match=rf"Money, stands '1 EUR'; {fix}"):
        decode("1 EUR", Money)
    with pytest.raises(ValueMappingError, match=rf"\['parts'\]\[0\] must be Money, .*; {fix}"):
        decode({"parts": ["1"]}, dict[str, list[Money]])
    for given, document in ((AsText(), {"cents": 1}), (JsonCodec("Money", fails, fails), 1)):
        with (
            CodecRegistry([given]).used(),
            pytest.raises(ValueMappingError, match=rf"Money.*; .*{fix}"),
        ):
            decode(document, Money)
    with pytest.raises(ValueMappingError, match=r"stands 'x'$"):
        decode("x", int)


def test_what_an_encode_gives_is_not_said_to_need_a_codec() -> None:
    """It has one, whose encode is what to correct."""
    with (
        CodecRegistry([JsonCodec("Money", decoded, lambda value: value)]).used(),
        pytest.raises(ValueMappingError) as caught,
    ):
        encode(Money(1))
    assert "list or dict" in str(caught.value)
    assert "codecs=" not in str(caught.value)
