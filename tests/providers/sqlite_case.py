"""What the tests of the SQLite provider write, and how they open it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from dexnb.clock import Clock
from dexnb.model.event import Event
from dexnb.providers import Commit, Handlers, NewMessage, NewWorkItem, WorkItem
from dexnb.providers.sqlite import SqliteProvider

HANDLERS = Handlers({"Flow/Step"})
LONG = 60.0


@asynccontextmanager
async def opened(
    path: Path, owner: str = "engine", clock: Clock | None = None, **options: Any
) -> AsyncIterator[SqliteProvider]:
    """Open a provider, and close it whatever happens."""
    provider = SqliteProvider(path, **options)
    await provider.open(clock or Clock.real(), owner)
    try:
        yield provider
    finally:
        await provider.close()


@contextmanager
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file behind the provider's back."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def companions(path: Path) -> dict[str, bool]:
    """Tell which companions of a file are there."""
    return {
        suffix: path.with_name(path.name + suffix).exists()
        for suffix in ("-wal", "-shm", "-owners")
    }


def event(name: str, seq: int) -> Event:
    """Make a durable event of the run `run-name`."""
    return Event(
        seq=seq,
        flow_id=f"flow-{name}",
        run_id=f"run-{name}",
        wall=1e9,
        time=1e9,
        kind="step_scheduled",
        payload={"seq": seq},
    )


def work(name: str, step_execution_id: str = "Step-1", **parts: Any) -> NewWorkItem:
    """Make an attempt of a Step of the run `run-name`."""
    parts = {"payload": '{"input":1}', **parts}
    return NewWorkItem(f"run-{name}", f"flow-{name}", "Flow", "Step", step_execution_id, **parts)


def message(name: str, text: str = "{}", visible_at: float = 0.0) -> NewMessage:
    """Make a message to the run `run-name`."""
    return NewMessage(f"run-{name}", text, visible_at)


def commit(name: str, *, seqs: Sequence[int] = (1,), **parts: Any) -> Commit:
    """Make a turn of the run `run-name`, its first one by default."""
    parts = {"state": "{}", "status": "RUNNING", **parts}
    return Commit(
        run_id=f"run-{name}",
        flow_id=f"flow-{name}",
        flow_type="Flow",
        events=tuple(event(name, seq) for seq in seqs),
        **parts,
    )


async def start(provider: SqliteProvider, *names: str) -> None:
    """Start runs with one work item each."""
    for name in names:
        await provider.start_run(commit(name, work_items=(work(name),)))


async def take(provider: SqliteProvider, lock_timeout: float = LONG) -> WorkItem:
    """Fetch a work item that must be there."""
    item = await provider.fetch_work_item(lock_timeout, 0, HANDLERS)
    assert item is not None, "no work item could be fetched"
    return item
