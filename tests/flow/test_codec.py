"""Values of every kind come back with the value and the type that they had."""

from __future__ import annotations

import math
from collections import OrderedDict, UserDict, defaultdict, deque
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Final, Literal, Optional
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from dexnb.errors import ValueMappingError
from dexnb.flow.codec import MAX_DEPTH, MAX_VALUE_BYTES, encode, encode_text, natural
from dexnb.flow.tags import WRITERS, Unfit
from dexnb.flow.typed import decode
from tests.flow.values import (
    Bits,
    Book,
    Celsius,
    Client,
    Color,
    Counts,
    Doubled,
    Ended,
    Job,
    JobId,
    JobPage,
    Left,
    Level,
    Model,
    Page,
    Point,
    Right,
    Right_,
    Row,
    Span,
    Started,
    State,
    Tree,
    back,
    strict,
    through,
)

BERLIN = ZoneInfo("Europe/Berlin")
JOB = Job(State.RUNNING, datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=-1), ["a"], data=b"\0")

PLAIN: list[Any] = [
    "",
    "text",
    "\0\n\u2028\x7f",
    "héé 🦊",
    "\ud800",
    "\udfff high \ud83d",
    True,
    False,
    0,
    -1,
    2**53 - 1,
    2**53,
    -(2**53),
    2**53 + 1,
    10**4000,
    0.0,
    -0.0,
    1.0,
    1e300,
    5e-324,
    math.inf,
    -math.inf,
    math.nan,
    b"",
    b"\x00\xff",
    bytearray(b"ab"),
    None,
    datetime(2026, 1, 1, 12, 30, 1, 999999),  # noqa: DTZ001 - a naive one
    datetime(2026, 1, 1, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=-3, minutes=-30, seconds=-7))),
    date(9999, 12, 31),
    time(1, 2, 3, 4),
    time(1, 2, tzinfo=timezone(timedelta(hours=2))),
    timedelta.max,
    timedelta.min,
    timedelta(microseconds=-1),
    UUID(int=1),
    Decimal("1.10"),
    Decimal("-0"),
    Decimal("1E+1000000"),
    Decimal("NaN"),
    Decimal("sNaN123"),
    Decimal("-Infinity"),
    Color.RED,
    Color.PAIR,
    Color.NOTHING,
    State.RUNNING,
    Level.LOW,
    Level.HIGH,
    Right.READ | Right.WRITE,
    Right(0),
    Bits.ONE | Bits.TWO,
    Bits(8),
    Celsius(36.6),
    JOB,
    Point(1.5),
    Point(math.nan, math.inf),
    Tree("a", [Tree("b")], Tree("c")),
    JobPage([JOB], JOB, 1),
    Doubled(2),
    Span(datetime(2026, 1, 1, tzinfo=UTC), 2),
    Model(3),
]


def identity(value: Any) -> str:
    """Tell value and type apart, where == does not: -0.0, NaN, True and 1, offsets.

    But not the fold of a time without a zone, which no stored form has.
    """
    if isinstance(value, Model):
        return f"model {value.count}"
    return f"{type(value).__qualname__} {value!r}".replace(", fold=1", "")


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: f"{type(value).__name__}")
def test_a_value_comes_back_with_its_type(value: Any) -> None:
    """Stored untyped, as a heartbeat is, and read as its own class."""
    read = back(value, type(value))
    assert identity(read) == identity(value)
    assert identity(through(value, type(value))) == identity(value)


TYPED: list[tuple[Any, Any]] = [
    ([1, 2], list[int]),
    ([], list[Job]),
    ([State.QUEUED], list[State]),
    ([[b"a"], []], list[list[bytes]]),
    ((), tuple[()]),
    ((1, "a", b"x"), tuple[int, str, bytes]),
    ((1, 2, 3), tuple[int, ...]),
    ({"a": 1}, dict[str, int]),
    ({"$bytes": 1}, dict[str, int]),
    ({"$dict": {"$int": "1"}}, dict[str, dict[str, str]]),
    ({"a": 1, "$b": 2}, dict[str, int]),
    ({1: "a", 2**60: "b"}, dict[int, str]),
    ({True: 1, None: 2}, dict[bool | None, int]),
    ({State.QUEUED: b"a"}, dict[State, bytes]),
    ({(1, 2): 3}, dict[tuple[int, int], int]),
    ({b"k": {}}, dict[bytes, dict[str, int]]),
    ({JobId("a"): [UUID(int=0)]}, Counts),
    ([1, 2], Iterable[int]),
    (None, Optional[Job]),  # noqa: UP045 - the other spelling
    (JOB, Job | None),
    (JobId("x"), JobId),
    (1, Annotated[int, "kept"]),
    ([1], Final[list[int]]),
    ("a", Literal["a", 1]),
    (True, Literal[True, 1]),
    (1, Literal[True, 1]),
    (Color.RED, Literal[Color.RED]),
    (Page([JOB], JOB), Page[Job]),
    (Page([Page([1])]), Page[Page[int]]),
    (Book([JOB], None, {"a": State.QUEUED}), Book[Job, State]),
    ({"state": State.QUEUED}, Row),
    ({"state": State.QUEUED, "note": "n"}, Row),
    ([Span(datetime(2026, 1, 1, tzinfo=UTC))], list[Span]),
    ([1, "a", None, {"b": [b"x", {"$a": timedelta(1)}]}], list[Any]),
]


@pytest.mark.parametrize(("value", "type_"), TYPED, ids=lambda value: str(value)[:40])
def test_a_value_of_a_declared_type_comes_back(value: Any, type_: Any) -> None:
    """Containers, wrappers and generic classes are read by what their type says."""
    assert identity(through(value, type_)) == identity(value)
    assert identity(back(value, type_)) == identity(value)


def test_values_that_json_lacks_come_back_without_a_type_too() -> None:
    """A tag says what they are; Enums, dataclasses and tuples come in their natural form."""
    value = {"at": date(2026, 1, 1), "raw": b"x", 1: Decimal(2), "big": 2**70}
    assert natural(encode(value)) == value
    assert natural(encode([State.QUEUED, Point(1.0, 2.0), (1,)])) == [
        "QUEUED",
        {"x": 1, "y": 2},
        [1],
    ]


def test_an_aware_datetime_keeps_its_moment_and_offset_also_where_an_hour_repeats() -> None:
    """The zone's name is not kept; both readings of a clock that was set back are told apart."""
    for fold in (0, 1):
        moment = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=fold)
        assert through(moment, datetime).isoformat() == moment.isoformat()
        assert through(moment, datetime).timestamp() == moment.timestamp()


class Bad(Enum):
    """A member that cannot be stored beside one that can."""

    CLIENT = Client()
    FINE = "fine"


def test_a_good_member_of_an_enum_with_a_bad_one_comes_back() -> None:
    """The bad one is refused alone."""
    assert back(Bad.FINE, Bad) is Bad.FINE


ITSELF: list[Any] = []
ITSELF.append(ITSELF)
LOOP: dict[str, Any] = {}
LOOP["loop"] = [LOOP]


def nested(depth: int) -> list[Any]:
    """Give lists in lists."""
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


SHARED: list[Any] = []
for _ in range(60):
    SHARED = [SHARED, SHARED]

REFUSED: list[tuple[Any, str]] = [
    (SHARED, r"value holds more than 1,048,576 items; store it elsewhere"),
    ([0] * (1 << 20), r"value holds more than 1,048,576 items; store it elsewhere"),
    (Client(), r"value is a tests\.flow\.values\.Client, which cannot be stored; give a str, "),
    ({"a": [Client()]}, r"value\['a'\]\[0\] is a tests\.flow\.values\.Client"),
    (Page([Client()]), r"value\.items\[0\] is a tests\.flow\.values\.Client"),
    ({Client: 1}, r"key of value is the class Client itself; give an instance"),
    (Job, r"value is the class Job itself; give an instance"),
    (Bad.CLIENT, r"value\.value is a tests\.flow\.values\.Client"),
    ({1, 2}, r"value is a builtins\.set, which cannot be stored"),
    (1j, r"value is a builtins\.complex"),
    (object(), r"value is a builtins\.object"),
    (test_a_value_comes_back_with_its_type, r"value is a builtins\.function"),
    (memoryview(b"a"), r"value is a builtins\.memoryview"),
    (OrderedDict(a=1), r"value is a collections\.OrderedDict, .* give dict\(\.\.\.\)"),
    (defaultdict(int), r"value is a collections\.defaultdict"),
    (UserDict(a=1), r"value is a collections\.UserDict"),
    (deque([1]), r"value is a collections\.deque"),
    (10**5000, r"value is an int of 16610 bits; give bytes or a str"),
    ({"a": "\ud83d\ude00"}, r"value\['a'\] holds a split surrogate pair"),
    ({"\ud83d\ude00": 1}, r"key of value holds a split surrogate pair"),
    (time(1, tzinfo=BERLIN), r"value is a time in a zone without a fixed offset"),
    (ITSELF, r"value contains itself or is nested deeper than 64 levels"),
    (LOOP, r"value contains itself or is nested deeper than 64 levels"),
    (nested(100_000), r"value contains itself or is nested deeper than 64 levels"),
    (nested(MAX_DEPTH + 2), r"value contains itself or is nested deeper than 64 levels"),
]


@pytest.mark.parametrize(("value", "text"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_cannot_be_stored_is_refused_with_path_type_and_fix(value: Any, text: str) -> None:
    """At the call, in a text of bounded length."""
    with pytest.raises(ValueMappingError, match=rf"^save: {text}") as caught:
        encode_text(value, "save")
    assert len(str(caught.value)) < 400


def test_a_deep_value_that_is_taken_can_be_read() -> None:
    """The limit leaves room on the stack for whatever types are asked for."""
    leaf = Tree("end")
    for _ in range(MAX_DEPTH // 2 - 1):
        leaf = Tree("in", [leaf])
    assert through(leaf, Tree) == leaf
    line: Any = Left(None)
    for index in range(MAX_DEPTH - 1):
        line = Right_(line) if index % 2 else Left(line)
    assert through(line, Left | Right_) == line
    assert through(nested(MAX_DEPTH + 1), list[Any]) == nested(MAX_DEPTH + 1)


def test_a_field_that_was_never_set_is_named() -> None:
    """A dataclass may leave out what it does not make itself."""
    half = Doubled.__new__(Doubled)
    half.x = 1
    with pytest.raises(ValueMappingError, match=r"value\.twice was never set; give the field a d"):
        encode(half)


def test_a_number_or_time_of_another_package_is_refused_with_its_conversion() -> None:
    """By the package's name, so that none of them is imported for it."""
    numpy_like = type("int64", (), {"__module__": "numpy"})()
    pandas_like = type("Timestamp", (datetime,), {"__module__": "pandas._libs"})(2026, 1, 1)
    with pytest.raises(ValueMappingError, match=r"numpy\.int64, .* give value\.item\(\)"):
        encode(numpy_like)
    with pytest.raises(ValueMappingError, match=r"Timestamp, .* give value\.to_pydatetime\(\)"):
        encode(pandas_like)


def test_a_value_over_one_mebibyte_is_refused_with_its_size_and_the_limit() -> None:
    """Counted in bytes of JSON text; at the limit it is still taken."""
    assert len(encode_text("x" * (MAX_VALUE_BYTES - 2))) == MAX_VALUE_BYTES
    text = r"save: value of 5,242,882 bytes is over the limit of 1,048,576; store it elsewhere"
    with pytest.raises(ValueMappingError, match=text):
        encode_text("x" * (5 << 20), "save")


def test_what_a_model_dumps_is_kept_exact() -> None:
    """A key that looks like a tag is one of the model's own."""
    assert strict(encode_text(Model(1))) == {"$dict": [["count", 1], ["$kind", "model"]]}


def test_a_model_that_cannot_be_dumped_is_refused_with_its_path() -> None:
    """Its own error stands in the text."""

    class Broken(Model):
        def model_dump(self, *, mode: str, **options: bool) -> dict[str, Any]:
            message = "no such field"
            raise ValueError(message)

    with pytest.raises(ValueMappingError, match=r"value\[0\]: no such field"):
        encode([Broken(1)])


def test_the_order_of_the_arms_of_two_similar_records_does_not_matter() -> None:
    """Each is told by its literal."""
    for value in (Started("a"), Ended("a")):
        assert through(value, Started | Ended) == value
        assert through(value, Ended | Started) == value


def test_inner_errors_do_not_leak() -> None:
    """What passes between the parts of the codec never reaches a user."""
    assert not issubclass(ValueMappingError, Unfit)
    with pytest.raises(ValueMappingError):
        natural({"$int": "x"})


def test_the_list_of_what_can_be_stored_is_complete() -> None:
    """Every kind that is written by itself is named, and what is there for all others."""
    with pytest.raises(ValueMappingError) as caught:
        encode(Client())
    text = str(caught.value)
    kinds = {kind.__name__ for kind in WRITERS} - {"NoneType", "bytearray", "int", "float"}
    named = {"number", "None", "Enum", "dataclass", "named tuple", "pydantic model", "tuple"}
    assert [kind for kind in sorted(kinds | named) if f" {kind}," not in text] == []
    assert text.endswith(", list or dict; or give a codec for it, codecs=CodecRegistry([...])")


@pytest.mark.parametrize("type_", [Any, dict[str, Any]])
def test_a_key_that_only_its_type_can_read_is_refused_with_its_place(type_: Any) -> None:
    """A tuple is stored as a list; the fix is to declare what the keys are."""
    document = encode({"a": [{"b": {(1, 2): 3}}]})
    text = r"value\['a'\]\[0\]\['b'\]: \[1, 2\] cannot be the key of a dict: declare the type of"
    with pytest.raises(ValueMappingError, match=text):
        decode(document, type_)
    with pytest.raises(ValueMappingError, match=text):
        natural(document)
    deep = dict[str, list[dict[str, dict[tuple[int, int], int]]]]
    assert decode(document, deep) == {"a": [{"b": {(1, 2): 3}}]}
