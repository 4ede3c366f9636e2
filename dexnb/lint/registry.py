"""All rules, found in the folder that holds them."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from dexnb.errors import DefinitionError
from dexnb.lint import rules as folder
from dexnb.lint.notices import NOTICES, Notice
from dexnb.lint.rule import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """Give all rules, by code."""
    found = [
        thing
        for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}.")
        for thing in vars(import_module(module.name)).values()
        if isinstance(thing, Rule)
    ]
    return tuple(sorted(found, key=lambda rule: rule.code))


def explain(code: str) -> str:
    """Give the page of a rule, or of what else a finding can say.

    Args:
        code: Its code or its name.

    Raises:
        DefinitionError: There is no such rule.
    """
    for each in _told():
        if code in (each.code, each.name):
            return f"{each.code} {each.name}\n\n{each.page}"
    known = ", ".join(f"{each.code} {each.name}" for each in _told())
    raise DefinitionError(f"there is no rule {code!r}: give one of {known}")


def known_names() -> frozenset[str]:
    """Give the codes and names of all rules, with those of what no rule reports."""
    return frozenset(name for each in _told() for name in (each.code, each.name))


def _told() -> tuple[Rule | Notice, ...]:
    return (*rules(), *NOTICES)
