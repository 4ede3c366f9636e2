"""How values cross into SQLite and back: one JSON parameter for many rows, times as integers.

SQLite's JSON cuts text at NUL, cannot give back half a surrogate pair, and makes 15 digits of a
float. So such text is marked and wrapped, times are whole microseconds, and stamps are text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from dexnb.model.json_text import from_text, to_text

_WRAPPED = "\x7fjson:"
_MICRO = 1_000_000
_LATEST = 2**62


def stored(text: str) -> str:
    """Give the text as a column holds it: itself, unless SQLite would not keep it whole."""
    if "\0" in text or text.startswith(_WRAPPED) or not (text.isascii() or _encodable(text)):
        return _WRAPPED + to_text(text)
    return text


def restored(text: str) -> str:
    """Give the text that `stored` was given."""
    if text.startswith(_WRAPPED):
        return str(from_text(text.removeprefix(_WRAPPED)))
    return text


def size_of(text: str) -> int:
    """Count the bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def micros(seconds: float) -> int:
    """Give seconds as whole microseconds; no time comes before one that was not after it."""
    return round(min(max(seconds, 0.0), _LATEST / _MICRO) * _MICRO)


def seconds(whole: int) -> float:
    """Give whole microseconds as seconds."""
    return whole / _MICRO


def stamp(value: float | None) -> str | None:
    """Give a float as text that keeps every bit of it; SQL never computes with it."""
    return None if value is None else repr(float(value))


def parameter(values: Iterable[Any]) -> str:
    """Write the rows of one set statement as its one parameter."""
    rows = list(values)
    return to_text(rows) if rows else "[]"


def answer(text: str) -> Any:
    """Read the one row that a statement aggregated."""
    return [] if text == "[]" else json.loads(text)


def number_of(token: str) -> int:
    """Give the row that a lock token is for, or 0 when it is no token of this store."""
    head = token.partition(".")[0][1:]
    return int(head) if head.isascii() and head.isdecimal() and len(head) < _DIGITS else 0


_DIGITS = math.ceil(math.log10(2**63))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
