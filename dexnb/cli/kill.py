"""`dexnb run --kill-after`: the command as a process that is killed hard and started again.

The time counts from the Flow's start, of which the child tells by a file: how long Python and the
store took to get there depends on the machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from dexnb.cli.exits import INTERRUPTED
from dexnb.cli.place import place
from dexnb.cli.rerun import arguments_of
from dexnb.cli.target import CommandError, locate
from dexnb.cli.text import limit

STARTED_FILE = "DEXNB_STARTED_FILE"
"""The environment variable that names the file with which the child tells that its Flow runs."""

LOOK_SECONDS = 0.02
"""How often it is looked for."""

PATIENCE_SECONDS = 5.0
"""How long a child may take to leave after Ctrl-C, which the terminal sends to it too."""


def run_and_kill(options: argparse.Namespace) -> int:
    """Run, kill, run again; give the exit code of the last run.

    Without a flow id the second run finds the open run of the first, as anybody's would.

    Raises:
        CommandError: What is asked for does not outlive a kill.
    """
    _check(options)
    command = [sys.executable, "-m", "dexnb", "run", *arguments_of(options)]
    code = _run(command, options.kill_after)
    if code is not None:
        _tell(f"it ended before {limit(options.kill_after)} were over; nothing was killed")
        return code
    _tell(f"killed hard after {limit(options.kill_after)}; starting again on the same file")
    code = _run(command, None)
    return INTERRUPTED if code is None else code


def _check(options: argparse.Namespace) -> None:
    if options.json:
        raise CommandError("--kill-after and --json do not go together: a log is of one process")
    where = place(
        locate(options.target).stem,
        options.clock,
        database=options.db,
        serve_jobs=options.serve_jobs,
        jobs=options.jobs_state,
    )
    if not where.kept:
        raise CommandError("--kill-after needs a file: memory: keeps nothing; give --db PATH")
    if where.clock.kind != "real":
        raise CommandError(f"--kill-after and --clock {where.clock.identity} do not go together")


def tell_started() -> None:
    """Tell whoever has started this process to kill it that its Flow runs."""
    name = os.environ.get(STARTED_FILE)
    if name:
        Path(name).touch()


def _run(command: list[str], seconds: float | None) -> int | None:
    """Run a child, with its Flow for so long at most; None when it was killed."""
    with tempfile.TemporaryDirectory(prefix="dexnb-") as folder:
        started = Path(folder) / "started"
        told = {**os.environ, STARTED_FILE: str(started)}
        child = subprocess.Popen(command, env=told)  # noqa: S603 - this Python, the user's options
        try:
            return child.wait() if seconds is None else _wait(child, started, seconds)
        except KeyboardInterrupt:
            _leave(child)
            return INTERRUPTED
        finally:
            child.kill()
            child.wait()


def _wait(child: subprocess.Popen[bytes], started: Path, seconds: float) -> int | None:
    while not started.exists():
        with suppress(subprocess.TimeoutExpired):
            return child.wait(LOOK_SECONDS)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _leave(child: subprocess.Popen[bytes]) -> None:
    try:
        child.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        child.terminate()


def _tell(text: str) -> None:
    # A live view that was killed leaves its last line open, and the cursor hidden.
    show_cursor = "\x1b[?25h" if sys.stderr.isatty() else ""
    print(f"{show_cursor}\ndexnb run: {text}\n", file=sys.stderr, flush=True)
