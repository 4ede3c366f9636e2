"""All rules, found in the folder that holds them."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from dexnb.errors import DefinitionError
from dexnb.lint import rules as folder
from dexnb.lint.rule import Rule

NOT_PARSED = ("DX900", "not-parsed")


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
    """Give the page of a rule.

    Args:
        code: Its code or its name.

    Raises:
        DefinitionError: There is no such rule.
    """
    for rule in rules():
        if code in (rule.code, rule.name):
            return f"{rule.code} {rule.name}\n\n{rule.page}"
    known = ", ".join(f"{rule.code} {rule.name}" for rule in rules())
    raise DefinitionError(f"there is no rule {code!r}: give one of {known}")


def known_names() -> frozenset[str]:
    """Give the codes and names of all rules, with those of what no rule reports."""
    own = (name for rule in rules() for name in (rule.code, rule.name))
    return frozenset((*own, *NOT_PARSED))
