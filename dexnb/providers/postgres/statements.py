"""The SQL of this store by name, read from the `.sql` files beside this module."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

FILES = ("opening.sql", "batch.sql", "runs.sql", "work.sql", "streams.sql")
_HEAD = "-- name: "


def script(file: str) -> bytes:
    """Give a file of statements as it stands, to be run as a whole."""
    return files(__package__).joinpath(file).read_bytes()


@cache
def statement(name: str) -> bytes:
    """Give one statement by its name.

    Raises:
        KeyError: There is none of that name.
    """
    return _statements()[name]


@cache
def _statements() -> dict[str, bytes]:
    found: dict[str, list[str]] = {}
    for file in FILES:
        name = ""
        for line in script(file).decode("ascii").splitlines():
            if line.startswith(_HEAD):
                name = line.removeprefix(_HEAD)
                found[name] = []
            elif line and not line.startswith("--"):
                found[name].append(line)
    return {name: "\n".join(lines).rstrip(";").encode() for name, lines in found.items()}
