"""Texts from outside, and durations, as a terminal may show them: printable and bounded."""

from __future__ import annotations

from typing import Any

from dexnb.errors import DocumentError
from dexnb.model.json_text import from_text, to_text

LONGEST = 200
"""Characters of one text from outside; what is longer is cut."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def printable(text: str, longest: int = LONGEST) -> str:
    """Give a text as one line without control characters.

    Escape sequences, line ends, marks that turn the direction of writing and lone surrogates
    become visible escapes, so that no name or message can move the cursor or hide another line.
    """
    cut = text[: longest + 1]
    shown = cut if cut.isprintable() else "".join(map(_visible, cut))
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def _visible(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")


def message(value: str, longest: int = LONGEST) -> str:
    """Give a stored value, which is JSON text, as people read it: `state=RUNNING` for an object.

    What is null in an object is left out, a string has no quotes, all else is JSON.
    """
    try:
        document = from_text(value)
    except DocumentError:
        return printable(value, longest)
    if isinstance(document, dict):
        parts = [f"{key}={_plain(item)}" for key, item in document.items() if item is not None]
        return printable(" ".join(parts) or "{}", longest)
    return printable(_plain(document), longest)


def _plain(document: Any) -> str:
    return document if isinstance(document, str) else to_text(document)


def duration(seconds: float) -> str:
    """Give a length of time in the two largest units that it has."""
    seconds = max(0.0, seconds)
    if seconds < _MINUTE - 0.05:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, name, part, part_name in (
        (_DAY, "d", _HOUR, "h"),
        (_HOUR, "h", _MINUTE, "min"),
        (_MINUTE, "min", 1, "s"),
    ):
        if whole >= unit:
            rest = whole % unit // part
            return f"{whole // unit} {name} {rest:02d} {part_name}"
    return f"{whole} s"


def limit(seconds: float) -> str:
    """Give a limit: as `duration`, without parts that are zero."""
    if seconds < _MINUTE:
        return f"{seconds:g} s"
    return duration(seconds).removesuffix(" 00 s").removesuffix(" 00 min").removesuffix(" 00 h")
