"""A process that was told to stop ends, whatever holds it up."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dexnb.cli.exits import FAILED
from dexnb.cli.worker.job import Job
from tests.cli.processes import PATIENCE, ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")

CHILD = """
import sys
from dexnb.cli.worker import child, hard_end
hard_end.STOP_GRACE = hard_end.OWN_GRACE = 0.1
sys.exit(child.main())
"""

FLOW = """
import dexnb as dex

class Ends(dex.Step[None]):
    async def execute(self, context: dex.AsyncContext, input: None) -> dex.StepDecision:
        return dex.graceful_complete(None)

class EndsFlow(dex.Flow[None]):
    def get_steps(self) -> dex.StepList[None]:
        return dex.StepList.start_step(Ends())
"""

NEVER_ENDS = """
import threading
threading.Thread(target=threading.Event().wait).start()
"""
"""What keeps an interpreter from its end when everything else has ended in order."""


@pytest.fixture
def stuck(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Give a process of a worker that serves, and that has a reason not to end."""
    (folder / "ends.py").write_text(FLOW + NEVER_ENDS, "utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(Job(("ends.py",), "w.db", 0.1, "json", "info", 1).to_line())
    process.stdin.flush()
    assert any('"serving"' in line for line in process.stderr)
    yield process
    process.kill()
    process.communicate()


def test_what_does_not_end_after_its_drain_ends_itself(stuck: subprocess.Popen[str]) -> None:
    """Told by its parent's death: nobody is left then who would kill it."""
    assert stuck.stdin is not None
    stuck.stdin.close()
    stuck.stdin = None
    assert stuck.wait(PATIENCE) == FAILED
