"""A notebook cell's text as Python, with as many lines: what IPython would have it be.

Magics, shell lines and questions become statements that do nothing, so that every line and column
stays what it is. IPython itself is not asked: it is no part of what reads a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dexnb.graph.source import parsed

PYTHON_MAGICS = frozenset({"capture", "debug", "memit", "mprun", "prun", "time", "timeit"})
"""Cell magics that run what stands below them as Python, in the notebook's own names."""

HIDDEN = "__magic__"
"""A name that stands for nothing: what a magic or a shell line gives is not known."""

_ASSIGNED = re.compile(r"^(\s*[\w.,\s\[\]*()]+?=\s*)[%!](?!=)")
_QUESTION = re.compile(r"^\s*(\?{1,2}\s*[%\w.*]+|[%!]?[\w.*\[\]()'\"]+\s*\?{1,2})\s*;?\s*$")
_QUOTES = ('"""', "'''", '"', "'")
_LONGEST = 2000
"""Characters of the longest line that is taken for a magic: patterns take time with the square."""

_OPENING, _CLOSING = "([{", ")]}"


def python_of(text: str) -> tuple[str, str]:
    """Give a cell's text as Python, and why it is not read, empty if it is."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.strip() and not line.startswith("%%"):
            break
        if line.startswith("%%"):
            name = line[2:].split(maxsplit=1)[0] if line[2:].strip() else ""
            if name not in PYTHON_MAGICS:
                return "", f"%%{name} has text that is not the notebook's own Python"
            lines[number] = ""
    code = "\n".join(lines)
    return (code if _parses(code) else "\n".join(_replaced(lines))), ""


def _parses(code: str) -> bool:
    try:
        parsed(code)
    except SyntaxError:
        return False
    return True


def _replaced(lines: list[str]) -> Iterator[str]:
    state = _State()
    going_on = False
    for line in lines:
        if going_on:
            going_on = line.endswith("\\")
            yield ""
            continue
        instead = None if state.inside else _instead(line)
        if instead is None:
            state.read(line)
            yield line
        else:
            going_on = line.endswith("\\")
            yield instead


def _instead(line: str) -> str | None:
    """Give what stands for a line that is no Python; None for one that may be."""
    if len(line) > _LONGEST:
        return None
    stripped = line.lstrip()
    indent = line[: len(line) - len(stripped)]
    if stripped[:1] in ("%", "!", "?") or _QUESTION.match(line):
        return f"{indent}pass"
    assigned = _ASSIGNED.match(line)
    return None if assigned is None else f"{assigned[1]}{HIDDEN}"


class _State:
    """Whether the next line begins inside a text, brackets or a line that goes on."""

    def __init__(self) -> None:
        self._quote = ""
        self._depth = 0
        self._goes_on = False

    @property
    def inside(self) -> bool:
        return bool(self._quote) or self._depth > 0 or self._goes_on

    def read(self, line: str) -> None:
        at = 0
        self._goes_on = False
        while at < len(line):
            at += self._quoted(line, at) if self._quote else self._plain(line, at)
        if len(self._quote) == 1 and not self._goes_on:
            # A text in single quotes ends with its line.
            self._quote = ""

    def _quoted(self, line: str, at: int) -> int:
        if line[at] == "\\":
            self._goes_on = at == len(line) - 1
            return 2
        if line.startswith(self._quote, at):
            size = len(self._quote)
            self._quote = ""
            return size
        return 1

    def _plain(self, line: str, at: int) -> int:
        letter = line[at]
        if letter == "#":
            return len(line) - at
        for quote in _QUOTES:
            if line.startswith(quote, at):
                self._quote = quote
                return len(quote)
        if letter in _OPENING:
            self._depth += 1
        elif letter in _CLOSING:
            self._depth = max(self._depth - 1, 0)
        elif letter == "\\":
            self._goes_on = at == len(line) - 1
        return 1
