"""`Sources`: the texts that a Flow is written in, by the places that findings name."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from types import FunctionType
from typing import Any

from dexnb.flow.registry import RegisteredFlow
from dexnb.graph.concealed import concealed_lines
from dexnb.graph.frames import reachable
from dexnb.graph.place import cell_label, place_of, shown_file
from dexnb.graph.read import frame_of
from dexnb.graph.source import is_users, plain_function
from dexnb.model.finding import Place
from dexnb.model.flow_graph import Node

AROUND = 4
"""Lines before and after the place."""

MOST_LINES = 24
LONGEST = 200
"""Characters of a line."""

MOST_TEXT = 1_000_000
"""Characters of a text that is looked into."""

_METHODS = ("wait_for", "execute", "get_step_options")


class Sources:
    """The cells and files of one Flow; nothing else can be read through it.

    Args:
        flow: As a registry keeps it.
    """

    def __init__(self, flow: RegisteredFlow) -> None:
        """Read nothing yet."""
        self._flow = flow

    def excerpt(self, place: Place) -> dict[str, Any] | None:
        """Give a few lines around a place, credentials hidden; None where no text is known.

        Gives `first` (the number of the first line), `lines`, and `line` and `end_line` to mark.

        Raises:
            DocumentError: The text is no Python any more.
        """
        file = self._files.get((place.path, place.cell))
        text = "" if file is None else "".join(linecache.getlines(file))
        if not 0 < place.line <= text.count("\n") + 1 or not text or len(text) > MOST_TEXT:
            return None
        lines = concealed_lines(text)
        first = max(1, place.line - AROUND)
        end = max(place.line, min(place.end_line, first + MOST_LINES - AROUND))
        cut = [_cut(line) for line in lines[first - 1 : min(end + AROUND, first + MOST_LINES)]]
        while len(cut) > 1 and not cut[-1].strip():
            cut.pop()
        return {"first": first, "lines": cut, "line": place.line, "end_line": end}

    def of_step(self, node: Node, line: int) -> Place:
        """Give the place of a line in a Step's execute, or of the method where it is elsewhere."""
        step = self._flow.steps.get(node.name)
        function = None if step is None else plain_function(getattr(step.step, "execute", None))
        if function is None:
            return Place()
        whole = place_of(function)
        inside = whole.line <= line <= whole.end_line
        at = line if inside else whole.line
        return replace(whole, line=at, column=0, end_line=at, end_column=0)

    @cached_property
    def _files(self) -> dict[tuple[str, str], str]:
        files: dict[tuple[str, str], str] = {}
        for function in _functions(self._flow):
            file = function.__code__.co_filename
            files.setdefault((shown_file(file), cell_label(file)), file)
        return files


def _functions(flow: RegisteredFlow) -> Iterator[FunctionType]:
    """Give the user's functions that a Flow is made of: of its classes, and their helpers."""
    steps = [step.step for step in flow.steps.values()]
    for owner in (flow.flow, *steps):
        for each in type(owner).__mro__:
            found = (plain_function(value) for value in vars(each).values())
            yield from (function for function in found if function and is_users(function))
    for step in steps:
        for method in _METHODS:
            frame = frame_of(step, method)
            yield from () if frame is None else (f.scope.function for f in reachable(frame))


def _cut(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
