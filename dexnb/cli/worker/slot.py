"""`Slot`: a place for one process of a worker, filled again when its process has died."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from contextlib import suppress
from typing import Any

from dexnb.cli.exits import OK, USAGE
from dexnb.cli.target import CommandError
from dexnb.cli.worker.hard_end import STOP_GRACE
from dexnb.cli.worker.job import Job
from dexnb.cli.worker.log_lines import tell
from dexnb.cli.worker.restarts import Restarts
from dexnb.cli.worker.totals import Totals
from dexnb.errors import DocumentError
from dexnb.model.json_text import from_text

LONGEST_REPORT = 4 << 20


class CannotStart(Exception):
    """The first process has said why it cannot do its job."""


class DiesAgain(Exception):
    """A process died at once, again and again."""


class Slot:
    """Keeps one process running until the worker stops.

    Args:
        job: What the process does.
        stopping: Set when the worker stops.
    """

    def __init__(self, job: Job, stopping: asyncio.Event) -> None:
        """Prepare; `run` starts."""
        self.job = job
        self.report: dict[str, Any] | None = None
        """The newest report of the process that runs; None before its first."""
        self.reported = 0.0
        """When that came, in the loop's time."""
        self.past = Totals()
        """What the processes before it had counted."""
        self.ready = asyncio.Event()
        """Set by the first report of all."""
        self.failed = False
        """Whether its process has not ended in order at the stop."""
        self._stopping = stopping
        self._restarts = Restarts()
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Start a process, and again when it dies; returns at the stop when it has ended.

        Raises:
            CannotStart: It cannot do its job, and none before it could.
            CommandError: There is no interpreter that could be started.
            DiesAgain: It dies at once again and again, or cannot be started for long.
        """
        loop = asyncio.get_running_loop()
        while not self._stopping.is_set():
            began = loop.time()
            try:
                pid, code = await self._run_one()
            except (OSError, RuntimeError) as error:
                await self._go_on(self._restarts.after_failure(), pid=None, how=self._why(error))
                continue
            if self._stopping.is_set():
                self.failed = code != OK
                return
            if code == USAGE and not self.ready.is_set():
                raise CannotStart
            await self._go_on(self._restarts.after(loop.time() - began), pid=pid, how=how(code))

    async def _go_on(self, pause: float | None, **names: Any) -> None:
        """Tell of a death, and wait until the next start, or the stop."""
        names = {"process": self.job.process, **names}
        if pause is None:
            deaths = max(self._restarts.quick, self._restarts.failed)
            tell(logging.CRITICAL, "process_dies_again", **names, deaths=deaths)
            raise DiesAgain
        tell(logging.ERROR, "process_died", **names, again_in=pause)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._stopping.wait()

    def _why(self, error: Exception) -> str:
        """Say why a process could not be started, if that may change."""
        if isinstance(error, FileNotFoundError | PermissionError) and not self.ready.is_set():
            message = (
                f"a worker's processes are started by {sys.executable!r}, which cannot be run "
                f"({error.strerror}); start the worker with a Python that can"
            )
            raise CommandError(message) from error
        return f"could not be started ({error})"

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def _run_one(self) -> tuple[int, int]:
        """Run a process to its end; give its id and exit code."""
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "dexnb.cli.worker.child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_REPORT,
        )
        tell(logging.INFO, "process_started", process=self.job.process, pid=process.pid)
        stopper = asyncio.create_task(self._stop_in_time(process))
        try:
            if process.stdin is not None:
                process.stdin.write(self.job.to_line().encode())
            await self._read(process)
            return process.pid, await process.wait()
        finally:
            stopper.cancel()
            self.kill()
            await process.wait()
            self._process = None
            if self.report is not None:
                self.past.add(self.report)
                self.report = None

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        if process.stdout is None:
            return
        async for line in process.stdout:
            with suppress(DocumentError):
                # A killed process may leave half a line.
                self.report = from_text(line.decode(errors="replace"))
                self.reported = asyncio.get_running_loop().time()
                self.ready.set()

    async def _stop_in_time(self, process: asyncio.subprocess.Process) -> None:
        await self._stopping.wait()
        if process.stdin is not None:
            process.stdin.close()
        await asyncio.sleep(self.job.drain + STOP_GRACE)
        tell(logging.CRITICAL, "process_killed", process=self.job.process, reason="did not stop")
        self.kill()


def how(code: int) -> str:
    """Say how a process has ended."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
