"""What the tests of `dexnb worker` share: Flows, their starts from here, and what a worker says."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from dexnb import connect
from dexnb.cli.target import load, locate
from dexnb.engine import FlowResult
from dexnb.engine.first_turn import begin_run
from dexnb.flow.mapping import map_start
from dexnb.flow.start_options import StartFlowOptions
from tests.cli.processes import PATIENCE

STORE = "w.db"

WAIT = """
import asyncio
import os
from pathlib import Path
from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, graceful_complete

class WaitForFile(Step[None]):
    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        begun = count = context.get_last_heartbeat_value(int) or 0
        print("polling")
        while not Path("ready").exists():
            count += 1
            await context.heartbeat(count)
            await asyncio.sleep(0.05)
        return graceful_complete([context.attempt, begun, os.getpid()])

class WaitFlow(Flow[None]):
    def get_steps(self) -> StepList[None]:
        return StepList.start_step(WaitForFile())
"""
"""Ends when the file `ready` appears: with its attempt, the checkpoint that it began with, and who
ran it."""


def write_flow(folder: Path, text: str = WAIT) -> None:
    """Put a file with Flows there."""
    (folder / "wait.py").write_text(text, "utf-8")


def start(count: int) -> None:
    """Start so many runs from this process, which does not know how to run them itself."""

    async def starting() -> None:
        flow = load(locate("wait.py"))
        async with connect.Runtime(STORE) as runtime:
            for number in range(count):
                message = map_start(flow, f"job-{number}", None, {}, StartFlowOptions())
                await begin_run(runtime.engine, message)

    asyncio.run(starting())


def results() -> list[FlowResult]:
    """Wait from this process for the end of all runs."""

    async def waiting() -> list[FlowResult]:
        async with connect.Runtime(STORE) as runtime:
            return [await run.wait(PATIENCE) for run in await runtime.runs()]

    return asyncio.run(waiting())


class Said:
    """The JSON lines of a worker, as they come; a line that is none fails the test.

    Args:
        process: With standard error as a pipe.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Start to read on a thread."""
        self.lines: list[dict[str, Any]] = []
        self.strange: list[str] = []
        self.text = ""
        self._process = process
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def wait_for(self, event: str, count: int = 1, **fields: Any) -> list[dict[str, Any]]:
        """Give the lines of an event with these fields, once there are so many."""
        until = time.monotonic() + PATIENCE
        with self._news:
            while len(found := self.of(event, **fields)) < count:
                left = until - time.monotonic()
                assert left > 0, f"no {count} {event} {fields} in:\n{self.text}"
                assert self._thread.is_alive(), f"it ended without {event} {fields}:\n{self.text}"
                self._news.wait(min(left, 0.5))
        return found

    def port(self) -> int:
        """Give the port where its health is served."""
        return int(self.wait_for("health_served")[0]["port"])

    def of(self, event: str, **fields: Any) -> list[dict[str, Any]]:
        """Give the lines of an event with these fields."""
        return [line for line in self.lines if line.items() >= {"event": event, **fields}.items()]

    def end(self) -> int:
        """Wait until the process and its children have ended; give its exit code."""
        code = self._process.wait(PATIENCE)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "a child outlives its parent"
        assert self.strange == []
        return code

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._news:
                self.text += line
                try:
                    self.lines.append(
                        {name: _plain(value) for name, value in json.loads(line).items()}
                    )
                except ValueError:
                    self.strange.append(line)
                self._news.notify_all()


def _plain(value: Any) -> Any:
    # So that lines can be compared as sets of fields.
    return tuple(value) if isinstance(value, list) else value


def ask(port: int, path: str) -> tuple[int, str]:
    """Get a page from a worker; give status and text."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def ask_until(port: int, path: str, *parts: str, status: int = 200) -> str:
    """Ask for a page until it has this status and these parts; give it."""
    until = time.monotonic() + PATIENCE
    while True:
        found, text = ask(port, path)
        if found == status and all(part in text for part in parts):
            return text
        assert time.monotonic() < until, f"{found} {text}"
        time.sleep(0.1)
