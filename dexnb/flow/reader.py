"""`Reader`: a stored document as a value of the type that is asked for."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import (
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from enum import Enum
from typing import Any, get_args, get_origin

from dexnb.flow.alike import defined_again, difference
from dexnb.flow.codec import (
    codec_of,
    is_named_tuple,
    is_pydantic,
    made_dict,
    pairs_of,
    read_natural,
    tag_of,
)
from dexnb.flow.codecs import CODECS, NO_CODECS
from dexnb.flow.shape import fields_of, is_any, is_literal, is_union, name_of, unwrap
from dexnb.flow.single import (
    is_exact,
    make,
    read_enum,
    read_literal,
    read_model,
    read_plain,
    refuse,
)
from dexnb.flow.tags import Unfit
from dexnb.flow.wire import CodecEntry
from dexnb.model.shown import shown

LISTS = (list, Sequence, MutableSequence, Collection, Iterable)
DICTS = (dict, Mapping, MutableMapping)

_AS_THEY_ARE = (str, int, float, bool)


class Ambiguous(Unfit):
    """A document fits several arms of a union, so that none of what holds it can be read."""


class Reader:
    """Reads one document.

    What it has found out about classes and unions it does not seek twice: arms that hold each
    other would otherwise be tried over and over.
    """

    def __init__(self) -> None:
        """Start with nothing known."""
        self._codecs = CODECS.get(NO_CODECS) or None
        self._known_fields: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._known_arms: dict[tuple[int, int], tuple[Any, list[Any]]] = {}

    def read(self, document: Any, type_: Any, path: str = "value") -> Any:
        """Give the value.

        Raises:
            Unfit: The document is no such value, or the type is none that can be read.
            RecursionError: It is nested deeper than the stack allows.
        """
        if type(document) is type_ and type_ in _AS_THEY_ARE:
            return document
        type_ = unwrap(type_)
        if is_any(type_):
            return read_natural(document, path)
        if is_union(type_):
            return self._union(document, type_, path)
        if is_literal(type_):
            return read_literal(document, type_, path)
        class_ = get_origin(type_) or type_
        if not isinstance(class_, type):
            raise Unfit(f"{path}: {shown(type_)} cannot be read; declare a class, list or dict")
        if self._codecs is not None and (entry := codec_of(class_, self._codecs)) is not None:
            return _by_codec(document, class_, entry, path)
        return self._class(document, class_, type_, path)

    def _class(self, document: Any, class_: Any, type_: Any, path: str) -> Any:
        if issubclass(class_, Enum):
            return read_enum(document, class_, path)
        if dataclasses.is_dataclass(class_):
            return self._dataclass(document, class_, type_, path)
        if is_named_tuple(class_):
            return self._named_tuple(document, class_, type_, path)
        if typing.is_typeddict(class_):
            return self._typed_dict(document, class_, type_, path)
        if is_pydantic(class_):
            return read_model(document, class_, path)
        if class_ is tuple:
            return self._tuple(document, type_, path)
        if class_ in LISTS:
            return self._list(document, type_, path)
        if class_ in DICTS:
            return self._dict(document, type_, path)
        return read_plain(document, class_, path)

    def _fields(self, type_: Any) -> dict[str, Any]:
        known = self._known_fields.get(id(type_))
        if known is None:
            # The type is kept beside its fields, so that no other one can get its id.
            known = self._known_fields[id(type_)] = (type_, fields_of(type_))
        return known[1]

    def _dataclass(self, document: Any, class_: Any, type_: Any, path: str) -> Any:
        if not isinstance(document, dict) or tag_of(document) is not None:
            refuse(document, class_, path)
        types = self._fields(type_)
        given: dict[str, Any] = {}
        later: dict[str, Any] = {}
        for field in dataclasses.fields(class_):
            name = field.name
            if name in document:
                value = self.read(document[name], types.get(name, Any), f"{path}.{name}")
                (given if field.init else later)[name] = value
        made = make(path, class_, **given)
        for name, value in later.items():
            object.__setattr__(made, name, value)
        return made

    def _named_tuple(self, document: Any, class_: Any, type_: Any, path: str) -> Any:
        items = _array(document, class_, path)
        names = class_._fields
        if len(items) > len(names):
            refuse(document, class_, path)
        types = self._fields(type_)
        pairs = zip(names, items, strict=False)
        values = [self.read(item, types.get(name, Any), f"{path}.{name}") for name, item in pairs]
        return make(path, class_, *values)

    def _typed_dict(self, document: Any, class_: Any, type_: Any, path: str) -> Any:
        if not isinstance(document, dict):
            refuse(document, class_, path)
        types = self._fields(type_)
        pairs = (
            (key, self.read(item, types.get(key, Any), f"{path}[{shown(key)}]"))
            for key, item in pairs_of(document)
        )
        made = made_dict(pairs, path)
        for name in class_.__required_keys__ - set(made):
            # The class itself takes a NotRequired in quotes for required.
            if get_origin(types.get(name)) is not typing.NotRequired:
                raise Unfit(f"{path} lacks the key {name!r} of {name_of(class_)}")
        return made

    def _tuple(self, document: Any, type_: Any, path: str) -> Any:
        items = _array(document, type_, path)
        types = get_args(type_)
        if type_ is tuple or types[1:] == (...,):
            types = (types[0] if types else Any,) * len(items)
        if len(types) != len(items):
            refuse(document, type_, path)
        return tuple(
            self.read(item, each, f"{path}[{index}]")
            for index, (item, each) in enumerate(zip(items, types, strict=True))
        )

    def _list(self, document: Any, type_: Any, path: str) -> Any:
        (item_type,) = get_args(type_) or (Any,)
        return [
            self.read(item, item_type, f"{path}[{index}]")
            for index, item in enumerate(_array(document, type_, path))
        ]

    def _dict(self, document: Any, type_: Any, path: str) -> Any:
        if not isinstance(document, dict):
            refuse(document, type_, path)
        key_type, item_type = get_args(type_) or (Any, Any)
        pairs = (
            (
                self.read(key, key_type, f"key of {path}"),
                self.read(item, item_type, f"{path}[{shown(key)}]"),
            )
            for key, item in pairs_of(document)
        )
        return made_dict(pairs, path)

    def _union(self, document: Any, type_: Any, path: str) -> Any:
        arms = [arm for arm in get_args(type_) if arm is not type(None)]
        if len(arms) < len(get_args(type_)):
            if document is None:
                return None
            if len(arms) == 1:
                return self.read(document, arms[0], path)
        key = (id(document), id(type_))
        if key not in self._known_arms:
            self._known_arms[key] = (type_, self._fitting(document, arms, path))
        fitting = self._known_arms[key][1]
        return fitting[0] if fitting else refuse(document, type_, path)

    def _fitting(self, document: Any, arms: list[Any], path: str) -> list[Any]:
        """Give the value that the best fitting arm makes, in a list; an empty list if none fits."""
        found = []
        for arm in arms:
            try:
                value = self.read(document, arm, path)
            except Ambiguous:
                raise
            except Unfit:
                continue
            rank = (is_exact(value, document), self._says_more(arm))
            found.append((rank, arm, value))
        best = [entry for entry in found if entry[0] == max(rank for rank, _, _ in found)]
        for _, arm, value in best[1:]:
            if difference(best[0][2], value):
                raise Ambiguous(
                    f"{path} fits {name_of(best[0][1])} and {name_of(arm)} alike, so it would not "
                    "be known which it was; tell dataclasses apart by a field such as "
                    "kind: Literal['a'] = 'a', or declare one of the types only"
                )
        return [value for _, _, value in best[:1]]

    def _says_more(self, arm: Any) -> bool:
        """Tell a class whose natural form another type could have: an arm that must be meant."""
        class_ = get_origin(unwrap(arm)) or unwrap(arm)
        return isinstance(class_, type) and (
            issubclass(class_, Enum)
            or dataclasses.is_dataclass(class_)
            or is_named_tuple(class_)
            or is_pydantic(class_)
            or (self._codecs is not None and codec_of(class_, self._codecs) is not None)
        )


def _by_codec(document: Any, class_: type, entry: CodecEntry, path: str) -> Any:
    value = entry.read(read_natural(document, path), path)
    if isinstance(value, class_) or defined_again(type(value), class_):
        return value
    fix = f"its decode must give a {name_of(class_)}"
    raise Unfit(f"{path}: codec {entry.name} gave {shown(value)}; {fix}")


def _array(document: Any, type_: Any, path: str) -> list[Any]:
    if not isinstance(document, list):
        refuse(document, type_, path)
    return list(document)
