"""Physical names: what an Attribute, a Channel or an instance of a map is called in the store."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from dexnb.errors import DefinitionError
from dexnb.flow.name import name_fix
from dexnb.model.shown import shown


def whole_map(name: str) -> str:
    """Give the entry that stands for every instance of a map, in what a method loads."""
    return f"{name}/"


def instance_name(kind: str, name: str, instance: Any) -> str:
    """Give the physical name of an instance of a map; no two instances share one.

    Raises:
        DefinitionError: The instance is no printable, non-empty str of at most 255 letters.
    """
    fix = name_fix(instance, reserved="")
    if fix is not None:
        raise DefinitionError(f"{kind} {name} instance is {shown(instance)}: {fix}")
    return whole_map(name) + quote(instance, safe="")


def instance_of(physical: str) -> str:
    """Give the instance that a physical name of a map stands for."""
    return unquote(physical.partition("/")[2])


def definition_of(physical: str) -> str:
    """Give the name of the definition that a physical name belongs to."""
    return physical.partition("/")[0]


def check_word(what: str, word: Any) -> str:
    """Give back a name that a call is made with: of a condition, a local, an event.

    Raises:
        DefinitionError: It is no printable, non-empty str of at most 255 letters.
    """
    fix = name_fix(word, reserved="")
    if fix is not None:
        raise DefinitionError(f"{what} is {shown(word)}: {fix}")
    return str(word)
