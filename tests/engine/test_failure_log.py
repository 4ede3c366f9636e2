"""What a script sees of attempts that fail, without a page and without asking for the events."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dexnb import AsyncContext, StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.engine.user_traceback import TRACEBACK, raised_at, user_traceback
from dexnb.errors import DefinitionError
from dexnb.model.arguments import of_type
from dexnb.model.event import Event
from dexnb.model.json_text import to_text
from dexnb.model.run_view import view_of
from tests.engine.flows import finished, flow, step, with_runtime

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


def tracebacks(events: Sequence[Event]) -> list[tuple[int, str]]:
    """Give attempt and text of each traceback in a run's log."""
    return [
        (event.attempt, event.payload["line"])
        for event in events
        if event.kind == "log" and event.payload["source"] == TRACEBACK
    ]


@with_runtime
async def test_a_failed_attempts_traceback_is_in_the_runs_log_and_not_in_its_history(
    runtime: Runtime,
) -> None:
    """With the frames of the author's own code, and with the cause."""

    async def breaks(context: AsyncContext, input: Any) -> StepDecision:
        try:
            return graceful_complete(1 / input)
        except ZeroDivisionError as error:
            raise ConnectionError("no route") from error

    run = await runtime.start(flow(step(breaks, attempts=2, initial=1)), "flow", 0)
    assert (await finished(run)).status == "FAILED"
    (first, text), (second, again) = tracebacks(await run.events())
    assert (first, second, again) == (1, 2, text)
    assert text.splitlines()[-1] == "ConnectionError: no route"
    assert text.index("graceful_complete(1 / input)") < text.index('raise ConnectionError("no ro')
    assert set(re.findall(r'File "(.*)", line', text)) == {__file__}
    durable = [to_text(event.payload) for event in await run.events() if event.durable]
    assert not any("Traceback" in payload for payload in durable)
    (_, last) = view_of(await run.events())["log"]
    assert (last["source"], last["line"], last["attempt"]) == ("traceback", text, 2)


def test_a_traceback_is_bounded_and_keeps_its_end() -> None:
    """Deep recursion, a huge text, half a character, and a group of errors."""

    def deep(left: int) -> None:
        if not left:
            raise ValueError("x" * 50_000 + "\ud800")
        deep(left - 1)

    def other(left: int) -> None:
        deep(left - 1) if left % 2 else other(left - 1)

    for call in (lambda: deep(3), lambda: deep(900), lambda: other(900), lambda: 1 / 0):
        with pytest.raises((ValueError, ZeroDivisionError)) as caught:
            call()
        for error in (caught.value, ExceptionGroup("both", [caught.value] * 30)):
            text = user_traceback(error)
            assert 60 < len(text) <= 4000
            assert text.encode("utf-8")
    assert text.count("ZeroDivisionError: division by zero") > 5
    assert raised_at(text).endswith("in <lambda>")
    assert raised_at(user_traceback(caught.value)).endswith("in <lambda>")


def test_an_error_of_the_runtime_alone_keeps_its_frames() -> None:
    """Where the author's code has none, they are all that there is."""
    with pytest.raises(DefinitionError) as caught:
        of_type(1, str, "name", "a text")
    error = caught.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next
    assert "in of_type" in raised_at(user_traceback(error))
    assert raised_at(user_traceback(ValueError("made, never raised"))) == ""


def test_the_logger_can_be_silenced_as_any_other(tmp_path: Path) -> None:
    """By its name."""
    quiet = "import logging; logging.getLogger('dexnb').setLevel(logging.CRITICAL)"
    assert told(tmp_path, quiet) == ""


def test_nothing_is_said_in_a_notebook(tmp_path: Path) -> None:
    """It would stand in whatever cell runs; the Lab shows it."""
    shell = "from IPython.core.interactiveshell import InteractiveShell as S; S.instance()"
    assert told(tmp_path, shell) == ""


@with_runtime
async def test_a_failure_that_cannot_be_told_is_retried_like_any_other(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when Python fails over the lines of code that a traceback would show."""

    async def breaks(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt == 1:
            raise ValueError("once")
        return graceful_complete(context.attempt)

    def fails(error: BaseException) -> str:
        raise SystemError("recursion depth mismatch")

    monkeypatch.setattr("dexnb.engine.failure_log.user_traceback", fails)
    run = await runtime.start(flow(step(breaks)), "flow")
    assert (await finished(run)).output == 2
    (note,) = [event for event in await run.events() if event.kind == "engine_error"]
    assert "cannot be told: SystemError: recursion depth mismatch" in note.payload["error"]
