"""First figures of the engine, each beside the bare machine in the same run."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dexnb import (
    AsyncContext,
    Clock,
    Flow,
    Runtime,
    Step,
    StepDecision,
    StepList,
    go_to,
    graceful_complete,
)

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

FLOWS = 1000
POLLERS = 200
INTERVAL = 0.02
SECONDS = 4.0


class Count(Step[int]):
    """Goes to itself until it has counted down."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Count one down."""
        return graceful_complete(input) if input <= 1 else go_to(Count, input - 1)


class CountFlow(Flow[int]):
    """As many executions as its input says."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(Count())


class Poll(Step[float]):
    """Beats until its time is over, and counts its rounds."""

    rounds = 0

    async def execute(self, context: AsyncContext, input: float) -> StepDecision:
        """Poll."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + input
        count = 0
        while loop.time() < ends:
            count += 1
            await context.heartbeat(count)
            await asyncio.sleep(INTERVAL)
        Poll.rounds += count
        return graceful_complete()


class PollFlow(Flow[float]):
    """One polling Step."""

    def get_steps(self) -> StepList[float]:
        """Give the Step."""
        return StepList.start_step(Poll())


def _raw_commits(folder: Path) -> float:
    """Give the commits a second of plain sqlite3 with WAL and FULL, one row each."""
    connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
    began = time.perf_counter()
    for number in range(1000):
        connection.execute("INSERT INTO t (text) VALUES (?)", (f"flow {number}",))
    took = time.perf_counter() - began
    connection.close()
    return 1000 / took


async def _flows_a_second(store: Path, steps: int) -> tuple[float, float]:
    async with Runtime(store) as runtime:
        flow = CountFlow()
        cpu, began = time.process_time(), time.perf_counter()
        runs = await asyncio.gather(
            *(runtime.start(flow, f"{steps}-{number}", steps) for number in range(FLOWS))
        )
        await asyncio.gather(*(run.wait() for run in runs))
        return (
            FLOWS / (time.perf_counter() - began),
            (time.process_time() - cpu) / FLOWS * 1e6,
        )


def test_flows_a_second(tmp_path: Path) -> None:
    """1-step and 5-step flows on SQLite at synchronous=FULL, as a ratio to raw commits."""
    raw = _raw_commits(tmp_path)
    for steps in (1, 5):
        rate, cpu = asyncio.run(_flows_a_second(tmp_path / f"{steps}.db", steps))
        print(
            f"\n{steps}-step: {rate:,.0f} flows/s, {cpu:,.0f} us CPU per flow; raw sqlite3 at one "
            f"row a commit {raw:,.0f}/s: ratio {rate / raw:.2f}"
        )


def test_polling_rounds_a_second(tmp_path: Path) -> None:
    """Rounds of many pollers, as a ratio to the same loop without an engine."""

    async def bare() -> int:
        rounds = 0
        loop = asyncio.get_running_loop()
        ends = loop.time() + SECONDS

        async def poll() -> None:
            nonlocal rounds
            while loop.time() < ends:
                rounds += 1
                await asyncio.sleep(INTERVAL)

        await asyncio.gather(*(poll() for _ in range(POLLERS)))
        return rounds

    async def engine() -> int:
        Poll.rounds = 0
        async with Runtime(tmp_path / "store.db") as runtime:
            flow = PollFlow()
            runs = await asyncio.gather(
                *(runtime.start(flow, f"{number}", SECONDS) for number in range(POLLERS))
            )
            await asyncio.gather(*(run.wait() for run in runs))
        return Poll.rounds

    figures = {}
    for name, program in (("bare loop", bare), ("engine", engine)):
        cpu = time.process_time()
        rounds = asyncio.run(program())
        cpu = time.process_time() - cpu
        figures[name] = rounds
        print(
            f"\n{name}: {rounds / SECONDS:,.0f} rounds/s of {POLLERS / INTERVAL:,.0f} offered, "
            f"{cpu / rounds * 1e6:.0f} us CPU per round"
        )
    print(f"ratio {figures['engine'] / figures['bare loop']:.2f}")


def test_latency_of_an_idle_engine(tmp_path: Path) -> None:
    """From start to the end of a 1-step flow, one at a time, on SQLite and in memory."""

    async def one_at_a_time(store: str | Path) -> list[float]:
        times = []
        async with Runtime(store) as runtime:
            flow = CountFlow()
            for number in range(100):
                began = time.perf_counter()
                run = await runtime.start(flow, f"{number}", 1)
                await run.wait()
                times.append(time.perf_counter() - began)
        return times[10:]

    for store in (tmp_path / "store.db", "memory:"):
        times = asyncio.run(one_at_a_time(store))
        print(
            f"\nidle start to end, {'memory' if store == 'memory:' else 'SQLite FULL'}: "
            f"p50 {statistics.median(times) * 1e3:.2f} ms, p99 {max(times) * 1e3:.2f} ms"
        )


def test_speed_of_virtual_time() -> None:
    """A ten-minute poll of 300 rounds on the virtual clock, unmodified Step, engine included."""

    class Wait(Step[int]):
        async def execute(self, context: AsyncContext, input: int) -> StepDecision:
            for round_ in range(input):
                await asyncio.sleep(0)
                await context.heartbeat(round_)
                await asyncio.sleep(2)
            return graceful_complete()

    class WaitFlow(Flow[int]):
        def get_steps(self) -> StepList[int]:
            return StepList.start_step(Wait())

    async def simulate() -> None:
        async with Runtime("memory:") as runtime:
            await (await runtime.start(WaitFlow(), "wait", 300)).wait()

    rate = _repeat(simulate)
    print(f"\nvirtual time: {rate:.0f} ten-minute polls/s alone, {rate * 600:,.0f} x real time")


def _repeat(program: Callable[[], Awaitable[None]], seconds: float = 2.0) -> float:
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        Clock.virtual().run(program())  # type: ignore[arg-type]  # a coroutine function's result
        count += 1
    return count / (time.perf_counter() - began)
