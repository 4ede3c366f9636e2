"""Figures of the SQLite provider beside raw sqlite3 at the same pragmas, in the same run."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest

from dexnb.clock import perf_counter
from dexnb.providers import Beat, WorkItem
from dexnb.providers.sqlite import SqliteProvider
from tests.bench.programs import raw_beats
from tests.providers.sqlite_case import HANDLERS, LONG, commit, message, opened, start, work

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

RUNS = 1000
ROUNDS = 3


async def _items(provider: SqliteProvider) -> list[WorkItem]:
    await asyncio.gather(*(start(provider, str(number)) for number in range(RUNS)))
    return list(await provider.fetch_work_items(3600, 0, HANDLERS, RUNS))


async def _beat(provider: SqliteProvider, items: list[WorkItem], tasks: int, count: int) -> float:
    """Give beats a second of so many tasks, each of which waits for its own."""

    async def beating(item: WorkItem) -> None:
        for number in range(count // tasks):
            await provider.record_beats([Beat(item.token, f'{{"seen":{number}}}')])

    began = perf_counter()
    await asyncio.gather(*map(beating, items[:tasks]))
    return count / (perf_counter() - began)


@pytest.mark.parametrize(
    ("tasks", "count", "floor"), [(1, 1000, 0.001), (32, 16_000, 0.02), (1000, 20_000, 0.03)]
)
def test_beats_beside_raw_sqlite(tmp_path: Path, tasks: int, count: int, floor: float) -> None:
    """Of one, 32 and 1000 concurrent calls; medians of interleaved rounds."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            items = await _items(provider)
            ours, raws = [], []
            for number in range(ROUNDS):
                raws.append(raw_beats.measured(str(tmp_path / f"raw-{number}.db"), 20_000)["rate"])
                ours.append(await _beat(provider, items, tasks, count))
            ratio = median(ours) / median(raws)
            print(
                f"\n{tasks} tasks: {median(ours):,.0f} beats/s, raw executemany "
                f"{median(raws):,.0f}/s, ratio {ratio:.1%} (WAL, NORMAL, "
                f"SQLite {sqlite3.sqlite_version})"
            )
            assert ratio > floor

    asyncio.run(body())


def test_flows_of_one_step(tmp_path: Path) -> None:
    """Start, fetch, ack, turn: all that the store does for a Flow of one Step, at FULL."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            began = perf_counter()
            names = [str(number) for number in range(RUNS)]
            await asyncio.gather(
                *(provider.start_run(commit(n, work_items=(work(n),))) for n in names)
            )
            items = await provider.fetch_work_items(LONG, 0, HANDLERS, RUNS)
            acks = [provider.ack_work_item(i.token, message(i.item.run_id[4:])) for i in items]
            await asyncio.gather(*acks)
            runs = await provider.fetch_orchestration_items(LONG, 0, RUNS)
            await asyncio.gather(
                *(
                    provider.ack_orchestration_item(
                        run.token, commit(run.run_id[4:], seqs=(2, 3), status="COMPLETED")
                    )
                    for run in runs
                )
            )
            assert len(runs) == RUNS
            print(f"\n{RUNS / (perf_counter() - began):,.0f} flows of one step a second")

    asyncio.run(body())


@contextmanager
def busy_cell() -> Iterator[None]:
    """Compute in pure Python on another thread, as a notebook's cell does."""
    stop = threading.Event()

    def compute() -> None:
        number = 0
        while not stop.is_set():
            number = (number * 31 + 7) % 1_000_003

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_beats_beside_a_busy_cell(tmp_path: Path) -> None:
    """A thousand pollers, each every half second: nearly all of their beats are kept."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            items = await _items(provider)
            waits: list[float] = []
            end = perf_counter() + 5.0

            async def poll(item: WorkItem, offset: float) -> None:
                await asyncio.sleep(offset)
                while perf_counter() < end:
                    began = perf_counter()
                    await provider.record_beats([Beat(item.token, '{"seen":1}')])
                    waits.append(perf_counter() - began)
                    await asyncio.sleep(max(0.0, 0.5 - (perf_counter() - began)))

            with busy_cell():
                await asyncio.gather(*(poll(item, n / 2000) for n, item in enumerate(items)))
            waits.sort()
            print(
                f"\n{len(waits) / 5:,.0f} of 2,000 beats/s beside a busy cell, durable p50 "
                f"{waits[len(waits) // 2] * 1000:.0f} ms, p99 "
                f"{waits[int(len(waits) * 0.99)] * 1000:.0f} ms"
            )
            assert len(waits) > 5000

    asyncio.run(body())
