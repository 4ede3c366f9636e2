"""How values cross into PostgreSQL and back: texts as bytes, times as whole microseconds.

PostgreSQL's text refuses NUL and lone surrogates, and depends on the database's encoding; bytes
keep whatever Python's text holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

MICRO = 1_000_000
_LATEST = 2**62
_TOKEN = re.compile(r"([rw])(\d{1,18})\.\d{1,18}\.\d{1,18}", re.ASCII)


def data(text: str) -> bytes:
    """Give a text as a column holds it."""
    return text.encode("utf-8", "surrogatepass")


def text(stored: bytes) -> str:
    """Give the text that `data` was given."""
    return stored.decode("utf-8", "surrogatepass")


def optional(value: str | None) -> bytes | None:
    """Give a text that may be missing."""
    return None if value is None else data(value)


def micros(seconds: float) -> int:
    """Give seconds as whole microseconds."""
    return round(min(max(seconds, 0.0), _LATEST / MICRO) * MICRO)


def number_of(token: str, kind: str) -> int | None:
    """Give the row that a lock token is for, or None when no such token was ever made.

    Args:
        token: What a caller holds for a lock token.
        kind: `r` for a run's, `w` for a work item's.
    """
    match = _TOKEN.fullmatch(token)
    return int(match[2]) if match is not None and match[1] == kind else None


def columns(rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Give the rows of a set statement as its parameters, one array for each column."""
    return {f"c{place}": list(column) for place, column in enumerate(zip(*rows, strict=True))}
