"""What a script sees of attempts that fail, without a page and without asking for the events."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from datetime import timedelta
import dexnb as dex

class Breaks(dex.Step[None]):
    def get_step_options(self) -> dex.StepOptions:
        policy = dex.RetryPolicy(initial_interval=timedelta(seconds=0.01), maximum_attempts=2)
        return dex.StepOptions(execute_retry=policy)

    def execute(self, context: dex.Context, input: None) -> dex.StepDecision:
        return dex.graceful_complete(1 / 0)

class Broken(dex.Flow[None]):
    def get_steps(self) -> dex.StepList[None]:
        return dex.StepList.start_step(Breaks())

{before}
with dex.open("memory:") as runtime:
    print(runtime.start(Broken(), "broken").wait_sync(20).status)
"""


def told(tmp_path: Path, before: str = "") -> str:
    """Run a script whose Step fails twice; give what it writes to stderr."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(before=before), "utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=50
    )
    assert done.stdout == "FAILED\n"
    return done.stderr


def test_a_script_is_told_of_each_failed_attempt_with_its_line(tmp_path: Path) -> None:
    """On the logger `dexnb`: what failed, where, and when it is tried again."""
    text = told(tmp_path)
    assert "Broken.Breaks-1 of broken, attempt 1 failed: builtins.ZeroDivisionError" in text
    assert "again in 0.01 s" in text
    assert "attempt 2 failed" in text
    assert "no other attempt follows" in text
    assert text.count("return dex.graceful_complete(1 / 0)") == 2


def test_any_text_of_an_error_can_be_written(tmp_path: Path) -> None:
    """Half a character, as of a foreign file name, does not break the log."""
    before = "Breaks.execute = lambda self, context, input: exec('raise OSError(chr(0xDC80))')"
    types = "{'context': dex.Context, 'input': None, 'return': dex.StepDecision}"
    text = told(tmp_path, f"{before}; Breaks.execute.__annotations__ = {types}")
    assert "OSError: \\udc80; again in 0.01 s" in text
    assert "Logging error" not in text


def test_the_logger_can_be_silenced_as_any_other(tmp_path: Path) -> None:
    """By its name."""
    quiet = "import logging; logging.getLogger('dexnb').setLevel(logging.CRITICAL)"
    assert told(tmp_path, quiet) == ""


def test_nothing_is_said_in_a_notebook(tmp_path: Path) -> None:
    """It would stand in whatever cell runs; the Lab shows it."""
    shell = "from IPython.core.interactiveshell import InteractiveShell as S; S.instance()"
    assert told(tmp_path, shell) == ""
