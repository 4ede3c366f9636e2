"""How values become JSON and come back: by the type asked for, never by running stored code.

Plain JSON types, Enums, dataclasses, named tuples and pydantic models are written in their natural
form and need their type to be read; so do values for which the user has a codec. Values that JSON
lacks carry a tag such as `{"$bytes": ...}` and come back without a type too. A datetime keeps its
offset, but neither the name of its zone nor the `fold` that a naive one may have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from typing import Any

from dexnb.errors import DocumentError, ValueMappingError
from dexnb.flow.codecs import CODECS, NO_CODECS, CodecRegistry
from dexnb.flow.tags import READERS, WRITERS, Unfit, read_tag
from dexnb.flow.wire import CODECS_FIX, CodecEntry
from dexnb.model.json_text import to_text
from dexnb.model.shown import shown

MAX_VALUE_BYTES = 1 << 20
"""Largest encoded value (input, output, checkpoint): 1 MiB of JSON text."""

MAX_DEPTH = 64
"""How deep a value may be nested, so that what was stored can be read on any stack."""

_SHORT = 10**15
"""Whole numbers below this need no encoder."""

_HINTS = {
    "numpy": "give value.item() or value.tolist()",
    "pandas": "give value.to_pydatetime(), value.to_dict() or a list",
}
_PLAIN_FIX = (
    "give a str, number, bool, None, bytes, date, datetime, time, timedelta, UUID, Decimal, Enum, "
    "dataclass, named tuple, pydantic model, tuple, list or dict"
)
_FIX = f"{_PLAIN_FIX}; or give a codec for it, {CODECS_FIX}"
_MODEL_FIX = (
    "codecs do not reach into pydantic models: annotate the field with pydantic.PlainSerializer "
    "and PlainValidator, or make the model a dataclass"
)


def encode(value: Any, operation: str = "encode a value") -> Any:
    """Give the plain JSON form of a value.

    Raises:
        ValueMappingError: Something inside cannot be stored; the text names its path and type.
    """
    try:
        return _Encoder(CODECS.get(NO_CODECS)).encode(value, "value")
    except Unfit as error:
        raise ValueMappingError(operation, str(error)) from error.__cause__


def encode_text(value: Any, operation: str = "encode a value") -> str:
    """Give the JSON text of a value.

    Raises:
        ValueMappingError: As `encode`, or the text is larger than `MAX_VALUE_BYTES`.
    """
    return text_of(encode(value, operation), operation)


def text_of(document: Any, operation: str, limit: int = MAX_VALUE_BYTES) -> str:
    """Give the JSON text of an encoded value.

    Raises:
        ValueMappingError: The text is larger than `limit` bytes.
    """
    if type(document) is int and -_SHORT < document < _SHORT:
        return str(document)
    try:
        text = to_text(document)
    except DocumentError as error:
        raise ValueMappingError(operation, str(error)) from error
    if len(text) > limit:
        detail = (
            f"value of {len(text):,} bytes is over the limit of {limit:,}; "
            "store it elsewhere and keep its address"
        )
        raise ValueMappingError(operation, detail)
    return text


def natural(document: Any) -> Any:
    """Read a plain JSON form without a type: tagged values come back as what they were.

    Raises:
        ValueMappingError: A tag holds something that it cannot.
    """
    operation = "decode a value"
    try:
        return read_natural(document)
    except Unfit as error:
        raise ValueMappingError(operation, str(error)) from error.__cause__
    except RecursionError:
        raise ValueMappingError(operation, "value is nested too deeply") from None


def read_natural(document: Any, path: str = "value") -> Any:
    """Do what `natural` does, for callers that know their operation.

    Raises:
        Unfit: As `natural`; the text begins with the place inside of `path`.
        RecursionError: It is nested deeper than the stack allows.
    """
    try:
        return _natural(document)
    except Unfit as error:
        # Sought afterwards, because nearly every document can be read.
        raise Unfit(f"{_place_of_fault(document, path)}: {error}") from error.__cause__


def _natural(document: Any) -> Any:
    if isinstance(document, list):
        return [_natural(item) for item in document]
    if not isinstance(document, dict):
        return document
    tag = tag_of(document)
    if tag is not None and tag != "$dict":
        return read_tag(tag, document[tag])
    return made_dict((_natural(key), _natural(item)) for key, item in pairs_of(document))


def _place_of_fault(document: Any, path: str) -> str:
    for part, place in _parts(document, path):
        try:
            _natural(part)
        except Unfit:
            return _place_of_fault(part, place)
    return path


def _parts(document: Any, path: str) -> Iterator[tuple[Any, str]]:
    if isinstance(document, list):
        yield from ((item, f"{path}[{index}]") for index, item in enumerate(document))
    elif isinstance(document, dict) and tag_of(document) in (None, "$dict"):
        # What are no pairs is at fault itself.
        with suppress(Unfit):
            for key, item in pairs_of(document):
                yield key, f"key of {path}"
                yield item, f"{path}[{shown(key)}]"


def tag_of(document: dict[str, Any]) -> str | None:
    """Give the tag of a tagged value; None for a plain object."""
    if len(document) != 1:
        return None
    (key,) = document
    return key if key == "$dict" or key in READERS else None


def pairs_of(document: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Give the encoded keys and items of an encoded dict.

    Raises:
        Unfit: They are no pairs.
    """
    if tag_of(document) is None:
        return list(document.items())
    pairs = document.get("$dict")
    if not isinstance(pairs, list) or not all(_is_pair(pair) for pair in pairs):
        raise Unfit(f"{shown(document)} is no dict")
    return [(key, item) for key, item in pairs]


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == len(("key", "item"))


def made_dict(pairs: Any, path: str = "") -> dict[Any, Any]:
    """Make a dict of decoded pairs.

    Raises:
        Unfit: A key cannot be one; the text begins with the path, if one is given.
    """
    made = {}
    for key, item in pairs:
        try:
            made[key] = item
        except TypeError as error:
            fix = "declare the type of its keys, such as dict[tuple[int, int], str]"
            where = f"{path}: " if path else ""
            raise Unfit(f"{where}{shown(key)} cannot be the key of a dict: {fix}") from error
    return made


class _Encoder:
    """Encodes one value; counts what it holds, which may be far more than the memory it takes."""

    def __init__(self, codecs: CodecRegistry = NO_CODECS, fix: str = _FIX) -> None:
        self.items = 0
        self._fix = fix
        # Asked for each part of a value, so that without codecs it must cost nothing.
        self._codecs = codecs or None

    def encode(self, value: Any, path: str, depth: int = 0) -> Any:
        kind = type(value)
        if self._codecs is not None and (entry := codec_of(kind, self._codecs)) is not None:
            # Plain by itself: another codec's type inside would not be read by that one.
            plain = entry.write(value, path)
            return _Encoder(fix=_PLAIN_FIX).encode(plain, f"{path} by codec {entry.name}")
        if kind in WRITERS:
            return _write(kind, value, path)
        if isinstance(value, Enum):
            return self.encode(value.value, f"{path}.value", depth + 1)
        if depth > MAX_DEPTH:
            raise Unfit(
                f"value contains itself or is nested deeper than {MAX_DEPTH} levels; "
                "store an id instead"
            )
        if kind is dict:
            return self._dict(value, path, depth + 1)
        if kind in (list, tuple) or is_named_tuple(kind):
            return self._list(value, path, depth + 1)
        if dataclasses.is_dataclass(kind):
            return self._dataclass(value, path, depth + 1)
        if is_pydantic(kind):
            return self._pydantic(value, path, depth + 1)
        return _encode_other(value, path, self._fix)

    def _count(self, items: int) -> None:
        self.items += items
        # Each takes a byte at least, so its text would be refused.
        if self.items > MAX_VALUE_BYTES:
            raise Unfit(
                f"value holds more than {MAX_VALUE_BYTES:,} items; "
                "store it elsewhere and keep its address"
            )

    def _list(self, value: Any, path: str, depth: int) -> list[Any]:
        self._count(len(value) + 1)
        return [self.encode(item, f"{path}[{index}]", depth) for index, item in enumerate(value)]

    def _dict(self, value: dict[Any, Any], path: str, depth: int) -> dict[str, Any]:
        self._count(len(value) + 1)
        items = [
            (key, self.encode(item, f"{path}[{shown(key)}]", depth)) for key, item in value.items()
        ]
        where = f"key of {path}"
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {_write(str, key, where): item for key, item in items}
        return {"$dict": [[self.encode(key, where, depth), item] for key, item in items]}

    def _dataclass(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        self._count(1)
        document = {}
        for field in dataclasses.fields(value):
            where = f"{path}.{field.name}"
            try:
                item = getattr(value, field.name)
            except AttributeError as error:
                raise Unfit(f"{where} was never set; give the field a default") from error
            document[field.name] = self.encode(item, where, depth)
        return document

    def _pydantic(self, value: Any, path: str, depth: int) -> Any:
        try:
            # Only so do names given by an alias, and models with computed fields, come back.
            dumped = value.model_dump(mode="json", by_alias=True, round_trip=True)
        except (TypeError, ValueError) as error:
            raise Unfit(_undumped(value, path, error)) from error
        return self.encode(dumped, path, depth)


def _undumped(model: Any, path: str, error: Exception) -> str:
    """Name the field that a model could not dump, and what to do if it lacks a way to."""
    fix = f"; {_MODEL_FIX}" if "serialize unknown type" in str(error) else ""
    for name in getattr(type(model), "model_fields", ()):
        try:
            model.model_dump(mode="json", by_alias=True, round_trip=True, include={name})
        except (TypeError, ValueError) as of_field:
            inner = getattr(model, name, None)
            if is_pydantic(type(inner)):
                return _undumped(inner, f"{path}.{name}", of_field)
            return f"{path}.{name}: {of_field}{fix}"
    return f"{path}: {error}{fix}"


def _write(kind: type, value: Any, path: str) -> Any:
    try:
        return WRITERS[kind](value)
    except Unfit as error:
        raise Unfit(f"{path} {error}") from error.__cause__


def _encode_other(value: Any, path: str, fix: str) -> Any:
    kind = type(value)
    for base in (str, int, float):
        if isinstance(value, base):
            # The base's own conversion, because a subclass may show itself as something else.
            return _write(base, getattr(base, f"__{base.__name__}__")(value), path)
    name = f"{kind.__module__}.{kind.__qualname__}"
    for plain in (dict, list, tuple):
        if isinstance(value, plain):
            raise Unfit(f"{path} is a {name}, which cannot be stored; give {plain.__name__}(...)")
    if isinstance(value, type):
        raise Unfit(f"{path} is the class {value.__qualname__} itself; give an instance")
    fix = _HINTS.get(kind.__module__.partition(".")[0], fix)
    raise Unfit(f"{path} is a {name}, which cannot be stored; {fix}")


def codec_of(kind: type, codecs: CodecRegistry) -> CodecEntry | None:
    """Give what stores values of a class where their natural form does not, or shall not."""
    return codecs.find(kind) or (None if is_natural(kind) else codecs.find_base(kind))


def is_natural(kind: Any) -> bool:
    """Tell a class whose values are stored without a codec."""
    plain = (*WRITERS, dict, list, tuple)
    return (
        kind in plain
        or issubclass(kind, (Enum, str, int, float))
        or is_named_tuple(kind)
        or dataclasses.is_dataclass(kind)
        or is_pydantic(kind)
    )


def is_named_tuple(kind: type) -> bool:
    """Tell a named tuple's class."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def is_pydantic(kind: type) -> bool:
    """Tell a pydantic model class by its two methods, without importing pydantic."""
    return hasattr(kind, "model_dump") and hasattr(kind, "model_validate_json")
