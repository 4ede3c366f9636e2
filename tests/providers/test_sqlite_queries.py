"""What a fetch costs does not depend on what is leased, delayed or finished."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dexnb.providers.sqlite import SqliteProvider
from dexnb.providers.sqlite.statements import schema, statements
from tests.providers.sqlite_case import HANDLERS, LONG, commit, message, opened, raw, start, work

Fill = Callable[[SqliteProvider, int], Coroutine[Any, Any, None]]

FETCHES = ("ready_work", "ready_turns", "next_work", "next_turn")
SCANS_ON_PURPOSE = re.compile(
    r"SCAN (CONSTANT ROW|meta|owners|(\w+ )?VIRTUAL TABLE|\w+ VIRTUAL TABLE.*|given|ready"
    r"|\(subquery-\d+\)|json_each.*|l|run_locks"
    r"|(messages|work_items) USING (COVERING )?INDEX \w+)"
)


async def leased(provider: SqliteProvider, count: int) -> None:
    """Lock so many work items and runs."""
    await asyncio.gather(*(start(provider, str(number)) for number in range(count)))
    for number in range(count):
        await provider.enqueue_for_orchestrator(message(str(number)))
    assert len(await provider.fetch_work_items(LONG, 0, HANDLERS, count)) == count
    assert len(await provider.fetch_orchestration_items(LONG, 0, count)) == count


async def finished(provider: SqliteProvider, count: int) -> None:
    """Start and end so many runs."""
    ended = [
        commit(str(number), status="COMPLETED", work_items=(work(str(number)),))
        for number in range(count)
    ]
    await asyncio.gather(*map(provider.start_run, ended))


async def delayed(provider: SqliteProvider, count: int) -> None:
    """Put so many retries and timers into the far future."""
    due = provider.clock.now() + 1e6
    starts = [
        commit(
            str(number),
            work_items=(work(str(number), visible_at=due),),
            messages=(message(str(number), visible_at=due),),
        )
        for number in range(count)
    ]
    await asyncio.gather(*map(provider.start_run, starts))


async def of_others(provider: SqliteProvider, count: int) -> None:
    """Leave so many work items to code that is not here."""
    starts = [
        commit(
            str(number),
            work_items=(replace(work(str(number)), step_type="Elsewhere"),),
        )
        for number in range(count)
    ]
    await asyncio.gather(*map(provider.start_run, starts))


def cost(path: Path, fill: Fill, count: int) -> dict[str, int]:
    """Fill a store and count the steps of SQLite's machine for each fetch statement."""

    async def body() -> dict[str, int]:
        async with opened(path) as provider:
            await fill(provider, count)
            await start(provider, "waiting")
            await provider.enqueue_for_orchestrator(message("waiting"))
            given = {
                "now": round(provider.clock.now() * 1e6),
                "lease": round(provider.clock.lease() * 1e6),
                "limit": 10,
                "handlers": '["Flow/Step"]',
            }
            with raw(path) as connection:
                return {name: _steps(connection, name, given) for name in FETCHES}

    return asyncio.run(body())


def _steps(connection: sqlite3.Connection, name: str, given: dict[str, Any]) -> int:
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection.execute(statements()[name], given).fetchall()
    connection.set_progress_handler(count, 1)
    connection.execute(statements()[name], given).fetchall()
    connection.set_progress_handler(None, 1)
    return steps


@pytest.mark.parametrize("fill", [leased, finished, delayed, of_others])
def test_a_fetch_does_not_walk_over_what_it_cannot_take(tmp_path: Path, fill: Fill) -> None:
    """Ten such rows or a thousand: the same number of machine steps, or nearly."""
    few = cost(tmp_path / "few.db", fill, 10)
    many = cost(tmp_path / "many.db", fill, 1000)
    assert min(few.values()) > 0
    assert {name: many[name] - few[name] <= 20 for name in FETCHES} == dict.fromkeys(FETCHES, True)


def test_every_statement_finds_its_rows_by_an_index() -> None:
    """No statement walks over a table that grows, but for the counts of `queue_depths`."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema())
    scans: dict[str, list[str]] = {}
    for name, statement in statements().items():
        given = dict.fromkeys(re.findall(r":(\w+)", statement), "[]")
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", given)]
        walks = [
            line
            for line in plan
            if line.startswith("SCAN") and not SCANS_ON_PURPOSE.fullmatch(line)
        ]
        if walks:
            scans[name] = walks
    connection.close()
    assert len(statements()) > 40
    assert scans == {}
