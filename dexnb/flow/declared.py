"""Whether values of a declared type can be read back at all: asked when a Flow is registered."""

from __future__ import annotations

import dataclasses
import typing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, get_args, get_origin
from uuid import UUID

from dexnb.flow.codec import codec_of, is_named_tuple, is_pydantic
from dexnb.flow.codecs import possible
from dexnb.flow.reader import DICTS, LISTS
from dexnb.flow.shape import fields_of, is_any, is_literal, is_union, name_of, unwrap
from dexnb.flow.tags import Unfit
from dexnb.model.shown import shown

_ALONE = (
    *(str, int, float, bool, bytes, bytearray, type(None)),
    *(datetime, date, time, timedelta, UUID, Decimal),
)


def type_problem(type_: Any) -> str | None:
    """Say what part of a type cannot be stored, and what to declare instead; None if all can."""
    return _problem(type_, [])


def _problem(type_: Any, seen: list[Any]) -> str | None:
    type_ = unwrap(type_)
    if is_any(type_) or is_literal(type_) or type_ in seen:
        return None
    class_ = get_origin(type_) or type_
    if is_union(type_) or class_ is tuple or class_ in LISTS or class_ in DICTS:
        return _first(get_args(type_), seen)
    if not isinstance(class_, type):
        return f"{shown(type_)} is no type: give the class itself"
    if any(codec_of(class_, codecs) is not None for codecs in possible()):
        return None
    if _is_record(class_):
        try:
            return _first(fields_of(type_).values(), [*seen, type_])
        except Unfit as error:
            return str(error)
    return None if _stands_alone(class_) else _refusal(class_)


def _first(types: Any, seen: list[Any]) -> str | None:
    return next(filter(None, (_problem(each, seen) for each in types if each is not ...)), None)


def _is_record(class_: Any) -> bool:
    enum = issubclass(class_, Enum)
    record = dataclasses.is_dataclass(class_) or is_named_tuple(class_)
    return (record and not enum) or typing.is_typeddict(class_)


def _stands_alone(class_: Any) -> bool:
    if issubclass(class_, (Enum, str, int, float)) or class_ in _ALONE or is_pydantic(class_):
        return True
    # With a metaclass it may be one that plain values belong to, as numbers.Number is.
    return type(class_) is not type


def _refusal(class_: Any) -> str:
    name = name_of(class_)
    for plain in (list, dict, tuple):
        if issubclass(class_, plain):
            return f"{name} cannot be stored: declare a {plain.__name__}"
    if issubclass(class_, set | frozenset):
        return f"{name} cannot be stored: declare a list"
    return (
        f"{name} cannot be stored: make it a dataclass, pass an id and build it in the Step, or "
        "give the runtime a codec for it, dexnb.open(..., codecs=CodecRegistry([...]))"
    )
