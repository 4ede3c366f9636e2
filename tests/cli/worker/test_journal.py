"""What a worker logs of its engine's work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dexnb import AsyncContext, StepDecision, graceful_complete
from dexnb.cli.worker.job import Job
from dexnb.cli.worker.journal import Journal
from dexnb.cli.worker.log_lines import log_lines
from dexnb.clock import Clock
from dexnb.engine import Runtime
from dexnb.engine.counts import Counts
from dexnb.providers import MemoryProvider, Provider
from dexnb.testing.faulty import Fault, FaultyProvider
from tests.engine.flows import fast, flow, step


async def end(context: AsyncContext, input: str) -> StepDecision:
    """End with what it was given."""
    await context.heartbeat(f"checkpoint {input}")
    return graceful_complete(f"output {input}")


END = step(end)
Logged = Callable[[Provider], list[dict[str, Any]]]


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Logged:
    """Give `logged(store)`: what is logged of one run there, in virtual time."""

    def run(store: Provider) -> list[dict[str, Any]]:
        async def in_time() -> None:
            runtime = Runtime(store, options=fast())
            runtime.engine.observers.append(Journal(runtime.engine.counts))
            async with runtime:
                run = await runtime.start(flow(END), "job-1", "my input")
                await run.wait(60)
                await asyncio.sleep(60)  # a long poll ends within it

        with log_lines(Job((), "", 0.0, "json", "debug", 1)):
            Clock.virtual().run(in_time())
        return [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    return run


def test_a_good_run_is_told_without_its_values(logged: Logged) -> None:
    """Start and end for everyone, attempts for who asks for debug."""
    lines = logged(MemoryProvider())
    assert [(line["event"], line["level"]) for line in lines] == [
        ("run_started", "info"),
        ("attempt_started", "debug"),
        ("attempt_completed", "debug"),
        ("run_ended", "info"),
    ]
    assert {line["flow"] for line in lines} == {"job-1"}
    assert lines[1]["step"] == "End-1"
    assert lines[3]["status"] == "COMPLETED"
    assert "my input" not in json.dumps(lines)


def test_errors_of_the_store_are_told_once_and_their_end_too(logged: Logged) -> None:
    """Not ten times a second for as long as it is away."""
    faults = [Fault("fetch_work_items", calls=range(2, 5))]
    lines = logged(FaultyProvider(MemoryProvider(), faults))
    told = [line for line in lines if line["event"].startswith("fetch_")]
    assert [line["event"] for line in told] == ["fetch_failed", "fetch_works_again"]
    assert (told[0]["queue"], told[0]["level"]) == ("work", "error")
    assert "injected fault" in told[0]["detail"]


def test_poison_is_told(logged: Logged) -> None:
    """And the end of the run that it was found in."""
    store = MemoryProvider()
    begin = store.store.begin

    def spoil(operation: str, commit: Any) -> None:
        items = tuple(replace(item, payload="{") for item in commit.work_items)
        begin(operation, replace(commit, work_items=items))

    store.store.begin = spoil  # type: ignore[method-assign]
    lines = logged(store)
    assert [(line["event"], line["level"]) for line in lines] == [
        ("poison", "error"),
        ("run_ended", "error"),
    ]
    assert lines[0]["step"] == "End-1"
    assert lines[1]["status"] == "FAILED"


@pytest.mark.parametrize(
    ("kind", "payload", "event", "level"),
    [
        ("stall", {"step": "F.S", "seconds": 1.23456, "line": 12}, "stall", "warning"),
        ("attempt_ended", {"reason": "lost"}, "attempt_lost", "warning"),
        ("attempt_ended", {"reason": "cancelled"}, "attempt_cancelled", "info"),
        ("late_write", {"what": "heartbeat", "reason": "lost"}, "late_write", "warning"),
        ("suspended", {"seconds": 60.0}, "suspended", "warning"),
        ("engine_error", {"error": "OSError: disk full"}, "engine_error", "error"),
    ],
)
def test_what_goes_wrong_in_an_attempt_is_told(
    capsys: pytest.CaptureFixture[str], kind: Any, payload: dict[str, Any], event: str, level: str
) -> None:
    """With flow, run, Step and attempt; the same error not twice in a row."""
    names = {"flow": "job-1", "flow_type": "F", "run": "r", "step": "S-1", "attempt": 2}
    attempt: Any = SimpleNamespace(names=names)
    journal = Journal(Counts(MemoryProvider()))
    with log_lines(Job((), "", 0.0, "json", "info", 1)):
        journal.attempt(attempt, kind, payload)
        if kind == "engine_error":
            journal.attempt(attempt, kind, payload)
        journal.attempt(attempt, "heartbeat", {"checkpoint": "x"})
    [line] = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert line.items() >= {**names, "event": event, "level": level}.items()
