"""Long waits and many of them: what they leave in memory and on disk, and what the import costs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

import dexnb
from dexnb import (
    AsyncContext,
    Clock,
    Flow,
    Runtime,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    graceful_complete,
)
from dexnb.model.run_view import view_of

ROUNDS = 50_000
FLOWS = 10_000
MOST_IMPORT_SECONDS = 0.02


class Unchanged(Step[int]):
    """Polls a job whose state stays the same."""

    def get_step_options(self) -> StepOptions:
        """Allow for two days."""
        return StepOptions(execute_method_timeout=timedelta(days=2))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Beat with the same state in every round."""
        for _ in range(input):
            await context.heartbeat("RUNNING")
            await asyncio.sleep(2)
        return graceful_complete()


class UnchangedFlow(Flow[int]):
    """One polling Step."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Unchanged())


def _resident() -> int:
    """Give the resident bytes of this process."""
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.timeout(180)
def test_a17_fifty_thousand_unchanged_rounds_leave_nothing_behind(tmp_path: Path) -> None:
    """History under 20 rows, the file under 1 MB, the view under 200 kB and quick to fold."""
    store = tmp_path / "store.db"

    async def poll() -> tuple[int, int, int, float]:
        async with Runtime(store) as runtime:
            before = _resident()
            run = await runtime.start(UnchangedFlow(), "long", ROUNDS)
            assert (await run.wait()).status == "COMPLETED"
            grown = _resident() - before
            events = await run.events()
            began = time.perf_counter()
            view = view_of(events)
            took = time.perf_counter() - began
            durable = sum(event.durable for event in events)
            return durable, grown, len(json.dumps(view)), took

    durable, grown, view_bytes, took = Clock.virtual().run(poll())
    on_disk = sum(file.stat().st_size for file in tmp_path.glob("store.db*") if file.is_file())
    print(
        f"\n{ROUNDS:,} rounds: {durable} durable events, {on_disk / 1e6:.2f} MB on disk, "
        f"{grown / 1e6:.0f} MB of memory, view {view_bytes / 1e3:.0f} kB folded in {took:.2f} s"
    )
    assert durable < 20
    assert on_disk < 1_000_000
    assert grown < 100_000_000
    assert view_bytes < 200_000
    assert took < 5.0


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.timeout(240)
def test_ten_thousand_waiting_flows_hold(tmp_path: Path) -> None:
    """All are started, beat, and are there again after an orderly stop."""
    store = tmp_path / "store.db"

    async def hold() -> tuple[float, float, float]:
        async with Runtime(store, own_step_thread=True) as runtime:
            before, began = _resident(), time.monotonic()
            flow = UnchangedFlow()
            for part in range(0, FLOWS, 500):
                numbers = range(part, part + 500)
                await asyncio.gather(*(runtime.start(flow, f"w-{n}", 1000) for n in numbers))
            while len(runtime.engine.worker.live) < FLOWS:
                await asyncio.sleep(0.05)
            started = time.monotonic() - began
            grown = (_resident() - before) / FLOWS
            cpu = time.process_time()
            await asyncio.sleep(5.0)
            cpu = (time.process_time() - cpu) / 5.0
            assert len(runtime.engine.worker.live) == FLOWS
            return started, grown, cpu

    async def count() -> int:
        async with Runtime(store) as runtime:
            return len(await runtime.runs(status="RUNNING", limit=2 * FLOWS))

    started, grown, cpu = asyncio.run(hold())
    left = asyncio.run(count())
    print(
        f"\n{FLOWS:,} waiting flows: started in {started:.1f} s, {grown / 1e3:.1f} kB each, "
        f"{cpu:.0%} of a core while they poll every 2 s, {left:,} open after the stop"
    )
    assert left == FLOWS
    assert grown < 40_000


@pytest.mark.timing
def test_the_import_is_light() -> None:
    """Under 20 ms beside asyncio and sqlite3, and none of the heavy parts."""
    program = (
        "import asyncio, sqlite3, sys, time\n"
        "began = time.perf_counter()\n"
        "import dexnb\n"
        "print(time.perf_counter() - began)\n"
        "heavy = {'plotly', 'networkx', 'anywidget', 'aiosqlite', 'IPython', 'ipywidgets'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    times = []
    for _ in range(7):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        seconds, heavy = done.stdout.splitlines()
        assert heavy == "[]"
        times.append(float(seconds))
    print(f"\nimport dexnb: {min(times) * 1e3:.1f} ms net, of {dexnb.__version__}")
    assert min(times) < MOST_IMPORT_SECONDS
