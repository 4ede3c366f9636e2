"""Prints and log records made inside a Step go to its run's telemetry, never to another cell.

Which Step is running is a context variable, so threads and tasks that a Step starts are its own.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from contextvars import ContextVar
from typing import Any, TextIO

from dexnb.engine.attempt import Attempt

CURRENT: ContextVar[Attempt] = ContextVar("dexnb_attempt")
"""The attempt whose code runs in this context."""

LONGEST_LINE = 4096

_lock = threading.Lock()
_users = 0


def install() -> None:
    """Begin to capture; counted, so that each engine installs and uninstalls once."""
    global _users  # noqa: PLW0603 - standard output is one per process, and so is this
    with _lock:
        _users += 1
        if _users == 1:
            logging.getLogger().addHandler(_HANDLER)
    wrap_streams()


def uninstall() -> None:
    """Stop capturing when the last engine has asked for it."""
    global _users  # noqa: PLW0603 - as above
    with _lock:
        _users -= 1
        if _users:
            return
        logging.getLogger().removeHandler(_HANDLER)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if isinstance(stream, CapturingStream):
                setattr(sys, name, stream.wrapped)


def wrap_streams() -> None:
    """Put the capture before the standard streams, again if somebody replaced them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, CapturingStream):
            setattr(sys, name, CapturingStream(stream, name))


class CapturingStream(io.TextIOBase):
    """A standard stream that sends what Steps write to their runs and lets all else through."""

    def __init__(self, wrapped: TextIO, name: str) -> None:
        """Stand before this stream."""
        self.wrapped = wrapped
        self._name = name
        self._pieces: dict[int, str] = {}

    def write(self, text: str) -> int:
        """Write to the run of the Step that is running, or through."""
        attempt = CURRENT.get(None)
        if attempt is None:
            return self.wrapped.write(text)
        key = id(attempt)
        *lines, rest = (self._pieces.pop(key, "") + text).split("\n")
        for line in lines:
            _keep(attempt, self._name, line)
        if len(rest) > LONGEST_LINE:
            _keep(attempt, self._name, rest)
        elif rest:
            self._pieces[key] = rest
        return len(text)

    def flush(self) -> None:
        """Flush the wrapped stream; a Step's unfinished line becomes one."""
        attempt = CURRENT.get(None)
        if attempt is None:
            self.wrapped.flush()
        elif rest := self._pieces.pop(id(attempt), ""):
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

    def __getattribute__(self, name: str) -> Any:
        """Take what TextIOBase only declares from the wrapped stream."""
        if name in _PASSED_ON:
            return getattr(object.__getattribute__(self, "wrapped"), name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Any:
        """Pass everything else on."""
        return getattr(self.wrapped, name)


_PASSED_ON = frozenset({"encoding", "errors", "newlines", "buffer", "name", "mode"})


class _RunHandler(logging.Handler):
    """Takes log records made inside a Step, and keeps the root's other handlers from them."""

    def emit(self, record: logging.LogRecord) -> None:
        attempt = CURRENT.get(None)
        if attempt is not None:
            _keep(attempt, record.levelname, f"{record.name}: {record.getMessage()}")


_HANDLER = _RunHandler()


def end_lines(attempt: Attempt) -> None:
    """Keep the unfinished line that an ended attempt left."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, CapturingStream):
            rest = stream._pieces.pop(id(attempt), "")  # noqa: SLF001 - same module
            if rest:
                _keep(attempt, name, rest)


def _keep(attempt: Attempt, source: str, line: str) -> None:
    line = line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
    attempt.record("log", {"source": source, "line": line}, len(line))
