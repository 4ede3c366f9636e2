"""What a store that has seen a million Flows costs those who fetch from it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

import pytest

from dexnb import AsyncContext, Flow, Runtime, Step, StepDecision, StepList, graceful_complete
from dexnb.providers.sqlite import SqliteProvider
from tests.providers.sqlite_case import HANDLERS, LONG, message, opened, raw, start, take

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

FINISHED = 1_000_000
FETCHES = 300
MOST_RATIO = 2.0


class End(Step[int]):
    """Ends at once."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """End."""
        await context.heartbeat(input)
        return graceful_complete(input)


class EndingFlow(Flow[int]):
    """One Step."""

    def get_steps(self) -> StepList[int]:
        """Give the Step."""
        return StepList.start_step(End())


async def _finish_one(store: Path) -> None:
    async with Runtime(store) as runtime:
        ended = await (await runtime.start(EndingFlow(), "first", 1)).wait()
        assert ended.status == "COMPLETED"


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _copy(connection: sqlite3.Connection, table: str, changed: dict[str, str]) -> None:
    """Copy the rows of the one finished run for each number, with some columns changed."""
    columns = _columns(connection, table)
    values = ", ".join(changed.get(column, f"t.{column}") for column in columns)
    connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608 - names of our own tables
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
        f"SELECT {values} FROM n CROSS JOIN {table} t",
        (FINISHED - 1,),
    )


def _finish_a_million(store: Path) -> None:
    """Multiply what one real Flow has left: its run, its history, its telemetry."""
    asyncio.run(_finish_one(store))
    with raw(store) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        name = "t.{0} || '-' || n.i"
        own = {"run_id": name.format("run_id"), "flow_id": name.format("flow_id")}
        connection.execute("BEGIN")
        _copy(connection, "events", {"run_no": "t.run_no + n.i"})
        _copy(connection, "telemetry", {"id": "t.id + n.i * 100", "run_id": own["run_id"]})
        _copy(connection, "runs", {"no": "t.no + n.i", **own})
        connection.execute("COMMIT")
        count = connection.execute("SELECT count(*) FROM runs WHERE status = 'COMPLETED'")
        assert count.fetchone() == (FINISHED,)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def _timed(fetch: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await fetch()
    return time.perf_counter() - began


async def _fetch(provider: SqliteProvider, number: int) -> dict[str, float]:
    """Give the seconds of each kind of fetch, with nothing and with something to find."""
    name = f"new-{number}"

    async def nothing() -> None:
        assert await provider.fetch_work_item(LONG, 0, HANDLERS) is None

    async def no_turn() -> None:
        assert await provider.fetch_orchestration_item(LONG, 0) is None

    async def turn() -> None:
        item = await provider.fetch_orchestration_item(LONG, 0)
        assert item is not None
        assert item.run_id == f"run-{name}"

    times = {"no work": await _timed(nothing), "no turn": await _timed(no_turn)}
    await start(provider, name)
    times["work"] = await _timed(lambda: take(provider))
    await provider.enqueue_for_orchestrator(message(name))
    times["turn"] = await _timed(turn)
    return times


async def _compare(empty: Path, full: Path) -> dict[str, tuple[float, float]]:
    """Give the median of each kind of fetch from both stores, taken in turn."""
    async with opened(empty) as without, opened(full) as beside:
        times = [(await _fetch(without, n), await _fetch(beside, n)) for n in range(FETCHES)]
    return {
        kind: (median(pair[0][kind] for pair in times), median(pair[1][kind] for pair in times))
        for kind in times[0][0]
    }


def test_a_fetch_costs_the_same_after_a_million_flows(tmp_path: Path) -> None:
    """Each kind of fetch, in turn from an empty store and from one with a million that ended."""
    began = time.perf_counter()
    _finish_a_million(tmp_path / "full.db")
    size = (tmp_path / "full.db").stat().st_size
    print(f"\n{FINISHED:,} finished: {size / 1e9:.2f} GB in {time.perf_counter() - began:.0f} s")

    figures = asyncio.run(_compare(tmp_path / "empty.db", tmp_path / "full.db"))
    for kind, (empty, full) in figures.items():
        print(f"{kind}: {empty * 1e6:,.0f} us empty, {full * 1e6:,.0f} us full: {full / empty:.2f}")
    assert [kind for kind, (empty, full) in figures.items() if full > MOST_RATIO * empty] == []
