"""Decisions by the names that one writes in Python: pictures show them, documents have their own.

Graphs say `goTo` and `gracefulComplete`, runs `next` and `graceful_complete`.
"""

from __future__ import annotations

import re

_CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z]*)+")


def written(name: str) -> str:
    """Give the Python name of a decision of a graph or of a run; other texts stay as they are."""
    if name == "next":
        return "go_to"
    if _CAMEL.fullmatch(name) is None:
        return name
    return re.sub("[A-Z]", lambda big: f"_{big.group().lower()}", name)
