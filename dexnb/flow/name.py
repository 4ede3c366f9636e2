"""What a Flow, a Step, a Stream and a flow id may be called."""

from __future__ import annotations

from typing import Any

RESERVED = "/$:"
MAX_NAME = 255


def name_fix(name: Any, reserved: str = RESERVED) -> str | None:
    """Say what to give instead of a name that cannot be used; None for a good one.

    Names are shown on pages and in logs and are keys of stores, so they are short and printable.
    """
    if not isinstance(name, str) or not name:
        return "give a non-empty str"
    if any(letter in name for letter in reserved):
        return f"leave out {', '.join(map(repr, reserved))}"
    if not name.isprintable():
        return "leave out line breaks and whatever else cannot be printed"
    if len(name) > MAX_NAME:
        return f"give at most {MAX_NAME} letters"
    return None
