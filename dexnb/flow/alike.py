"""Whether a value that was stored and read again is still what was given."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from datetime import datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any

from dexnb.flow.codec import codec_of, is_pydantic
from dexnb.flow.codecs import CODECS, NO_CODECS
from dexnb.model.shown import shown

_FIX = "declare the type that is given"
_LOST = (
    "its class or the one that holds it stores or makes another value, as pydantic does of a "
    "secret, so what was given would be lost; store where to find it, or let that class dump and "
    "take back all of it"
)
_PLAIN = (str, int, float, bytes)
_Part = tuple[Any, Any, str]


def difference(given: Any, back: Any, path: str = "value") -> str | None:
    """Say where and how a read value is another one, and the fix; None if it is the same.

    An int where a float is declared, and a subclass of a plain type, become the plain type. What a
    codec of the user's makes of its own value is taken for the same.
    """
    if given is back or _by_one_codec(type(given), type(back)):
        return None
    kinds = type(given), type(back)
    if kinds[0] is not kinds[1] and not (_becomes(given, kinds[1]) or defined_again(*kinds)):
        return f"{path} is {_kind(given)} and would be read back as {_kind(back)}: {_FIX}"
    whole = isinstance(back, list | tuple | dict)
    if len(given) == len(back) if whole else _is_record(back):
        return next(filter(None, (difference(*part) for part in _parts(given, back, path))), None)
    try:
        if not whole and _same(given, back):
            return None
        if is_pydantic(type(back)):
            return _model_difference(given, back, path)
    except Exception as error:  # noqa: BLE001 - the == of a user's class may raise anything
        raised = f"whose == raised {type(error).__name__}"
        fix = "correct it, since what was stored is compared with what was given"
        return f"{path} is {shown(given)}, a {_kind(given)}, {raised}: {fix}"
    fix = _LOST if kinds[0] is kinds[1] else _FIX
    return f"{path} is {shown(given)} and would be read back as {shown(back)}: {fix}"


def _by_one_codec(kind: type, other: type) -> bool:
    codecs = CODECS.get(NO_CODECS)
    if not codecs:
        return False
    entry = codec_of(kind, codecs)
    return entry is not None and codec_of(other, codecs) is entry


def _model_difference(given: Any, back: Any, path: str) -> str | None:
    for name in type(back).model_fields:
        items = getattr(given, name, None), getattr(back, name, None)
        changed = difference(*items, f"{path}.{name}")
        if changed:
            return changed
    for what in ("private", "extra"):
        lost = _lost(given, back, f"__pydantic_{what}__")
        if lost:
            fix = "make it a field of the model, or leave it as it is made"
            return f"{path} is {shown(given)} and would lose its {what} {lost}: {fix}"
    return None


def _lost(given: Any, back: Any, name: str) -> str:
    items, items_back = getattr(given, name, None) or {}, getattr(back, name, None) or {}
    known = (key for key in items if key not in items_back or items[key] != items_back[key])
    return ", ".join(map(shown, known))


def defined_again(kind: type, other: type) -> bool:
    """Tell whether two classes are one of a notebook whose cell was run again."""
    names = [(each.__module__, each.__qualname__) for each in (kind, other)]
    return kind is not other and names[0] == names[1] and names[0][0] == "__main__"


def _becomes(given: Any, kind: type) -> bool:
    if isinstance(given, bool | Enum) or kind not in _PLAIN:
        return False
    return isinstance(given, kind) or (kind is float and isinstance(given, int))


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, Enum)


def _parts(given: Any, back: Any, path: str) -> Iterator[_Part]:
    if isinstance(back, dict):
        for (key, item), (key_back, item_back) in zip(given.items(), back.items(), strict=True):
            yield key, key_back, f"key of {path}"
            yield item, item_back, f"{path}[{shown(key)}]"
    elif isinstance(back, list | tuple):
        for index, (item, item_back) in enumerate(zip(given, back, strict=True)):
            yield item, item_back, f"{path}[{index}]"
    else:
        for field in dataclasses.fields(back):
            name = field.name
            yield getattr(given, name, None), getattr(back, name, None), f"{path}.{name}"


def _same(given: Any, back: Any) -> bool:
    if isinstance(given, Enum) and isinstance(back, Enum) and type(given) is not type(back):
        return given.name == back.name
    if isinstance(back, float):
        both_nan = given != given and back != back  # noqa: PLR0124 - what only NaN does
        return both_nan or (given == back and math.copysign(1, given) == math.copysign(1, back))
    if isinstance(back, datetime | time):
        # Not by ==, which never holds between zones in the hour that a clock change repeats.
        return bool(given.isoformat() == back.isoformat())
    if isinstance(back, Decimal):
        return str(given) == str(back)
    return bool(given == back)


def _kind(value: Any) -> str:
    kind = type(value)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
