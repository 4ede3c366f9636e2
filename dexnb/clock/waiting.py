"""Say where each task of a loop waits, for the error that ends a stuck run."""

from __future__ import annotations

import asyncio
import os
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_MOST_TASKS = 20
_ASYNCIO = str(Path(asyncio.__file__).parent)


def places(loop: asyncio.AbstractEventLoop) -> list[str]:
    """Give one line for each unfinished task: name, coroutine, and file:line where it waits."""
    named = {task: task.get_name() for task in asyncio.all_tasks(loop)}
    tasks = sorted(named, key=lambda task: (len(named[task]), named[task]))
    lines = [_place(task) for task in tasks[:_MOST_TASKS]]
    if len(tasks) > _MOST_TASKS:
        lines.append(f"and {len(tasks) - _MOST_TASKS} more tasks")
    return lines


def _place(task: asyncio.Task[Any]) -> str:
    coro = task.get_coro()
    name = getattr(coro, "__qualname__", type(coro).__name__)
    chain = list(_frames(coro))
    if not chain:
        return f"task {task.get_name()} ({name}) has not started"
    own = [frame for frame in chain if not _is_library(frame)]
    frame = own[-1] if own else chain[-1]
    line = f"task {task.get_name()} ({name}) waits at {frame.f_code.co_filename}:{frame.f_lineno}"
    inmost = chain[-1].f_code.co_qualname
    return line if chain[-1] is frame else f"{line}, inside {inmost}"


def _is_library(frame: types.FrameType) -> bool:
    path = frame.f_code.co_filename
    return path.startswith(_ASYNCIO) or f"{os.sep}site-packages{os.sep}" in path


def _frames(awaited: Any) -> Iterator[types.FrameType]:
    """Walk from a coroutine inward along what it awaits, as far as Python shows it."""
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            yield frame
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
