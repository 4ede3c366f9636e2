"""JSON text as it is stored: ASCII only, strict (no NaN), compact, so that every reader agrees."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Never

from dexnb.errors import DocumentError
from dexnb.model.shown import shown


def _refuse_constant(name: str) -> Never:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _encoder() -> Callable[[Any], str]:
    """Give the encoder, made once: `JSONEncoder.encode` makes its C part anew for each document."""
    encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    # Without markers a document that holds itself ends in a RecursionError.
    sort_keys = skipkeys = allow_nan = False
    text = json.encoder.encode_basestring_ascii
    parts = make(None, encoder.default, text, None, ":", ",", sort_keys, skipkeys, allow_nan)
    return lambda document: "".join(parts(document, 0))


_encode = _encoder()
_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def to_text(document: Any) -> str:
    """Write a document of plain JSON values as one line.

    Raises:
        DocumentError: The document holds something that is not plain JSON.
    """
    try:
        return _encode(document)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"not a JSON document: {error}"
        raise DocumentError(message) from error


def from_text(text: str, what: str = "document") -> Any:
    """Read what `to_text` wrote.

    Raises:
        DocumentError: The text is not JSON; `what` names it.
    """
    try:
        return _decode(text)
    except (TypeError, ValueError, RecursionError) as error:
        message = f"{what} cannot be read: {error}"
        raise DocumentError(message) from error


Fields = Mapping[str, type | tuple[type, ...]]
"""The fields that a document must have, with the Python types of their JSON values."""

NUMBER = (int, float)


def check_fields(document: Any, fields: Fields, what: str) -> dict[str, Any]:
    """Give a document back that is an object and has these fields of these types.

    True and False are no numbers here, and a number must be finite; other fields may stand beside.

    Raises:
        DocumentError: It is not so; the text names the field and what stands there.
    """
    if not isinstance(document, dict):
        message = f"{what} is {shown(document)}, not an object"
        raise DocumentError(message)
    for name, expected in fields.items():
        value = document.get(name, _MISSING)
        if type(value) is expected and expected in _WHOLE:
            continue
        if value is _MISSING:
            message = f"{what} lacks the field {name!r}"
            raise DocumentError(message)
        if not _fits(value, expected):
            message = f"{what} field {name} is {shown(value)}"
            raise DocumentError(message)
    return document


_MISSING: Any = object()
_WHOLE = frozenset({str, dict, list, bool})
"""Types of which every value fits."""


def check_choice(value: Any, choices: Collection[str], what: str) -> None:
    """Take a value that is one of the given texts.

    Raises:
        DocumentError: It is another; the text lists them.
    """
    if not isinstance(value, str) or value not in choices:
        message = f"{what} is {shown(value)}, not one of {', '.join(sorted(choices))}"
        raise DocumentError(message)


def _fits(value: Any, expected: type | tuple[type, ...]) -> bool:
    if expected is object:
        return True
    if isinstance(value, bool):
        return expected is bool
    return isinstance(value, expected) and (not isinstance(value, NUMBER) or _finite(value))


def _finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an int that no float holds
        return False
