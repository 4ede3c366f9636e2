"""Documents that stand for one value: plain types, Enum members, literals. And how to refuse."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from enum import Enum, Flag
from functools import cache
from typing import Any, NoReturn, get_args

from dexnb.errors import ValueMappingError
from dexnb.flow.codec import encode, is_natural, read_natural
from dexnb.flow.shape import name_of
from dexnb.flow.tags import Unfit
from dexnb.flow.wire import GIVE_CODEC
from dexnb.model.json_text import to_text
from dexnb.model.shown import shown


def read_literal(document: Any, type_: Any, path: str) -> Any:
    """Give the argument of a Literal that the document is the form of."""
    for value in get_args(type_):
        if _equal(encode(value), document):
            return value
    return refuse(document, type_, path)


def read_enum(document: Any, class_: type[Enum], path: str) -> Any:
    """Give the member, or the combination of flags, that the document is the form of."""
    member = _members(class_).get(to_text(document))
    if member is not None:
        return member
    if issubclass(class_, Flag) and type(document) is int:
        # A combination of members is none of them.
        combined = make(path, class_, document)
        if isinstance(combined, class_):
            return combined
    return refuse(document, class_, path)


@cache
def _members(class_: type[Enum]) -> dict[str, Enum]:
    members = {}
    for member in class_:
        try:
            members[to_text(encode(member))] = member
        except ValueMappingError:
            continue  # was never stored
    return members


def read_model(document: Any, class_: Any, path: str) -> Any:
    """Give the pydantic model that the document is the dump of."""
    try:
        # As JSON text, because a strict model takes a time or a set from nothing else.
        text = json.dumps(read_natural(document, path))
    except TypeError:  # a dump holds no bytes and no other tagged values
        return refuse(document, class_, path)
    try:
        return class_.model_validate_json(text)
    except Exception as error:
        raise Unfit(f"{path} does not make a {name_of(class_)}: {error}") from error


def read_plain(document: Any, class_: type, path: str) -> Any:
    """Give a value of a plain class, of a subclass of one, or of a tagged one."""
    value = read_natural(document, path)
    base = next((base for base in (bool, str, int, float, bytes) if issubclass(class_, base)), None)
    if base is None:
        return _other(value, class_, document, path)
    if base is float and type(value) is int:
        value = _exact_float(value)
    if type(value) is not base:
        refuse(document, class_, path)
    return value if class_ is base else make(path, class_, value)


def _exact_float(value: int) -> float | int:
    try:
        return float(value) if float(value) == value else value
    except OverflowError:
        return value


def _other(value: Any, class_: type, document: Any, path: str) -> Any:
    if class_ is bytearray and isinstance(value, bytes):
        return bytearray(value)
    try:
        if isinstance(value, class_):
            return value
    except TypeError:  # a Protocol that is not checkable at run time
        pass
    if _needs_codec(class_):
        raise Unfit(f"{_expected(document, class_, path)}; {GIVE_CODEC}")
    return refuse(document, class_, path)


def _needs_codec(class_: type) -> bool:
    """Tell a class of which nothing but a codec can have stored a value."""
    if is_natural(class_) or getattr(class_, "_is_protocol", False):
        return False
    # With a metaclass it may be one that plain values belong to, as numbers.Number is.
    ours = class_.__module__.partition(".")[0] not in sys.stdlib_module_names
    return type(class_) is type or ours


def make(path: str, maker: Callable[..., Any], *args: Any, **fields: Any) -> Any:
    """Call a class of the user's, whose own code may refuse what was stored.

    Raises:
        Unfit: It did.
    """
    try:
        return maker(*args, **fields)
    except Unfit:
        raise
    except Exception as error:
        name = getattr(maker, "__qualname__", str(maker))
        raise Unfit(f"{path} does not make a {name}: {error}") from error


def is_exact(value: Any, document: Any) -> bool:
    """Tell a value whose form is the document, with nothing left out or converted."""
    try:
        return _equal(encode(value), document)
    except ValueMappingError:
        return False


def _equal(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)


def refuse(document: Any, type_: Any, path: str) -> NoReturn:
    """Say what was expected where.

    Raises:
        Unfit: Always.
    """
    raise Unfit(_expected(document, type_, path))


def _expected(document: Any, type_: Any, path: str) -> str:
    return f"{path} must be {name_of(type_)}, stands {shown(document)}"
