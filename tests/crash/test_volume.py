"""Thousands of Flows under `kill -9`: every one ends once, and the right way."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dexnb.clock import Clock
from dexnb.model.history import fold
from dexnb.model.run_state import RunState
from dexnb.providers import RunRecord
from dexnb.providers.sqlite import SqliteProvider
from tests.crash import volume_child

MOST_WAL = 64 << 20
PAGE = 1000


def _child(store: Path, flows: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", str(volume_child.__file__), str(store), str(flows)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def _run_and_kill(store: Path, flows: int, seconds: float) -> bool:
    """Let a worker work for a while; tell whether it was done before that."""
    with _child(store, flows) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        try:
            done, errors = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.communicate()
            return False
    assert (done, errors) == ("done\n", "")
    return True


async def _check_all(store: Path, flows: int) -> int:
    """Every Flow has one run, whose history adds up to its right end; give the count of retries."""
    provider = SqliteProvider(store)
    await provider.open(Clock.real(), "reader")
    try:
        records: list[RunRecord] = []
        while page := await provider.list_runs(
            limit=PAGE, before=records[-1].run_id if records else ""
        ):
            records += page
        assert len(records) == flows
        assert len({record.flow_id for record in records}) == flows
        again = [await _check(provider, record) for record in records]
        depths = await provider.queue_depths()
        assert (depths.messages, depths.work_items, depths.leased) == (0, 0, 0)
    finally:
        await provider.close()
    return sum(again)


async def _check(provider: SqliteProvider, record: RunRecord) -> bool:
    events = await provider.read_events(record.run_id)
    state = RunState.from_text(record.state)
    assert fold(events) == state
    ends = [event.kind for event in events if event.kind == "flow_closed"]
    done = [event for event in events if event.kind == "step_completed"]
    outputs = [completion["output"] for completion in state.completions]
    # A Step may run twice; what it has counted was taken once.
    assert (state.status, ends, outputs) == ("COMPLETED", ["flow_closed"], [volume_child.STEPS])
    assert [event.step_execution_id for event in done] == ["Count-1", "Count-2", "Count-3"]
    return any(event.attempt > 1 for event in done)


def _survive(store: Path, flows: int, *, longest: float) -> None:
    seed = random.SystemRandom().randrange(1_000_000)
    print(f"\nseed {seed}")
    chance, kills, largest, began = random.Random(seed), 0, 0, time.monotonic()
    while not _run_and_kill(store, flows, chance.uniform(0.05, longest)):
        kills += 1
        largest = max(largest, store.with_name(f"{store.name}-wal").stat().st_size)
        # What is left must get done between two kills in the end.
        longest *= 1.2
    again = asyncio.run(_check_all(store, flows))
    size = store.stat().st_size / flows
    print(
        f"{flows:,} Flows ended once under {kills} kills in {time.monotonic() - began:.0f} s, "
        f"{again:,} of them with an attempt behind the first; the file has {size:,.0f} bytes a "
        f"Flow, its largest -wal had {largest / (1 << 20):.1f} MiB"
    )
    assert kills
    assert largest < MOST_WAL
    assert not store.with_name(f"{store.name}-wal").exists()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_five_thousand_flows_end_once_under_random_kills(tmp_path: Path) -> None:
    """Workers live for some seconds each."""
    _survive(tmp_path / "store.db", 5_000, longest=3.0)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_a_hundred_thousand_flows_end_once_under_random_kills(tmp_path: Path) -> None:
    """The same for long, with workers that live up to ten seconds."""
    _survive(tmp_path / "store.db", 100_000, longest=10.0)
