"""Texts that go into logs and health answers: without credentials, on one line, and bounded."""

from __future__ import annotations

import re

from dexnb.cli.text import printable
from dexnb.graph.redact import HIDDEN, looks_secret, names_secret

LONGEST = 500

_QUOTING = frozenset(
    f"dexnb.errors.{name}" for name in ("ValueMappingError", "DocumentError", "DefinitionError")
)
"""Errors of dexnb whose text quotes a value that a user has stored."""

_USER = re.compile(r"(?<=://)\S*@")
_QUERY = re.compile(r"\?\S*")
_NAME = re.compile(r"(?<![\w-])([\w-]{1,64})[\"']?\s*[=:]\s*[\"']?")
_VALUE = re.compile(r"[^\s\"',;&]+")
_BETWEEN = re.compile(r"([\s=:\"'()\[\]{},;]+)")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+\S+")


def address(store: str) -> str:
    """Give a store's address without user, password and options."""
    return printable(_QUERY.sub("", _USER.sub("", store)) if "://" in store else store, LONGEST)


def discreet(text: str) -> str:
    """Give a text, such as an error's, without what looks like a credential."""
    text = _USER.sub(f"{HIDDEN}@", text[: 4 * LONGEST])
    text = _hide_named(_BEARER.sub(rf"\1 {HIDDEN}", text))
    # The path of a file has letters and digits as a key has.
    words = (
        HIDDEN if "/" not in word and looks_secret(word) else word for word in _BETWEEN.split(text)
    )
    return printable("".join(words), LONGEST)


def detail(error_type: str, text: str) -> str:
    """Give an error's text, unless it quotes a stored value."""
    return "(quotes a value; see the run's log)" if error_type in _QUOTING else discreet(text)


def _hide_named(text: str) -> str:
    """Hide each value whose name speaks of credentials: `token=...`, `"password": "..."`."""
    parts, at = [], 0
    for name in _NAME.finditer(text):
        value = _VALUE.match(text, name.end())
        if name.start() >= at and value is not None and names_secret(name.group(1)):
            parts += [text[at : name.end()], HIDDEN]
            at = value.end()
    return "".join(parts) + text[at:]
