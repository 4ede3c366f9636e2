"""Heartbeats beside a busy or blocked caller, and many waiting Flows."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import dexnb
from dexnb import (
    AsyncContext,
    Flow,
    RetryPolicy,
    RuntimeOptions,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    graceful_complete,
)

POLLERS = 1000
INTERVAL = 0.5
WINDOW = 5.0
LATE_SECONDS = 0.25
ON_TIME = 0.95


class Watch:
    """Counts the beats of all pollers."""

    def __init__(self) -> None:
        """Start at zero."""
        self.lateness: list[tuple[float, float]] = []
        self.attempts: list[int] = []
        self.stop = False


class Poll(Step[None]):
    """Beats with a changing checkpoint every half second until it is told to stop."""

    def __init__(self, watch: Watch) -> None:
        """Report to this watch."""
        self._watch = watch

    def get_step_options(self) -> StepOptions:
        """Take the shortest silence that is tested: four intervals."""
        return StepOptions(
            heartbeat_timeout=timedelta(seconds=4 * INTERVAL),
            execute_retry=RetryPolicy(maximum_attempts=3),
        )

    async def execute(self, context: AsyncContext, input: None) -> StepDecision:
        """Poll."""
        watch = self._watch
        watch.attempts.append(context.attempt)
        due = time.monotonic()
        while not watch.stop:
            now = time.monotonic()
            await context.heartbeat(now)
            watch.lateness.append((due, now - due))
            due = now + INTERVAL
            await asyncio.sleep(INTERVAL)
        return graceful_complete()


class PollingFlow(Flow[None]):
    """One polling Step."""

    def __init__(self, watch: Watch) -> None:
        """Report to this watch."""
        self._step = Poll(watch)

    def get_steps(self) -> StepList[None]:
        """Give the one Step."""
        return StepList.start_step(self._step)


def _compute_in_a_thread(seconds: float) -> None:
    ends = time.monotonic() + seconds

    def compute() -> None:
        number = 0
        while time.monotonic() < ends:
            for _ in range(10_000):
                number = (number * 31 + 7) % 1_000_003

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()


@pytest.fixture
def polling(tmp_path: Path) -> Iterator[tuple[Watch, Path]]:
    """Run a thousand pollers on SQLite while the test goes on."""
    watch = Watch()
    options = RuntimeOptions(minimum_heartbeat_timeout=timedelta(seconds=1))
    store = tmp_path / "store.db"
    with dexnb.open(store, options=options) as runtime:
        flow = PollingFlow(watch)
        runs = [runtime.start(flow, f"poll-{number}") for number in range(POLLERS)]
        # A full collection of what pytest holds takes 0.2 s alone, and twice that beside a thread
        # that computes: it would be judged here, and is no part of the engine.
        gc.collect()
        gc.freeze()
        yield watch, store
        gc.unfreeze()
        watch.stop = True
        for run in runs:
            assert run.wait_sync(30).status == "COMPLETED"


def _stored_lag(store: Path) -> float:
    """Give the age of the oldest newest-checkpoint in the file."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as reader:
        rows = reader.execute("SELECT checkpoint FROM work_items").fetchall()
    reader.close()
    assert len(rows) == POLLERS
    now = time.monotonic()
    return max(now - float(text) for (text,) in rows)


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.timeout(120)
@pytest.mark.parametrize("burden", [_compute_in_a_thread, time.sleep], ids=["compute", "block"])
def test_heartbeats_stay_on_time(
    polling: tuple[Watch, Path], burden: Callable[[float], None]
) -> None:
    """At least 95 % of due beats come and are stored, and no heartbeat timeout fires."""
    watch, store = polling
    began = time.monotonic()
    burden(WINDOW)
    ended = time.monotonic()
    lag = _stored_lag(store)
    due = [late for when, late in list(watch.lateness) if began <= when < ended - LATE_SECONDS]
    on_time = sum(late < LATE_SECONDS for late in due) / len(due)
    share = len(due) / (POLLERS * (ended - began - LATE_SECONDS) / INTERVAL)
    print(
        f"\n{burden.__name__}: {on_time:.1%} of {len(due)} due beats on time ({share:.1%} of the "
        f"undisturbed number), oldest stored checkpoint {lag:.2f} s old"
    )
    assert on_time >= ON_TIME
    assert share >= 0.8
    assert set(watch.attempts) == {1}
    assert lag < 4 * INTERVAL
