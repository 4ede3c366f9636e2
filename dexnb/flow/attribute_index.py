"""`AttributeIndex`: how the values of an Attribute are made searchable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, get_args, get_origin
from uuid import UUID

from dexnb.errors import DefinitionError
from dexnb.flow.physical import check_word
from dexnb.flow.shape import is_any, is_literal, is_union, name_of, unwrap
from dexnb.model.shown import shown


class IndexType(Enum):
    """What a search does with a value: exact words, text, lists of words, numbers, times."""

    KEYWORD = "keyword"
    FULL_TEXT = "full_text"
    KEYWORD_ARRAY = "keyword_array"
    INT = "int"
    DOUBLE = "double"
    BOOL = "bool"
    DATETIME = "datetime"


@dataclass(frozen=True)
class AttributeIndex:
    """A search index over the values of an Attribute.

    Args:
        type: How values are compared.
        index_key: What a search calls it; the Attribute's name when left out. An AttributeMap must
            give one, since all its instances share it.

    Raises:
        DefinitionError: The type is no `IndexType`, or the key cannot be used.
    """

    type: IndexType
    index_key: str = ""

    def __post_init__(self) -> None:
        """Check what can be checked without the Attribute."""
        if not isinstance(self.type, IndexType):
            raise DefinitionError(
                f"AttributeIndex type is {shown(self.type)}: give one such as IndexType.KEYWORD"
            )
        if self.index_key != "":
            check_word("AttributeIndex index_key", self.index_key)


_LISTS = (list, tuple, Sequence, Collection, Iterable)
_FITTING: dict[IndexType, tuple[type, ...]] = {
    IndexType.KEYWORD: (str, Enum, UUID),
    IndexType.FULL_TEXT: (str,),
    IndexType.INT: (int,),
    IndexType.DOUBLE: (float, int, Decimal),
    IndexType.BOOL: (bool,),
    IndexType.DATETIME: (datetime, date),
}


def index_problem(index_type: IndexType, value_type: Any) -> str | None:
    """Say what to do where values of this type cannot be indexed so; None if they can."""
    fitting = [kind for kind in IndexType if _fits(kind, value_type)]
    if index_type in fitting:
        return None
    kind = name_of(unwrap(value_type))
    if not fitting:
        return f"{kind} cannot be indexed: leave the index out"
    names = " or ".join(f"IndexType.{kind.name}" for kind in fitting)
    return f"{kind} needs {names}"


def _fits(index_type: IndexType, value_type: Any) -> bool:
    value_type = unwrap(value_type)
    if is_any(value_type):
        return True
    if is_union(value_type):
        arms = [arm for arm in get_args(value_type) if arm is not type(None)]
        return all(_fits(index_type, arm) for arm in arms)
    if is_literal(value_type):
        return all(_fits(index_type, type(value)) for value in get_args(value_type))
    class_ = get_origin(value_type) or value_type
    if index_type is IndexType.KEYWORD_ARRAY:
        items = [arm for arm in get_args(value_type) if arm is not ...]
        return class_ in _LISTS and all(_fits(IndexType.KEYWORD, item) for item in items)
    if not isinstance(class_, type) or (class_ is bool and index_type is not IndexType.BOOL):
        return False
    return issubclass(class_, _FITTING[index_type])
