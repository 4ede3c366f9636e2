"""A notebook's code cells, in their order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dexnb.graph.still.cells import python_of
from dexnb.graph.still.text import MOST_BYTES, UnreadableText

MAJOR: Final = 4
"""The format that every notebook program has written since 2015."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell.

    Args:
        id: Its id; `cell N` by its place among all cells, from 1, where it has none.
        text: What stands in it.
        code: The same as Python, with as many lines.
        skipped: Why it is not read; empty for one that is.
    """

    id: str
    text: str
    code: str
    skipped: str = ""


def read_cells(text: str) -> list[Cell]:
    """Give a notebook's code cells; none of a notebook of another language.

    Raises:
        UnreadableText: It is no notebook of format 4, or not one of Python.
    """
    try:
        document = json.loads(text)
        if document["nbformat"] != MAJOR:
            message = f"is a notebook of format {document['nbformat']!r}: save it as format {MAJOR}"
            raise UnreadableText(message)
        language = _language(document.get("metadata") or {})
        if not language.lower().startswith(("python", "ipython", "xpython")):
            raise UnreadableText(f"is a notebook of {language}, not of Python")
        return list(_cells(document["cells"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableText(f"is no notebook ({type(error).__name__} {error})") from error


def _language(metadata: dict[str, Any]) -> str:
    kernel, information = metadata.get("kernelspec") or {}, metadata.get("language_info") or {}
    return str(information.get("name") or kernel.get("language") or "python")


def cell_names(cells: Sequence[dict[str, Any]]) -> list[str]:
    """Name each cell of a notebook, text cells too, in a way that no two share.

    Notebooks that were put together by hand have cells with the same id.
    """
    names: list[str] = []
    for number, cell in enumerate(cells, 1):
        name = str(cell.get("id") or f"cell {number}")
        names.append(f"{name} (cell {number})" if name in names else name)
    return names


def _cells(cells: list[Any]) -> Iterator[Cell]:
    for name, cell in zip(cell_names(cells), cells, strict=True):
        if cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        text = source if isinstance(source, str) else "".join(map(str, source))
        text = text.replace("\r\n", "\n")
        if len(text) > MOST_BYTES:
            yield Cell(name, "", "", f"it has more than {MOST_BYTES} characters")
            continue
        code, skipped = python_of(text)
        yield Cell(name, text, code, skipped)
