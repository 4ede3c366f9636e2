"""Arguments of public calls, checked where they come in: a refusal names thing, value and fix."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.model.shown import shown


def of_type(value: Any, kind: type[Any], name: str, fix: str) -> Any:
    """Give a value that must be of a type.

    Raises:
        DefinitionError: It is of another one; a bool is no number.
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise DefinitionError(f"{name} is {shown(value)}, a {type(value).__name__}: give {fix}")
    return value


def one_of(value: Any, choices: Collection[str], name: str) -> Any:
    """Give a text that must be one of a few.

    Raises:
        DefinitionError: It is none of them.
    """
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise DefinitionError(f"{name} is {shown(value)}: give one of {known}")
    return value


def whole(value: Any, name: str, *, least: int = 0, most: int = 2**53) -> int:
    """Give a whole number within bounds.

    Raises:
        DefinitionError: It is none, or out of bounds.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        fix = f"give a whole number from {least} to {most}"
        raise DefinitionError(f"{name} is {shown(value)}: {fix}")
    return value
