"""Values as they stand in the text of an error: short, whatever they are and wherever from."""

from __future__ import annotations

from reprlib import Repr

LONGEST = 80

_bounded = Repr()
_bounded.maxlevel = 3
_bounded.maxstring = _bounded.maxlong = _bounded.maxother = LONGEST


def shown(value: object) -> str:
    """Give a value's repr in at most `LONGEST` characters; never an error of its own."""
    try:
        # Nearly always a short text: the name of a field or a key.
        short = type(value) is str and len(value) <= LONGEST
        text = repr(value) if short else _bounded.repr(value)
    except Exception:  # noqa: BLE001 - another's __repr__ may raise anything, a huge int raises too
        text = f"<{type(value).__name__}>"
    return cut(text, LONGEST)


def cut(text: str, limit: int) -> str:
    """Give a text in at most `limit` characters; a cut one ends in an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
