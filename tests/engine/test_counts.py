"""What an engine counts of its own work, and whom it tells of it."""

from __future__ import annotations

import asyncio
from typing import Any

from dexnb import AsyncContext, StepDecision, go_to, graceful_complete
from dexnb.engine import Runtime
from dexnb.engine.attempt import Attempt
from dexnb.engine.durations import BOUNDS, Durations
from dexnb.engine.observer import Observer
from dexnb.model.event import TelemetryKind
from dexnb.providers import Commit, MemoryProvider
from dexnb.providers.memory_store import MemoryStore
from tests.engine.flows import finished, flow, step, virtual, with_runtime


async def beat_twice(context: AsyncContext, input: None) -> StepDecision:
    """Say twice that it lives."""
    await context.heartbeat(1)
    await context.heartbeat(2)
    return graceful_complete(None)


async def fail_once(context: AsyncContext, input: None) -> StepDecision:
    """Fail at the first attempt."""
    if context.attempt == 1:
        raise OSError("no")
    return go_to(LAST, None)


LAST = step(beat_twice)


@with_runtime
async def test_attempts_heartbeats_runs_and_turns_are_counted(runtime: Runtime) -> None:
    """By Flow type and outcome; a run counts once, however many attempts and Steps it has."""
    made = flow(fail_once, LAST)
    for number in range(3):
        await finished(await runtime.start(made, f"job-{number}"))
    counts = runtime.engine.counts
    assert counts.flows_started == {"TestFlow": 3}
    assert counts.flows_ended == {("TestFlow", "COMPLETED"): 3}
    assert counts.attempts == {("TestFlow", "failed"): 3, ("TestFlow", "completed"): 6}
    assert counts.heartbeats == {"TestFlow": 6}
    assert counts.takeovers.total() == counts.poison.total() == counts.stalls.total() == 0
    assert counts.commits >= 3 * 3
    assert counts.fetches["work", "hit"] >= 3
    assert sum(counts.beat_lag.counts) >= 3
    time, result = counts.fetched["work"]
    assert result in ("hit", "empty")
    assert 0 <= runtime.engine.provider.clock.now() - time < 60


@virtual
async def test_a_run_that_was_handed_back_is_not_started_again() -> None:
    """Another engine goes on with it: it has begun before."""

    async def long(context: AsyncContext, input: None) -> StepDecision:
        await asyncio.sleep(60)
        return graceful_complete(None)

    made, store = flow(long), MemoryStore()
    async with Runtime(MemoryProvider(store)) as first:
        await first.start(made, "job")
        await asyncio.sleep(30)
    assert first.engine.counts.flows_started == {"TestFlow": 1}
    assert first.engine.counts.attempts == {("TestFlow", "handed_back"): 1}
    async with Runtime(MemoryProvider(store)) as second:
        await finished(await second.start(made, "job"))
    assert second.engine.counts.flows_started == {"TestFlow": 0}
    assert second.engine.counts.flows_ended == {("TestFlow", "COMPLETED"): 1}


class Notes(Observer):
    """Keeps what it is told."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.told: list[str] = []

    def attempt(self, attempt: Attempt, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Note kind and Step."""
        self.told.append(f"{kind} {attempt.names['step']}")

    def engine(self, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Note kind and queue."""
        self.told.append(f"{kind} {payload['queue']}")

    def committed(self, commit: Commit) -> None:
        """Note the last event."""
        self.told.append(commit.events[-1].kind)


@virtual
async def test_an_observer_is_told_of_everything() -> None:
    """Attempts, dispatchers and turns, in their order."""
    runtime, notes = Runtime(MemoryProvider()), Notes()
    runtime.engine.observers.append(notes)
    async with runtime:
        await finished(await runtime.start(flow(LAST), "job"))
    told = [each for each in notes.told if not each.startswith("dispatcher_cycle")]
    assert told == [
        "step_scheduled",
        "attempt_started BeatTwice-1",
        "heartbeat BeatTwice-1",
        "heartbeat BeatTwice-1",
        "attempt_ended BeatTwice-1",
        "flow_closed",
    ]
    assert {"dispatcher_cycle work", "dispatcher_cycle orchestration"} & set(notes.told)


def test_durations_fall_under_their_bounds() -> None:
    """A bound counts what is as long as itself."""
    durations = Durations()
    for seconds in (0.0, BOUNDS[0], BOUNDS[0] * 1.01, BOUNDS[-1], BOUNDS[-1] + 1):
        durations.add(seconds)
    assert durations.counts[0] == 2
    assert durations.counts[1] == 1
    assert durations.counts[-2:] == [1, 1]
    assert round(durations.seconds, 3) == round(2 * BOUNDS[-1] + 1 + 2.01 * BOUNDS[0], 3)
