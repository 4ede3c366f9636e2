"""Classes whose values are stored and read again in these tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    TypedDict,
    TypeVar,
)
from uuid import UUID

from dexnb.flow.codec import encode
from dexnb.flow.typed import check, decode

T = TypeVar("T")
K = TypeVar("K")
NumberT = TypeVar("NumberT", int, str)
JobId = NewType("JobId", str)


class Color(Enum):
    """Plain members, one of them no plain JSON."""

    RED = "red"
    PAIR = (1, 2)
    NOTHING = None


class Mood(Enum):
    """A second Enum with a value of the first."""

    ANGRY = "red"


class State(StrEnum):
    """Members that are str."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"


class Level(IntEnum):
    """Members that are int."""

    LOW = 1
    HIGH = 2**60


class Right(Flag):
    """Members that combine."""

    READ = 1
    WRITE = 2


class Bits(IntFlag):
    """Members that combine and are int."""

    ONE = 1
    TWO = 2


class Celsius(float):
    """A float of its own class."""


@dataclass
class Job:
    """Fields of many kinds, all annotated in text."""

    state: State
    due: datetime | None = None
    every: timedelta = timedelta(seconds=1)
    tags: list[str] = field(default_factory=list)
    cost: Decimal = Decimal("1.10")
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Point:
    """Frozen, with slots."""

    x: float
    y: float = -0.0


@dataclass
class Tree:
    """Holds its own kind."""

    name: str
    children: list[Tree] = field(default_factory=list)
    parent: Tree | None = None


@dataclass
class Page(Generic[T]):
    """A field of a type that the alias names."""

    items: list[T]
    best: T | None = None


@dataclass
class JobPage(Page[Job]):
    """Binds what the base leaves open."""

    total: int = 0


@dataclass
class Book(Page[K], Generic[K, T]):
    """Binds with variables of its own; T is another one here than in the base."""

    index: dict[str, T] = field(default_factory=dict)


@dataclass
class Doubled:
    """A field that the constructor does not take."""

    x: int
    twice: int = field(init=False)

    def __post_init__(self) -> None:
        """Make the second field."""
        self.twice = self.x * 2


@dataclass
class Seeded:
    """Cannot be made from its fields alone."""

    x: int
    seed: InitVar[int]

    def __post_init__(self, seed: int) -> None:
        """Use the seed."""
        self.x += seed


@dataclass
class Kelvin:
    """Its own code refuses some values."""

    degrees: float

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.degrees < 0:
            raise LookupError(self.degrees)


@dataclass
class Started:
    """One arm of a union, told apart by its literal."""

    job: str
    kind: Literal["started"] = "started"


@dataclass
class Ended:
    """The other arm."""

    job: str
    kind: Literal["ended"] = "ended"


@dataclass
class Cat:
    """The same fields as a Dog."""

    name: str


@dataclass
class Dog:
    """The same fields as a Cat."""

    name: str


@dataclass
class Left:
    """An arm that holds both arms, its literal last."""

    next: Left | Right_ | None
    kind: Literal["left"] = "left"


@dataclass
class Right_:  # noqa: N801 - Right is the Flag
    """The other such arm."""

    next: Left | Right_ | None
    kind: Literal["right"] = "right"


class Span(NamedTuple):
    """A named tuple with a type that has to be read."""

    start: datetime
    length: int = 1


class Row(TypedDict):
    """A dict with fields."""

    state: State
    note: NotRequired[str]


class Model:
    """As much of a pydantic model as the codec knows: the two methods."""

    def __init__(self, count: int) -> None:
        """Keep the field."""
        self.count = count

    def __eq__(self, other: object) -> bool:
        """Compare by value, as a model does."""
        return isinstance(other, Model) and self.count == other.count

    __hash__ = None  # type: ignore[assignment]  # as a model that is not frozen

    def model_dump(self, *, mode: str, **options: bool) -> dict[str, Any]:
        """Give JSON types."""
        assert mode == "json"
        return {"count": self.count, "$kind": "model"}

    @classmethod
    def model_validate_json(cls, text: str) -> Model:
        """Check and make."""
        data = json.loads(text)
        if not isinstance(data, dict) or type(data.get("count")) is not int:
            message = f"count of {data!r} is no int"
            raise ValueError(message)
        return cls(data["count"])


class Client:
    """What no store can keep."""


def strict(text: str) -> Any:
    """Parse JSON as a strict reader does, and see that it keeps every integer exact."""

    def refuse(name: str) -> None:
        message = f"{name} is not JSON"
        raise AssertionError(message)

    def exact(digits: str) -> int:
        assert abs(int(digits)) < 2**53
        return int(digits)

    assert text.isascii()
    return json.loads(text, parse_constant=refuse, parse_int=exact)


def back(value: Any, type_: Any) -> Any:
    """Store a value untyped, as a heartbeat does, and read it as a type."""
    document = strict(json.dumps(encode(value), allow_nan=False))
    return decode(document, type_)


def through(value: Any, type_: Any) -> Any:
    """Store a value as its declared type and read it as that."""
    document = strict(json.dumps(check(value, type_, "test"), allow_nan=False))
    return decode(document, type_)


Counts = Annotated[Mapping[JobId, Sequence[UUID]], "by job"]
