"""The SQL of this store by name, read from the `.sql` files beside this module."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_FILES = ("store.sql", "runs.sql", "work.sql", "streams.sql")
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def statements() -> dict[str, str]:
    """Give each statement under its name, comments left out."""
    found: dict[str, str] = {}
    for file in _FILES:
        parts = _NAME.split(_text(file))[1:]
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            found[name] = _bare(body)
    return found


def schema() -> str:
    """Give the script that makes version 1 of the tables."""
    return _text("schema.sql")


def _text(file: str) -> str:
    return files(__package__).joinpath(file).read_text(encoding="ascii")


def _bare(body: str) -> str:
    lines = (line.strip() for line in body.splitlines())
    return " ".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
