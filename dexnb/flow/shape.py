"""What a declared type means: wrappers taken off, type variables bound, fields with their types."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from typing import Any, Final, Literal, NotRequired, Required, TypeVar, Union, get_args, get_origin
from weakref import WeakKeyDictionary

from dexnb.flow.tags import Unfit

_WRAPPERS = (typing.Annotated, Final, Required, NotRequired)


def unwrap(type_: Any) -> Any:
    """Take off what only annotates: Annotated, Final, NewType, `type X = ...`, a type variable."""
    while True:
        if type(type_) is type:
            return type_
        if type_ is None:
            return type(None)
        if get_origin(type_) in _WRAPPERS:
            type_ = get_args(type_)[0]
        elif isinstance(type_, typing.NewType):
            type_ = type_.__supertype__
        elif _is_alias(get_origin(type_) or type_):
            type_ = _of_alias(get_origin(type_) or type_, get_args(type_))
        elif isinstance(type_, TypeVar):
            type_ = _of_variable(type_)
        else:
            return type_


def _is_alias(type_: Any) -> bool:
    # Of `type X = ...`, which Python has from 3.12 on.
    return type(type_).__name__ == "TypeAliasType"


def _of_alias(alias: Any, arguments: tuple[Any, ...]) -> Any:
    return _bind(alias.__value__, dict(zip(alias.__type_params__, arguments, strict=False)))


def _of_variable(variable: TypeVar) -> Any:
    if variable.__constraints__:
        return reduce(or_, variable.__constraints__)
    return Any if variable.__bound__ is None else variable.__bound__


def is_any(type_: Any) -> bool:
    """Tell a type that says nothing."""
    return type_ is Any or type_ is object


def is_union(type_: Any) -> bool:
    """Tell a union in either spelling."""
    return get_origin(type_) in (Union, types.UnionType)


def is_literal(type_: Any) -> bool:
    """Tell a Literal."""
    return get_origin(type_) is Literal


def name_of(type_: Any) -> str:
    """Name a type as its author writes it."""
    if type_ is type(None):
        return "None"
    if is_union(type_):
        return " | ".join(name_of(arm) for arm in get_args(type_))
    name = None if get_origin(type_) else getattr(type_, "__qualname__", None)
    return name or str(type_)


def fields_of(type_: Any) -> dict[str, Any]:
    """Give the annotated fields of a class, or of a generic alias of one, with their types.

    Raises:
        Unfit: An annotation cannot be resolved.
    """
    class_ = get_origin(type_) or type_
    fields = dict(_hints(class_))
    if hasattr(class_, "__orig_bases__"):
        fields.update(_bound_fields(class_, get_args(type_), fields))
    return fields


def _bound_fields(
    class_: Any, arguments: tuple[Any, ...], hints: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    bindings = dict(zip(getattr(class_, "__parameters__", ()), arguments, strict=False))
    inherited: dict[str, Any] = {}
    for base in reversed(vars(class_).get("__orig_bases__", class_.__bases__)):
        origin = get_origin(base) or base
        if isinstance(origin, type) and origin not in (typing.Generic, typing.Protocol, object):
            base_arguments = tuple(_bind(each, bindings) for each in get_args(base))
            inherited.update(_bound_fields(origin, base_arguments, hints))
    yield from inherited.items()
    for name in vars(class_).get("__annotations__", {}):
        # A TypedDict repeats what it inherits, with the variables of the class it comes from.
        if name in hints and not (typing.is_typeddict(class_) and name in inherited):
            yield name, _bind(hints[name], bindings)


def _bind(type_: Any, bindings: Mapping[Any, Any]) -> Any:
    if isinstance(type_, TypeVar):
        return bindings.get(type_, type_)
    parameters = getattr(type_, "__parameters__", ())
    if not parameters or isinstance(type_, type):
        return type_
    return type_[tuple(bindings.get(each, each) for each in parameters)]


def _hints(class_: Any) -> dict[str, Any]:
    # A name in a notebook may stand for another class after the next cell, in a module it stays.
    if class_.__module__ == "__main__":
        return _resolve(class_)
    if class_ not in _resolved:
        _resolved[class_] = _resolve(class_)
    return _resolved[class_]


def _resolve(class_: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(class_, include_extras=True)
    except Exception as error:
        raise Unfit(
            f"{class_.__qualname__}: its annotations cannot be resolved: {error}; "
            "define what they name at the top level of a module or cell"
        ) from error


_resolved: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
"""Classes come and go too where modules are loaded again, or made of text."""
