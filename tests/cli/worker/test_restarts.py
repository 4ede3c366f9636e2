"""When a process that has died is started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from dexnb.cli.target import CommandError
from dexnb.cli.worker.job import Job
from dexnb.cli.worker.restarts import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    MOST_FAILED,
    MOST_QUICK,
    QUICK_SECONDS,
    Restarts,
)
from dexnb.cli.worker.slot import Slot
from tests.cli.worker.conftest import Work


def test_pauses_double_until_it_is_given_up() -> None:
    """Deaths at once in a row."""
    restarts = Restarts()
    pauses = [restarts.after(0.5) for _ in range(MOST_QUICK)]
    assert pauses == [*(FIRST_PAUSE * 2**n for n in range(MOST_QUICK - 1)), None]


def test_a_process_that_has_worked_for_a_while_begins_anew() -> None:
    """However often it dies, it is worth another start, after the shortest pause."""
    restarts = Restarts()
    for _ in range(3 * MOST_QUICK):
        assert restarts.after(0.5) is not None
        assert restarts.after(0.5) is not None
        assert restarts.after(QUICK_SECONDS) == FIRST_PAUSE
    assert LONGEST_PAUSE >= FIRST_PAUSE * 2 ** (MOST_QUICK - 2)


def test_starts_that_come_to_nothing_are_made_again_for_minutes() -> None:
    """What a machine is short of comes back; but not for ever, and they are no deaths."""
    restarts = Restarts()
    pauses = [restarts.after_failure() for _ in range(MOST_FAILED)]
    assert pauses[-1] is None
    told = [pause for pause in pauses if pause is not None]
    assert told == sorted(told)
    assert told[-1] == LONGEST_PAUSE
    assert sum(told) > 60
    restarts.after(QUICK_SECONDS)
    assert restarts.after_failure() == FIRST_PAUSE


@pytest.mark.parametrize("broken", ["missing", "unable"])
def test_a_python_that_cannot_be_run_is_named_before_anything_was_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, broken: str
) -> None:
    """There is nothing to wait for then."""
    python = tmp_path / broken
    if broken == "unable":
        python.write_text("no program", "utf-8")
    monkeypatch.setattr(sys, "executable", str(python))

    async def body() -> None:
        slot = Slot(Job(("x",), "w.db", 0.0, "text", "info", 1), asyncio.Event())
        with pytest.raises(CommandError, match=f"{broken}'.*cannot be run"):
            await slot.run()

    asyncio.run(body())


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's prlimit")
def test_a_start_that_fails_for_the_moment_is_made_again(work: Work, folder: Path) -> None:
    """The process that died comes again when there is room, and the other one went on."""
    import resource

    said, pid = work("--processes", "2", "--drain", "0")
    serving = said.wait_for("serving", 2)
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, before[1]))
    os.kill(serving[0]["pid"], signal.SIGKILL)
    failed = said.wait_for("process_died", 2)[1]
    assert (failed["pid"], failed["how"].split(" (")[0]) == (None, "could not be started")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    said.wait_for("serving", 3)
    assert len(said.of("process_died", pid=serving[1]["pid"])) == 0
    os.kill(pid, signal.SIGTERM)
    assert said.end() == 0
