"""Structured log lines on standard error: whatever this process says, one line for each record."""

from __future__ import annotations

import io
import logging
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, TextIO

from dexnb.cli.text import printable
from dexnb.cli.worker.discreet import LONGEST, detail, discreet
from dexnb.cli.worker.job import Job
from dexnb.cli.worker.once_a_minute import OnceAMinute
from dexnb.engine import capture
from dexnb.model.json_text import to_text

LOG = logging.getLogger("dexnb.worker")

MOST_WAITING = 10_000
"""Lines that wait for a reader of standard error that is slow; what comes then is lost."""

LAST_SECONDS = 2.0
MOST_FRAMES = 10

_COMMON = ("time", "level", "event", "flow", "flow_type", "run", "step", "attempt")


def tell(level: int, event: str, **fields: Any) -> None:
    """Log one thing that happened, with what names it."""
    if LOG.isEnabledFor(level):
        # Not a line of the Step's own, which goes to its run, too.
        token = capture.CURRENT.set(None)
        try:
            LOG.log(level, "%s", event, extra={"dexnb": {"event": event, **fields}})
        finally:
            capture.CURRENT.reset(token)


@contextmanager
def log_lines(job: Job) -> Iterator[None]:
    """Send all log records, warnings and prints of this process to standard error as lines.

    A thread writes them, so that a slow reader never holds up the engine.
    """
    own, root, streams = logging.getLogger("dexnb"), logging.getLogger(), (sys.stdout, sys.stderr)
    level = getattr(logging, job.log_level.upper())
    handler = LineHandler(job, sys.stderr)
    root.addHandler(handler)
    own.setLevel(level)
    root.setLevel(max(level, logging.WARNING))
    logging.captureWarnings(capture=True)
    make = logging.getLogRecordFactory()
    logging.setLogRecordFactory(partial(_with_names, make))
    if job.process:
        sys.stdout, sys.stderr = LoggedStream("stdout"), LoggedStream("stderr")
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        logging.setLogRecordFactory(make)
        logging.captureWarnings(capture=False)
        root.removeHandler(handler)
        handler.close()


def _with_names(
    make: Callable[..., logging.LogRecord], *args: Any, **options: Any
) -> logging.LogRecord:
    """Note which attempt a record belongs to: handlers may be called outside of its context."""
    record, attempt = make(*args, **options), capture.CURRENT.get(None)
    record.names = {} if attempt is None else attempt.names
    return record


class LineHandler(logging.Handler):
    """Writes a line for each record, on a thread of its own.

    Args:
        job: Says in which form, and which process this is.
        stream: Where to.
    """

    def __init__(self, job: Job, stream: TextIO) -> None:
        """Start the thread."""
        super().__init__()
        self.addFilter(OnceAMinute("uvicorn"))
        self._job = job
        self._out = stream
        self._lost = 0
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._write, name="dexnb-log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Put a record's line into the queue."""
        try:
            line = line_of(record, self._job)
        except Exception as error:  # noqa: BLE001 - a log line must never fail what it tells of
            line = f'{{"event":"unreadable","error":"{type(error).__name__}"}}'
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._lost += 1

    def close(self) -> None:
        """Write what waits, for a moment at most."""
        with suppress(queue.Full):
            self._lines.put(None, timeout=LAST_SECONDS)
            self._thread.join(LAST_SECONDS)
        super().close()

    def _write(self) -> None:
        with suppress(OSError, ValueError):  # nobody reads any more
            while (line := self._lines.get()) is not None:
                self._out.write(f"{line}\n")
                if self._lines.empty():
                    self._out.flush()
                if self._lost:
                    lost, self._lost = self._lost, 0
                    tell(logging.WARNING, "log_lines_lost", count=lost)
            self._out.flush()


class LoggedStream(io.TextIOBase):
    """In the place of a standard stream: each line that is printed becomes a log record.

    Args:
        name: Of the stream.
    """

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, name: str) -> None:
        """Start at the beginning of a line."""
        self._name = name
        self._rest = ""
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        """Log the lines that are complete now."""
        with self._lock:
            *lines, self._rest = (self._rest + text).split("\n")
            self._rest = self._rest[: 2 * LONGEST]
        attempt = capture.CURRENT.get(None)
        names = {} if attempt is None else attempt.names
        for line in lines:
            if line.strip():
                tell(logging.INFO, "output", **names, stream=self._name, message=discreet(line))
        return len(text)

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True


def line_of(record: logging.LogRecord, job: Job) -> str:
    """Give a record's line: JSON, or words for people."""
    time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    fields: dict[str, Any] = dict.fromkeys(_COMMON)
    fields |= {"time": time.replace("+00:00", "Z"), "level": record.levelname.lower()}
    fields |= {"process": job.process, "pid": os.getpid()} | _said(record)
    if job.log_format == "json":
        return to_text(fields)
    parts = [
        f"{name}={_word(value)}"
        for name, value in fields.items()
        if name not in _COMMON[:3] and value not in (None, [])
    ]
    return f"{fields['time']} {record.levelname:<7} {fields['event']} {' '.join(parts)}"


def _said(record: logging.LogRecord) -> dict[str, Any]:
    given = getattr(record, "dexnb", None)
    if isinstance(given, dict):
        said = dict(given)
        if "detail" in said:
            said["detail"] = detail(str(said.get("error", "")), str(said["detail"]))
        return said
    said = {"event": "log", **getattr(record, "names", {})}
    said |= {"logger": printable(record.name), "message": discreet(record.getMessage())}
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        kind = f"{type(error).__module__}.{type(error).__qualname__}"
        frames = traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
        said |= {"error": kind, "detail": detail(kind, str(error))}
        said["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return said


def _word(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ",".join(value)
    text = printable(value if isinstance(value, str) else to_text(value), LONGEST * 4)
    return to_text(text) if " " in text or '"' in text or not text else text
