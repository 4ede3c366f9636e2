"""The values that stand alone: how each kind is written, and the tags of those that JSON lacks."""

from __future__ import annotations

import base64
import math
import uuid
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from dexnb.model.shown import shown

_SAFE_INTEGER = 2**53
_TIMEDELTA_PARTS = 3


class Unfit(Exception):
    """A value cannot be stored, or a document cannot be read; becomes a `ValueMappingError`."""


def write_text(value: str) -> str:
    """Give a str back that JSON text gives back unchanged.

    Raises:
        Unfit: Two halves of a surrogate pair stand side by side: reading joins them.
    """
    if value.isascii():
        return value
    if value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") != value:
        raise Unfit("holds a split surrogate pair; decode that text as UTF-8 or UTF-16")
    return value


def _write_int(value: int) -> Any:
    if -_SAFE_INTEGER < value < _SAFE_INTEGER:
        return value
    try:
        return {"$int": str(value)}
    except ValueError as error:  # more digits than Python prints
        raise Unfit(f"is an int of {value.bit_length()} bits; give bytes or a str") from error


def _write_float(value: float) -> Any:
    return value if math.isfinite(value) else {"$float": str(value)}


def _write_bytes(value: bytes | bytearray) -> Any:
    return {"$bytes": base64.b64encode(value).decode("ascii")}


def _write_time(value: time) -> Any:
    if value.tzinfo is not None and value.utcoffset() is None:
        raise Unfit("is a time in a zone without a fixed offset; give a datetime")
    return {"$time": value.isoformat()}


def _write_timedelta(value: timedelta) -> Any:
    return {"$timedelta": [value.days, value.seconds, value.microseconds]}


WRITERS: dict[type, Callable[[Any], Any]] = {
    type(None): lambda value: value,
    bool: lambda value: value,
    str: write_text,
    int: _write_int,
    float: _write_float,
    bytes: _write_bytes,
    bytearray: _write_bytes,
    datetime: lambda value: {"$datetime": value.isoformat()},
    date: lambda value: {"$date": value.isoformat()},
    time: _write_time,
    timedelta: _write_timedelta,
    uuid.UUID: lambda value: {"$uuid": str(value)},
    Decimal: lambda value: {"$decimal": str(value)},
}
"""By exact class, since nothing is known of what a subclass adds."""


def _read_bytes(data: str) -> bytes:
    return base64.b64decode(data, validate=True)


def _read_timedelta(data: list[int]) -> timedelta:
    days, seconds, microseconds = data
    return timedelta(days=days, seconds=seconds, microseconds=microseconds)


READERS: dict[str, Callable[[Any], Any]] = {
    "$int": int,
    "$float": float,
    "$bytes": _read_bytes,
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$timedelta": _read_timedelta,
    "$uuid": uuid.UUID,
    "$decimal": Decimal,
}


def read_tag(tag: str, data: Any) -> Any:
    """Read what a tag of `READERS` holds.

    Raises:
        Unfit: It cannot hold that.
    """
    try:
        if not _is_legal(tag, data):
            raise ValueError("of another kind")
        return READERS[tag](data)
    except (ValueError, ArithmeticError) as error:
        raise Unfit(f"{tag} holds {shown(data)}: {shown(str(error))}") from error


def _is_legal(tag: str, data: Any) -> bool:
    if tag != "$timedelta":
        return isinstance(data, str)
    parts = data if isinstance(data, list) else []
    return len(parts) == _TIMEDELTA_PARTS and all(type(part) is int for part in parts)
