"""How values cross to the server and back: texts as bytes, times as whole microseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dexnb.errors import DocumentError
from dexnb.model.json_text import from_text, to_text

MICRO = 1_000_000

LATEST = 2**53 - 1
"""What a sorted set's score holds exactly; as microseconds it is the year 2255."""


def raw(text: str) -> bytes:
    """Give the bytes of a text, half surrogate pairs and NUL included."""
    return text.encode("utf-8", "surrogatepass")


def text(value: bytes) -> str:
    """Give the text of bytes; damaged ones are spelt out, so that their reader refuses them."""
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return value.decode("utf-8", "backslashreplace")


def micros(seconds: float) -> int:
    """Give seconds as whole microseconds."""
    return round(min(max(seconds, 0.0), LATEST / MICRO) * MICRO)


def seconds(score: bytes) -> float:
    """Give the seconds of a score."""
    return float(score) / MICRO


def stamp(value: float) -> str:
    """Give a float as text that keeps every bit of it; no script computes with it."""
    return repr(float(value))


def listed(values: Iterable[Any]) -> list[Any]:
    """Give a list as a script takes it: its length before it."""
    values = list(values)
    return [len(values), *values]


def optional(value: str | None) -> list[Any]:
    """Give what may be missing as a list of at most one."""
    return [0] if value is None else [1, raw(value)]


def packed(*values: Any) -> bytes:
    """Write values that no script looks into."""
    return to_text(values).encode()


def unpacked(record: bytes, count: int, what: str) -> list[Any]:
    """Read what `packed` wrote.

    Raises:
        DocumentError: It is something else.
    """
    values = from_text(text(record), what)
    if not isinstance(values, list) or len(values) != count:
        message = f"{what} has not the {count} parts that it was written with"
        raise DocumentError(message)
    return values
