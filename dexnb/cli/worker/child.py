"""`python -m dexnb.cli.worker.child`: one process of a worker, as its parent starts it."""

from __future__ import annotations

import asyncio
import gc
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from dexnb.cli.exits import FAILED, OK, USAGE
from dexnb.cli.worker.complaint import complain
from dexnb.cli.worker.flows import load_flows
from dexnb.cli.worker.hard_end import HardEnd
from dexnb.cli.worker.job import Job
from dexnb.cli.worker.log_lines import LOG, log_lines
from dexnb.cli.worker.serve import serve
from dexnb.cli.worker.stop import Stop
from dexnb.engine.collector import CALM
from dexnb.errors import DexnbError
from dexnb.flow.codecs import CodecRegistry
from dexnb.flow.flow import Flow

LAST_SECONDS = 1.0


class Reports:
    """Writes reports to the parent on a thread: only the newest waits where the parent is slow.

    Args:
        pipe: A file descriptor.
    """

    def __init__(self, pipe: int) -> None:
        """Start the thread."""
        self._pipe = pipe
        self._waiting: queue.Queue[str | None] = queue.Queue(1)
        self._thread = threading.Thread(target=self._write, name="dexnb-reports", daemon=True)
        self._thread.start()

    def send(self, line: str) -> None:
        """Replace the report that waits."""
        with suppress(queue.Empty):
            self._waiting.get_nowait()
        self._waiting.put_nowait(line)

    def close(self) -> None:
        """Write the last report, for a moment at most."""
        with suppress(queue.Full):
            if self._thread.is_alive():
                self._waiting.put(None, timeout=LAST_SECONDS)
                self._thread.join(LAST_SECONDS)

    def _write(self) -> None:
        with suppress(OSError):  # the parent is gone
            while (line := self._waiting.get()) is not None:
                data = line.encode()
                while data:
                    data = data[os.write(self._pipe, data) :]


def main() -> int:
    """Do the job that standard input tells; give the exit code."""
    stop, hard_end = Stop(), HardEnd()

    def drain() -> None:
        stop.ask()
        hard_end.tell()

    signal.signal(signal.SIGTERM, lambda *_: drain())
    # Ctrl-C is for the parent, which gets it too.
    signal.signal(signal.SIGINT, lambda *_: None)
    control, pipe = _take(0, os.open(os.devnull, os.O_RDONLY)), _take(1, 2)
    if hasattr(os, "register_at_fork"):
        # A forked process of the user's that outlives this one must not look like this one.
        for each in (control, pipe):
            os.register_at_fork(after_in_child=partial(os.close, each))
    if not (line := _first_line(control)):
        # The parent has ended before it could say what to do.
        return OK
    job = Job.from_line(line)
    hard_end.after(job.drain)
    threading.Thread(target=_watch, args=(control, drain), daemon=True).start()
    reports = Reports(pipe)
    with log_lines(job):
        try:
            flows, codecs = load_flows(job.targets)
            _look_for_garbage_less()
            asyncio.run(_work(job, flows, codecs, stop, reports))
        except DexnbError as error:
            complain(job, error)
            return USAGE
        except Exception:  # noqa: BLE001 - told as a line, like everything else
            LOG.critical("this process cannot go on", exc_info=True)
            return FAILED
        finally:
            reports.close()
    return OK


async def _work(
    job: Job, flows: list[Flow[Any]], codecs: CodecRegistry, stop: Stop, reports: Reports
) -> None:
    await serve(job, flows, codecs, stop.event(), reports.send)


def _look_for_garbage_less() -> None:
    """Let the collector look less often, and not at all at what stays for as long as this process.

    A thousand Flows in flight are many objects and few cycles: looking through all of them again
    and again took nearly half of the processor's time. The process is ours alone.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*CALM)


def _take(standard: int, instead: int) -> int:
    """Take a standard stream away from the user's code, which gets another in its place."""
    taken = os.dup(standard)
    os.dup2(instead, standard)
    return taken


def _first_line(control: int) -> str:
    line = b""
    while not line.endswith(b"\n"):
        # One byte at a time, so that nothing behind the line is taken.
        read = os.read(control, 1)
        if not read:
            break
        line += read
    return line.decode()


def _watch(control: int, drain: Callable[[], None]) -> None:
    """Drain when the parent closes its end, as it does at a stop and by its own death."""
    with suppress(OSError):
        while os.read(control, 1024):
            pass
    drain()


if __name__ == "__main__":
    sys.exit(main())
