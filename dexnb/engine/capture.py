"""Prints and log records made inside a Step go to its run's telemetry, never to another cell.

Which Step is running is a context variable, so threads and tasks that a Step starts are its own.
Outside of notebooks they are shown as well, as `RuntimeOptions.show_prints` says.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TextIO

from dexnb.engine.attempt import Attempt
from dexnb.engine.options import RuntimeOptions

CURRENT: ContextVar[Attempt | None] = ContextVar("dexnb_attempt", default=None)
"""The attempt whose code runs in this context."""

SHOWN: ContextVar[bool] = ContextVar("dexnb_shown", default=False)
"""Whether what is printed in this context is shown, too."""

LONGEST_LINE = 4096
STREAMS = ("stdout", "stderr")

_lock = threading.Lock()
_users: set[object] = set()
_call_handlers = logging.Logger.callHandlers


def install(user: object) -> None:
    """Begin to capture for an engine."""
    with _lock:
        _users.add(user)
        if len(_users) == 1:
            # Not a handler on the root logger: with one there, `logging.basicConfig` does nothing
            # and warnings of code that has no handlers would be lost.
            logging.Logger.callHandlers = _handle_record  # type: ignore[assignment, method-assign]
    wrap_streams()


def uninstall(user: object) -> None:
    """Stop capturing when the last engine has asked for it; asking twice changes nothing."""
    with _lock:
        if user not in _users:
            return
        _users.remove(user)
        if _users:
            return
        if logging.Logger.callHandlers is _handle_record:
            logging.Logger.callHandlers = _call_handlers  # type: ignore[method-assign]
        for name in STREAMS:
            stream = getattr(sys, name)
            if isinstance(stream, CapturingStream):
                setattr(sys, name, stream.wrapped)


def wrap_streams() -> None:
    """Put the capture before the standard streams, again if somebody replaced them."""
    for name in STREAMS:
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, CapturingStream):
            setattr(sys, name, CapturingStream(stream, name))


def enter(attempt: Attempt, options: RuntimeOptions) -> None:
    """Take what is printed and logged in this context from now on."""
    CURRENT.set(attempt)
    SHOWN.set(not in_notebook() if options.show_prints is None else options.show_prints)


def in_notebook() -> bool:
    """Tell whether IPython runs the program, where a print would stand below some other cell."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


class CapturingStream(io.TextIOBase):
    """A standard stream that sends what Steps write to their runs and lets all else through."""

    def __init__(self, wrapped: TextIO, name: str) -> None:
        """Stand before this stream."""
        self.wrapped = wrapped
        self._name = name
        self._pieces: dict[int, str] = {}

    def write(self, text: str) -> int:
        """Write to the run of the Step that is running, or through."""
        attempt = CURRENT.get()
        if attempt is None:
            return self.wrapped.write(text)
        if SHOWN.get():
            # A terminal that has gone, or lacks a letter, must not fail the Step.
            with suppress(OSError, ValueError):
                self.wrapped.write(text)
        key = id(attempt)
        *lines, rest = (self._pieces.pop(key, "") + text).split("\n")
        for line in lines:
            _keep(attempt, self._name, line)
        if rest:
            # One letter more than is kept, so that the cut shows.
            self._pieces[key] = rest[: LONGEST_LINE + 1]
        if attempt.ended:
            self.end_line(attempt)
        return len(text)

    def flush(self) -> None:
        """Flush the wrapped stream; a Step's unfinished line becomes one."""
        attempt = CURRENT.get()
        if attempt is None:
            self.wrapped.flush()
            return
        self.end_line(attempt)
        if SHOWN.get():
            with suppress(OSError, ValueError):
                self.wrapped.flush()

    def end_line(self, attempt: Attempt) -> None:
        """Keep the line that an attempt has begun."""
        if rest := self._pieces.pop(id(attempt), ""):
            _keep(attempt, self._name, rest)

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True

    def isatty(self) -> bool:
        """Ask the wrapped stream."""
        return self.wrapped.isatty()

    def fileno(self) -> int:
        """Ask the wrapped stream."""
        return self.wrapped.fileno()

    def close(self) -> None:
        """Leave the wrapped stream open, which also happens when this one is forgotten."""

    def __getattribute__(self, name: str) -> Any:
        """Take what TextIOBase only declares from the wrapped stream."""
        if name in _PASSED_ON:
            return getattr(object.__getattribute__(self, "wrapped"), name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        """Pass everything else on."""
        if name == "wrapped":
            # One that is being copied is asked for this before it has anything.
            raise AttributeError(name)
        return getattr(self.wrapped, name)


_PASSED_ON = frozenset({"encoding", "errors", "newlines", "buffer", "name", "mode"})


def end_lines(attempt: Attempt) -> None:
    """Keep the unfinished lines that an ended attempt left."""
    for name in STREAMS:
        stream = getattr(sys, name)
        if isinstance(stream, CapturingStream):
            stream.end_line(attempt)


def _handle_record(logger: logging.Logger, record: logging.LogRecord) -> None:
    """Take a record made inside a Step to its run, and past handlers that write to the console."""
    attempt = CURRENT.get()
    if attempt is None:
        _call_handlers(logger, record)
        return
    _keep(attempt, record.levelname, _text_of(record))
    if SHOWN.get():
        _outside_of_steps(logger, record)
        return
    each: logging.Logger | None = logger
    while each is not None:
        for handler in each.handlers:
            if record.levelno >= handler.level and not _writes_to_console(handler):
                handler.handle(record)
        each = each.parent if each.propagate else None


def _outside_of_steps(logger: logging.Logger, record: logging.LogRecord) -> None:
    """Let every handler have a record; what the console's writes is not kept a second time."""
    token = CURRENT.set(None)
    try:
        _call_handlers(logger, record)
    finally:
        CURRENT.reset(token)


def _text_of(record: logging.LogRecord) -> str:
    try:
        text = f"{record.name}: {record.getMessage()}"
    except Exception as error:  # noqa: BLE001 - a record's own arguments may raise anything
        text = f"{record.name}: {record.msg!r} ({type(error).__name__}: {error})"
    if record.exc_info and record.exc_info[1] is not None:
        text += f" ({type(record.exc_info[1]).__name__}: {record.exc_info[1]})"
    return text


def _writes_to_console(handler: logging.Handler) -> bool:
    stream = getattr(handler, "stream", None)
    if isinstance(stream, CapturingStream):
        return True
    originals = (sys.__stdout__, sys.__stderr__)
    wrapped = (getattr(getattr(sys, name), "wrapped", None) for name in STREAMS)
    return stream is not None and any(stream is each for each in (*originals, *wrapped))


def _keep(attempt: Attempt, source: str, line: str) -> None:
    line = line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
    attempt.record("log", {"source": source, "line": line}, len(line))
