"""Pydantic models are values like dataclasses, where pydantic is installed."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import UUID

import pytest

from dexnb import Attribute, Channel, CodecRegistry, JsonCodec, ValueMappingError
from dexnb.flow.codec import encode_text
from dexnb.flow.typed import check, decode
from dexnb.model.json_text import from_text
from tests.flow.calls import call, persistence_of
from tests.flow.values import Page

if TYPE_CHECKING:
    import pydantic
else:
    pydantic = pytest.importorskip("pydantic")

ItemT = TypeVar("ItemT")


class Order(pydantic.BaseModel):
    """Plain fields, a default, and an alias."""

    order_id: str = pydantic.Field(alias="orderId")
    count: int = 0
    total: float = 0.5


class Strict(pydantic.BaseModel):
    """Takes no str for a time, and no field that it does not know."""

    model_config = pydantic.ConfigDict(strict=True, extra="forbid")
    at: datetime
    id: UUID
    tags: set[str] = pydantic.Field(default_factory=set)

    @pydantic.computed_field  # type: ignore[prop-decorator]  # as pydantic tells to
    @property
    def day(self) -> int:
        """Tell what is no field."""
        return self.at.day


class Box(pydantic.BaseModel, Generic[ItemT]):
    """Holds another model."""

    item: ItemT


class Hidden(pydantic.BaseModel):
    """Does not tell its field."""

    password: pydantic.SecretStr


STRICT = Strict(at=datetime(2026, 1, 1, tzinfo=UTC), id=UUID(int=7), tags={"a", "b"})
VALUES: list[tuple[Any, Any]] = [
    (Order(orderId="a", count=2**70, total=float("inf")), Order),
    (STRICT, Strict),
    (Box[Strict](item=STRICT), Box[Strict]),
    ([Order(orderId="a")], list[Order]),
    (Page([STRICT]), Page[Strict]),
    ({"a": Order(orderId="a")}, dict[str, Order]),
    (None, Order | None),
    (Order(orderId="a"), Order | Strict),
]


@pytest.mark.parametrize(("value", "type_"), VALUES)
def test_a_model_comes_back_as_it_was(value: Any, type_: Any) -> None:
    """By itself and inside of others, through JSON text."""
    assert decode(from_text(encode_text(value)), type_) == value
    assert decode(check(value, type_, "test"), type_) == value


def test_a_model_is_a_value_of_attributes_and_channels() -> None:
    """Its natural form stands in the store."""
    attribute, channel = Attribute("order", Order), Channel("orders", Order)
    context = call(attribute, channel)
    order = Order(orderId="a")
    attribute.set(context, order)
    channel.publish(context, order)
    document = {"orderId": "a", "count": 0, "total": 0.5}
    writes = {"attributes": {"order": document}, "published": [["orders", document]]}
    assert context.data.writes() == writes
    assert attribute.get(context) == order


def test_a_document_that_the_model_refuses_names_the_place() -> None:
    """Whatever the model says stands in the text."""
    text = r"^Attribute order get: value does not make a Order: .*"
    attribute = Attribute("order", Order)
    with pytest.raises(ValueMappingError, match=text) as caught:
        attribute.get(call(attribute, attributes={"order": {"count": 1}}))
    assert "orderId" in str(caught.value)
    with pytest.raises(ValueMappingError, match="must be Order, stands"):
        decode({"orderId": {"$bytes": ""}}, Order)


def test_a_secret_that_would_be_lost_is_refused_and_not_shown() -> None:
    """A model dumps stars for it."""
    persistence_of(Attribute("hidden", Hidden))
    with pytest.raises(ValueMappingError, match="would be read back as") as caught:
        check(Hidden(password=pydantic.SecretStr("opensesame")), Hidden, "test")
    assert "opensesame" not in str(caught.value)


def test_the_package_imports_no_pydantic_by_itself() -> None:
    """Whoever has no models pays nothing."""
    code = "import sys, dexnb.flow.data, dexnb.flow.registry; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


SECRET = pydantic.SecretStr("opensesame")


class Marked(pydantic.BaseModel):
    """Has what is no field of it."""

    count: float = 0.5
    _mark: int = pydantic.PrivateAttr(default=0)

    def mark(self) -> Marked:
        """Set it."""
        self._mark = 41
        return self


class Keeper(pydantic.BaseModel):
    """Holds models that lose something."""

    marked: list[Marked] = pydantic.Field(default_factory=list)
    secrets: list[pydantic.SecretStr] = pydantic.Field(default_factory=list)


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (
            Hidden(password=SECRET),
            ("value.password is SecretStr(", "so what was given would be lost"),
        ),
        (Keeper(secrets=[SECRET]), ("value.secrets[0] is SecretStr(", "would be lost")),
        (Marked().mark(), ("value is Marked(", "would lose its private '_mark': make it a field")),
        (
            Keeper(marked=[Marked().mark()]),
            ("value.marked[0] is Marked(", "lose its private '_mark'"),
        ),
    ],
)
def test_what_a_model_loses_is_named_with_what_to_do(value: Any, parts: tuple[str, ...]) -> None:
    """Not the type that is declared already, nor what is private."""
    with pytest.raises(ValueMappingError) as caught:
        check(value, type(value), "test")
    for part in parts:
        assert part in str(caught.value)
    assert "declare the type" not in str(caught.value)
    assert "41" not in str(caught.value)
    assert "opensesame" not in str(caught.value)


def test_a_model_with_what_is_no_number_comes_back() -> None:
    """NaN is not equal to itself, and nothing is lost of it; an untouched private stays so."""
    value = Marked(count=float("nan"))
    assert str(decode(check(value, Marked, "test"), Marked)) == str(value)


class Price:
    """Neither pydantic nor the codec of a model knows it."""


class Item(pydantic.BaseModel):
    """Holds one, deep inside."""

    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    name: str = "a"
    price: Price | None = None
    parts: list[Price] = pydantic.Field(default_factory=list)


class Cart(pydantic.BaseModel):
    """Holds a model."""

    item: Item


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ([Item(price=Price())], r"value\[0\]\.price"),
        ([Item(parts=[Price()])], r"value\[0\]\.parts"),
        ([Cart(item=Item(price=Price()))], r"value\[0\]\.item\.price"),
    ],
)
def test_a_field_that_a_model_cannot_dump_is_named_with_what_to_do(given: Any, path: str) -> None:
    """Codecs do not reach into models, so what pydantic has for it must be given."""
    codec = JsonCodec("Price", lambda _: Price(), lambda _: "1", Price)
    fix = "codecs do not reach into pydantic models: annotate the field with pydantic.PlainSeri"
    for codecs in (CodecRegistry([codec]), CodecRegistry()):
        with (
            codecs.used(),
            pytest.raises(ValueMappingError, match=rf"^save: {path}: .*Price.*; {fix}"),
        ):
            encode_text(given, "save")
