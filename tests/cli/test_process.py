"""`dexnb` as a process: signals, kills, pipes, a terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dexnb import connect
from dexnb.cli.target import load, locate
from tests.cli.processes import PATIENCE, ROOT, Begin, Command

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and terminals")

WAIT = """
import asyncio
from pathlib import Path
from dexnb import (
    AsyncContext, Flow, PersistenceSchema, Step, StepDecision, StepList, Stream, graceful_complete,
)

COUNTS = Stream("Counts", int, 4096)

class WaitForFile(Step[None]):
    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        count = context.get_last_heartbeat_value(int) or 0
        while not Path("ready").exists():
            count += 1
            COUNTS.write(context, count)
            await context.heartbeat(count)
            await asyncio.sleep(0.2)
        return graceful_complete(count)

class WaitFlow(Flow[None]):
    def get_steps(self) -> StepList[None]:
        return StepList.start_step(WaitForFile())

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(COUNTS)
"""


@pytest.fixture(autouse=True)
def flow(folder: Path) -> None:
    """Put a Flow into the folder that ends when the file `ready` appears there."""
    (folder / "wait.py").write_text(WAIT, "utf-8")


def test_the_command_loads_no_terminal_library_for_plain_lines(folder: Path) -> None:
    """Rich comes with the live view alone."""
    from tests.house.test_imports import loaded_by

    arguments = ["run", "dexnb.examples.polling", "--clock", "virtual", "--db", "memory:"]
    loaded = loaded_by(f"from dexnb.cli import main\nassert main({arguments}) == 0")
    assert "dexnb.cli.lines" in loaded
    assert sorted({"rich", "httpx", "sqlite3", "IPython"} & loaded) == []


def test_a_line_is_there_as_soon_as_its_event(begin: Begin, folder: Path) -> None:
    """Nothing waits in a buffer when the output is a pipe."""
    process = begin("run", "wait.py")
    assert process.stdout is not None
    for line in process.stdout:
        if "Counts: 3" in line:
            (folder / "ready").touch()
            break
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out.splitlines()[-1][:9]) == (0, "output: 3"), err


@POSIX
def test_ctrl_c_leaves_the_flow_open_and_says_how_to_go_on(
    begin: Begin, dexnb: Command, folder: Path
) -> None:
    """The command that it prints goes on from the checkpoint, with the same attempt."""
    process = begin("run", "wait.py")
    assert process.stdout is not None
    next(line for line in process.stdout if "Counts: 3" in line)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "the Flow stays open in" in err
    again = re.search(r"^  dexnb (run wait\.py --flow-id=WaitFlow-\w+)$", err, re.MULTILINE)
    assert again is not None, err
    (folder / "ready").touch()
    done = dexnb(*again.group(1).split())
    assert done.returncode == 0, done.stderr
    assert "goes on in" in done.stderr
    assert "attempt 1 was handed back" in done.stdout
    assert re.search(r"attempt 1 resumed from checkpoint \d+", done.stdout)


@pytest.mark.slow
def test_a_killed_command_goes_on_from_its_checkpoint(dexnb: Command, folder: Path) -> None:
    """Killed hard and started again: one attempt more, from the last checkpoint."""
    source = (folder / "wait.py").read_text("utf-8")
    loop = 'while not Path("ready").exists():'
    # Where nobody kills it in time, the first attempt ends after 20 s, and a later kill is tried.
    until_killed = "while count < 3 or (context.attempt == 1 and count < 100):"
    begun = f'{until_killed}\n            Path("begun").touch()'
    (folder / "wait.py").write_text(source.replace(loop, begun), "utf-8")
    seconds = 3
    while True:
        done = dexnb("run", "wait.py", "--kill-after", str(seconds), "--db", f"{seconds}.db")
        if "resumed from" in done.stdout:
            break
        seconds *= 2
    assert done.returncode == 0, done.stderr
    assert f"killed hard after {seconds} s; starting again on the same file" in done.stderr
    assert "attempt 1 was lost with its process" in done.stdout
    found = re.search(r"attempt 2 resumed from (.*) and repeated (\d) Stream m", done.stdout)
    assert found is not None, done.stdout
    assert int(found.group(2)) <= 1


def test_the_time_to_a_kill_counts_from_the_flows_start(dexnb: Command, folder: Path) -> None:
    """However long the code takes to load, there is a run to go on with."""
    loads = """
from time import sleep
if Path("imported").exists():
    Path("ready").touch()
else:
    Path("imported").touch()
    sleep(0.6)
"""
    (folder / "wait.py").write_text(WAIT + loads, "utf-8")
    done = dexnb("run", "wait.py", "--kill-after", "0.3")
    assert done.returncode == 0, done.stderr
    told = re.findall("started in|killed hard after 0.3 s|goes on in", done.stderr)
    assert told == ["started in", "killed hard after 0.3 s", "goes on in"]


def test_a_command_that_ends_first_is_not_killed(dexnb: Command, folder: Path) -> None:
    """And its exit code is passed on."""
    (folder / "ready").touch()
    done = dexnb("run", "wait.py", "--kill-after", "600")
    assert done.returncode == 0, done.stderr
    assert "it ended before 10 min were over; nothing was killed" in done.stderr


@POSIX
def test_ctrl_c_ends_a_command_that_was_to_be_killed(begin: Begin) -> None:
    """A terminal interrupts both processes; both leave in order, and nothing is started again."""
    process = begin("run", "wait.py", "--kill-after", "600")
    assert process.stdout is not None
    next(line for line in process.stdout if "Counts: 2" in line)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "the Flow stays open in" in err
    assert "Traceback" not in err
    assert "starting again" not in err


@POSIX
def test_a_reader_that_leaves_ends_the_command_quietly(begin: Begin) -> None:
    """`dexnb run ... | head -1`: no complaint, and the Flow stays open."""
    process = begin("run", "wait.py")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(PATIENCE) == 141
    assert process.stderr.read().count("\n") == 1


def test_a_run_whose_code_is_gone_says_what_it_waits_for(begin: Begin, folder: Path) -> None:
    """A Step was renamed while its run was open: the reason stands on the screen."""
    with connect.open("w.db") as session:
        session.start(load(locate("wait.py")).flow, "w-1")
    renamed = (folder / "wait.py").read_text("utf-8").replace("WaitForFile", "Renamed")
    (folder / "wait.py").write_text(renamed, "utf-8")
    process = begin("run", "wait.py", "--db", "w.db", "--flow-id", "w-1")
    assert process.stdout is not None
    told = next(line for line in process.stdout if "waits for code" in line)
    assert "no Step named WaitForFile; registered: Renamed" in told


@POSIX
def test_a_terminal_gets_the_live_view(folder: Path) -> None:
    """Drawn in place, with the cursor back at the end."""
    import pty

    terminal, other_side = pty.openpty()
    looks = {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", "PYTHONUTF8": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "dexnb", "run", "wait.py"],
        cwd=folder,
        env={**os.environ, **looks, "PYTHONPATH": str(ROOT)},
        stdin=other_side,
        stdout=other_side,
        stderr=other_side,
    )
    os.close(other_side)
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        screen = read_until(terminal, b"round 3")
        (folder / "ready").touch()
        screen += read_until(terminal, None)
        assert process.wait(PATIENCE) == 0, screen
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        os.close(terminal)
    assert b"\x1b[?25l" in screen, "the cursor is hidden while it draws"
    assert screen.rindex(b"\x1b[?25h") > screen.rindex(b"\x1b[?25l")
    for words in ("WaitForFile-1  attempt 1", "heartbeat", "checkpoint", "Ctrl-C", "COMPLETED"):
        assert words.encode() in screen


def read_until(terminal: int, words: bytes | None) -> bytes:
    """Read what a terminal shows until the words come, or until its program has ended."""
    seen = b""
    while words is None or words not in seen:
        try:
            new = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed.
            break
        if not new:
            break
        seen += new
    return seen
