"""Reading stored JSON as a given type, and checking a value against a declared one."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin
from uuid import UUID

from dexnb.errors import ValueMappingError
from dexnb.flow.codec import encode, is_pydantic, natural

_TAGGED = (bytes, datetime, date, time, timedelta, UUID, Decimal)
_ANY = (Any, object, dataclasses.MISSING)


def decode(document: Any, type_: Any, operation: str = "decode a value") -> Any:
    """Read a plain JSON form as `type_`.

    Raises:
        ValueMappingError: It does not fit; the text names the path, the type and what stands there.
    """
    return _decode(document, type_, "value", operation)


def check(value: Any, type_: Any, operation: str) -> Any:
    """Encode a value that must be of the declared type.

    Raises:
        ValueMappingError: It is of another type, or cannot be stored.
    """
    if isinstance(type_, type) and not isinstance(value, _accepted(type_)):
        got = type(value).__name__
        raise ValueMappingError(operation, f"{type_.__name__} requires {type_.__name__}, got {got}")
    document = encode(value, operation)
    if type_ not in (str, int, bool, float) and type_ not in _ANY:
        decode(document, type_, operation)
    return document


def _accepted(type_: type) -> tuple[type, ...]:
    if type_ is float:
        return (float, int)
    return (object,) if type_ in _ANY else (type_,)


def _decode(document: Any, type_: Any, path: str, operation: str) -> Any:
    if type_ in _ANY or isinstance(type_, typing.TypeVar):
        return natural(document)
    origin = get_origin(type_)
    if origin is not None:
        return _decode_generic(document, type_, origin, path, operation)
    if isinstance(type_, typing.NewType):
        return _decode(document, type_.__supertype__, path, operation)
    if type_ is None or type_ is type(None):
        return _require(document is None, None, document, type_, path, operation)
    if isinstance(type_, type):
        return _decode_class(document, type_, path, operation)
    detail = f"{path}: the type {type_!r} is not supported; declare a class, list, dict or union"
    raise ValueMappingError(operation, detail)


def _decode_class(document: Any, type_: type, path: str, operation: str) -> Any:
    if issubclass(type_, Enum):
        members = _members(type_)
        key = repr(document)
        return _require(key in members, members.get(key), document, type_, path, operation)
    if dataclasses.is_dataclass(type_):
        return _decode_dataclass(document, type_, path, operation)
    if is_pydantic(type_):
        return _decode_pydantic(document, type_, path, operation)
    value = natural(document)
    if type_ is float and type(value) is int:
        return float(value)
    if type_ is tuple and isinstance(value, list):
        return tuple(value)
    if issubclass(type_, str) and type_ is not str and isinstance(value, str):
        return type_(value)
    fits = isinstance(value, type_) and not (type_ is int and isinstance(value, bool))
    return _require(fits, value, document, type_, path, operation)


@cache
def _members(type_: type[Enum]) -> dict[str, Enum]:
    return {repr(encode(member)): member for member in reversed(list(type_))}


def _decode_dataclass(document: Any, type_: Any, path: str, operation: str) -> Any:
    _require(isinstance(document, dict), None, document, type_, path, operation)
    hints = _hints(type_)
    known = {field.name: field for field in dataclasses.fields(type_)}
    values = {
        name: _decode(document[name], hints.get(name, Any), f"{path}.{name}", operation)
        for name, field in known.items()
        if name in document and field.init
    }
    try:
        return type_(**values)
    except (TypeError, ValueError) as error:
        detail = f"{path} does not make a {type_.__qualname__}: {error}"
        raise ValueMappingError(operation, detail) from error


@cache
def _hints(type_: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(type_)
    except (NameError, TypeError) as error:
        detail = f"{type_.__qualname__}: its annotations cannot be resolved: {error}"
        raise ValueMappingError("decode a value", detail) from error


def _decode_pydantic(document: Any, type_: Any, path: str, operation: str) -> Any:
    try:
        return type_.model_validate(document)
    except ValueError as error:
        raise ValueMappingError(operation, f"{path}: {error}") from error


def _decode_generic(document: Any, type_: Any, origin: Any, path: str, operation: str) -> Any:
    arguments = get_args(type_)
    if origin in (Union, types.UnionType):
        return _decode_union(document, arguments, path, operation)
    if origin is Literal:
        value = natural(document)
        return _require(value in arguments, value, document, type_, path, operation)
    if origin is typing.Annotated:
        return _decode(document, arguments[0], path, operation)
    if isinstance(origin, type):
        for base, read in _CONTAINERS:
            if issubclass(origin, base):
                return read(document, arguments, path, operation)
        return _decode_class(document, origin, path, operation)
    raise ValueMappingError(operation, f"{path}: the type {type_!r} is not supported")


def _decode_union(document: Any, arms: tuple[Any, ...], path: str, operation: str) -> Any:
    for arm in arms:
        try:
            return _decode(document, arm, path, operation)
        except ValueMappingError:
            continue
    names = " | ".join(_name(arm) for arm in arms)
    raise ValueMappingError(operation, f"{path} must be {names}, stands {_short(document)}")


def _decode_tuple(document: Any, arguments: tuple[Any, ...], path: str, operation: str) -> Any:
    items = _decode_list(document, (Any,), path, operation, raw=True)
    if len(arguments) == 2 and arguments[1] is ...:
        arguments = (arguments[0],) * len(items)
    fits = len(arguments) == len(items)
    _require(fits, None, document, tuple, path, operation)
    pairs = enumerate(zip(items, arguments, strict=True))
    return tuple(_decode(item, type_, f"{path}[{i}]", operation) for i, (item, type_) in pairs)


def _decode_list(
    document: Any, arguments: tuple[Any, ...], path: str, operation: str, *, raw: bool = False
) -> list[Any]:
    _require(isinstance(document, list), None, document, list, path, operation)
    if raw:
        return list(document)
    (type_,) = arguments or (Any,)
    return [_decode(item, type_, f"{path}[{i}]", operation) for i, item in enumerate(document)]


def _decode_mapping(document: Any, arguments: tuple[Any, ...], path: str, operation: str) -> Any:
    _require(isinstance(document, dict), None, document, dict, path, operation)
    key_type, item_type = arguments or (Any, Any)
    pairs = document["$dict"] if set(document) == {"$dict"} else list(document.items())
    return {
        _decode(key, key_type, f"key of {path}", operation): _decode(
            item, item_type, f"{path}[{key!r}]", operation
        )
        for key, item in pairs
    }


_CONTAINERS: tuple[tuple[type, Callable[..., Any]], ...] = (
    (tuple, _decode_tuple),
    (Mapping, _decode_mapping),
    (Sequence, _decode_list),
)


def _require(fits: bool, value: Any, document: Any, type_: Any, path: str, operation: str) -> Any:
    if fits:
        return value
    detail = f"{path} must be {_name(type_)}, stands {_short(document)}"
    raise ValueMappingError(operation, detail)


def _name(type_: Any) -> str:
    return getattr(type_, "__qualname__", None) or str(type_)


def _short(document: Any) -> str:
    text = repr(document)
    return text if len(text) <= 80 else f"{text[:77]}..."
