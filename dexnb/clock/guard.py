"""Refuse blocking calls where time is not real: an audit hook over threads that said so.

The hook sees `socket.connect`, `socket.getaddrinfo` and, from Python 3.13 on, `time.sleep`. Before
3.13 `time.sleep` raises no audit event, so it is replaced once by a function that asks first and
then calls the original; names that modules bound to it earlier are rebound too.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys
import threading
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dexnb.clock.duration import shown
from dexnb.clock.refusal import NETWORK_FIX, SLEEP_FIX, ClockRefusal

_EVENTS = frozenset({"time.sleep", "socket.connect", "socket.getaddrinfo"})
_SLEEP_IS_AUDITED = sys.version_info >= (3, 13)


@dataclass(frozen=True, slots=True)
class _Guard:
    """What a thread runs on; `who` is None on the thread of a loop, where the task is named."""

    clock: str
    who: str | None


_guards: dict[int, _Guard] = {}


@contextmanager
def guard(clock: str, who: str | None = None) -> Iterator[None]:
    """Refuse blocking calls of this thread inside the block; may be nested, the inner one names.

    Args:
        clock: The identity of the clock.
        who: Who is named in the refusal; without it, the running task is.
    """
    install()
    thread = threading.get_ident()
    outer = _guards.get(thread)
    _guards[thread] = _Guard(clock, who)
    try:
        yield
    finally:
        if outer is None:
            _guards.pop(thread, None)
        else:
            _guards[thread] = outer


@functools.cache
def install() -> None:
    """Start watching, once in a process: an audit hook can never be taken away again."""
    sys.addaudithook(_audit)
    if not _SLEEP_IS_AUDITED:
        _replace_sleep(time.sleep)
    if hasattr(os, "register_at_fork"):
        # The child of a fork keeps its thread's id but not the loop that was guarded.
        os.register_at_fork(after_in_child=_guards.clear)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    # Every audit event of the process comes through here: leave as early as possible.
    if not _guards or event not in _EVENTS:
        return
    found = _guards.get(threading.get_ident())
    if found is None:
        return
    frame = sys._getframe(1)  # noqa: SLF001 - the only way to name the caller's line
    if event == "time.sleep":
        _refuse_sleep(args[0], found, frame)
    elif event == "socket.getaddrinfo":
        _refuse_network(f"socket.getaddrinfo({shown(args[0])}, {shown(args[1])})", found, frame)
    elif not frame.f_code.co_name.endswith("socketpair"):
        # Where the system has no socketpair, Python makes one by connecting to itself.
        _refuse_network(f"socket.connect({shown(args[1])})", found, frame)


def _replace_sleep(original: Any) -> None:
    @functools.wraps(original)
    def sleep(seconds: float, /) -> None:
        if _guards and (found := _guards.get(threading.get_ident())) is not None:
            _refuse_sleep(seconds, found, sys._getframe(1))  # noqa: SLF001 - as in _audit
        original(seconds)

    for module in list(sys.modules.values()):
        if issubclass(type(module), types.ModuleType):
            # Not vars(): on a lazily loaded module that would load it.
            names: dict[str, Any] = types.ModuleType.__getattribute__(module, "__dict__")
            for name in [key for key, value in list(names.items()) if value is original]:
                names[name] = sleep


def _refuse_sleep(seconds: float, found: _Guard, frame: types.FrameType) -> None:
    if seconds:
        call = f"time.sleep({shown(seconds)})"
        raise ClockRefusal(call, clock=found.clock, who=_who(found, frame), fix=SLEEP_FIX)


def _refuse_network(call: str, found: _Guard, frame: types.FrameType) -> None:
    raise ClockRefusal(call, clock=found.clock, who=_who(found, frame), fix=NETWORK_FIX)


def _who(found: _Guard, frame: types.FrameType) -> str:
    return f"{found.who or running_task()} at {frame.f_code.co_filename}:{frame.f_lineno}"


def running_task() -> str:
    """Name the task that runs on this thread's loop, for the text of a refusal."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    if task is None:
        return "a callback of the loop"
    name = getattr(task.get_coro(), "__qualname__", "")
    return f"task {task.get_name()} ({name})"
