"""The traceback of a failed attempt as its author reads it: without frames of the runtime."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path

from dexnb.model.shown import cut

TRACEBACK = "traceback"
"""Source of the line of a run's log that is one."""

LONGEST = 4000
"""Characters kept of a traceback: its end, where the error is."""

LONGEST_ERROR = 1024
MOST_FRAMES = 60

_OWN = str(Path(__file__).parents[1])
_CUT = "…\n"


def user_traceback(error: BaseException) -> str:
    """Give an error's traceback with those of its causes, in at most `LONGEST` characters.

    Frames of this package are left out, unless there are no others.
    """
    told = traceback.TracebackException.from_exception(error, limit=-MOST_FRAMES)
    for each in _chain(told, set()):
        frames = [frame for frame in each.stack if not frame.filename.startswith(_OWN)]
        each.stack = traceback.StackSummary.from_list(frames or each.stack)
    text = "".join(told.format()).rstrip()
    last = "".join(told.format_exception_only()).rstrip()
    if len(last) > LONGEST_ERROR:
        text = text.removesuffix(last) + cut(last, LONGEST_ERROR)
    if len(text) > LONGEST:
        text = _CUT + text[len(_CUT) - LONGEST :]
    # Errors come from outside, and a text with half a character in it cannot be written.
    return cut(text.encode("utf-8", "backslashreplace").decode(), LONGEST)


def raised_at(text: str) -> str:
    """Give the line of a traceback that says where the error was raised; empty without frames."""
    # In a group of errors each line has a margin.
    lines = (line.lstrip(" |") for line in text.split("\n"))
    places = [line for line in lines if line.startswith('File "')]
    return places[-1] if places else ""


def _chain(
    told: traceback.TracebackException, seen: set[int]
) -> Iterator[traceback.TracebackException]:
    if id(told) in seen:
        return
    seen.add(id(told))
    yield told
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            yield from _chain(other, seen)
