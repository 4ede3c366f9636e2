"""How values become JSON and come back: by the type asked for, never by running stored code.

Plain JSON types, Enums, dataclasses and pydantic models are written in their natural form and need
their type to be read. Values that JSON lacks carry a tag such as `{"$bytes": ...}` and come back
without a type too.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import uuid
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from dexnb.errors import DocumentError, ValueMappingError
from dexnb.model.json_text import to_text

MAX_VALUE_BYTES = 1 << 20
"""Largest encoded value (input, output, checkpoint): 1 MiB of JSON text."""

_SAFE_INTEGER = 2**53


def encode(value: Any, operation: str = "encode a value") -> Any:
    """Give the plain JSON form of a value.

    Raises:
        ValueMappingError: Something inside cannot be stored; the text names its path and type.
    """
    try:
        return _encode(value, "value", operation)
    except RecursionError:
        detail = "value contains itself or is nested too deeply; store an id instead"
        raise ValueMappingError(operation, detail) from None


def encode_text(value: Any, operation: str = "encode a value") -> str:
    """Give the JSON text of a value.

    Raises:
        ValueMappingError: As `encode`, or the text is larger than `MAX_VALUE_BYTES`.
    """
    try:
        text = to_text(encode(value, operation))
    except DocumentError as error:
        raise ValueMappingError(operation, str(error)) from error
    if len(text) > MAX_VALUE_BYTES:
        detail = (
            f"value of {len(text):,} bytes is over the limit of {MAX_VALUE_BYTES:,}; "
            "store it elsewhere and keep its address"
        )
        raise ValueMappingError(operation, detail)
    return text


def _encode(value: Any, path: str, operation: str) -> Any:
    kind = type(value)
    if kind in (str, bool, type(None)):
        return value
    if isinstance(value, Enum):
        return _encode(value.value, f"{path}.value", operation)
    for known, write in _WRITERS:
        if isinstance(value, known):
            return write(value)
    if isinstance(value, dict):
        return _encode_dict(value, path, operation)
    if isinstance(value, list | tuple):
        return [_encode(item, f"{path}[{index}]", operation) for index, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _encode(getattr(value, field.name), f"{path}.{field.name}", operation)
            for field in dataclasses.fields(value)
        }
    if is_pydantic(kind):
        return value.model_dump(mode="json")
    detail = (
        f"{path} is a {kind.__module__}.{kind.__qualname__}, which cannot be stored; "
        "give a str, number, bool, None, bytes, datetime, UUID, Enum, dataclass, list or dict"
    )
    raise ValueMappingError(operation, detail)


def _encode_dict(value: dict[Any, Any], path: str, operation: str) -> Any:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {key: _encode(item, f"{path}[{key!r}]", operation) for key, item in value.items()}
    pairs = [
        [_encode(key, f"key of {path}", operation), _encode(item, f"{path}[{key!r}]", operation)]
        for key, item in value.items()
    ]
    return {"$dict": pairs}


def _write_int(value: int) -> Any:
    return int(value) if -_SAFE_INTEGER < value < _SAFE_INTEGER else {"$int": str(int(value))}


def _write_float(value: float) -> Any:
    return float(value) if math.isfinite(value) else {"$float": str(float(value))}


def _write_timedelta(value: timedelta) -> Any:
    return {"$timedelta": [value.days, value.seconds, value.microseconds]}


_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (str, str),
    (int, _write_int),
    (float, _write_float),
    ((bytes, bytearray), lambda value: {"$bytes": base64.b64encode(value).decode("ascii")}),
    (datetime, lambda value: {"$datetime": value.isoformat()}),
    (date, lambda value: {"$date": value.isoformat()}),
    (time, lambda value: {"$time": value.isoformat()}),
    (timedelta, _write_timedelta),
    (uuid.UUID, lambda value: {"$uuid": str(value)}),
    (Decimal, lambda value: {"$decimal": str(value)}),
)

_READERS: dict[str, Callable[[Any], Any]] = {
    "$int": int,
    "$float": float,
    "$bytes": lambda data: base64.b64decode(data, validate=True),
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$timedelta": lambda data: timedelta(*data),
    "$uuid": uuid.UUID,
    "$decimal": Decimal,
}


def natural(document: Any) -> Any:
    """Read a plain JSON form without a type: tagged values come back as what they were.

    Raises:
        ValueMappingError: A tag holds something that it cannot.
    """
    if isinstance(document, list):
        return [natural(item) for item in document]
    if not isinstance(document, dict):
        return document
    if len(document) == 1:
        (key, data) = next(iter(document.items()))
        if key == "$dict":
            return {natural(name): natural(item) for name, item in data}
        if key in _READERS:
            return _read_tag(key, data)
    return {key: natural(item) for key, item in document.items()}


def _read_tag(key: str, data: Any) -> Any:
    try:
        return _READERS[key](data)
    except (TypeError, ValueError, ArithmeticError) as error:
        detail = f"{key} holds {data!r}: {error}"
        raise ValueMappingError("decode a value", detail) from error


def is_pydantic(kind: type) -> bool:
    """Tell a pydantic model class by its two methods, without importing pydantic."""
    return hasattr(kind, "model_dump") and hasattr(kind, "model_validate")
