"""Several engines on one file: who is alive, who has died, and who changed something."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from dexnb.clock import Clock
from dexnb.errors import LeaseLost, ProviderError
from dexnb.providers.sqlite import SqliteProvider
from dexnb.providers.sqlite.lane import Lane
from dexnb.providers.sqlite.owner_file import OwnerFile
from tests.providers.sqlite_case import (
    HANDLERS,
    LONG,
    commit,
    message,
    opened,
    raw,
    start,
    take,
    work,
)
from tests.providers.sqlite_child import ended, heard, spawn

posix = pytest.mark.skipif(sys.platform == "win32", reason="stops and kills processes by signal")


def fill(path: Path) -> None:
    """Make a store with one run that has a work item and a message."""

    async def body() -> None:
        async with opened(path, "filler") as provider:
            await start(provider, "a")
            await provider.enqueue_for_orchestrator(message("a"))

    asyncio.run(body())


@posix
def test_a_killed_engines_locks_are_taken_over_when_the_next_one_opens(tmp_path: Path) -> None:
    """At once, though they had an hour to go; and each delivery was one attempt."""
    path = tmp_path / "x.db"
    fill(path)
    child = spawn("hold", path, "victim", 3600)
    work_token, run_token, _ = heard(child)
    ended(child)

    async def body() -> None:
        async with opened(path, "heir") as provider:
            item = await take(provider)
            assert (item.deliveries, item.item.attempt) == (2, 2)
            run = await provider.fetch_orchestration_item(LONG, 0)
            assert run is not None
            assert run.attempt_count == 2
            with pytest.raises(LeaseLost):
                await provider.ack_work_item(work_token)
            with pytest.raises(LeaseLost):
                await provider.ack_orchestration_item(run_token, commit("a", seqs=(2,)))

    asyncio.run(body())
    with raw(path) as connection:
        assert connection.execute("SELECT count(*) FROM owners").fetchone() == (0,)
    assert not path.with_name("x.db-owners").exists()


@posix
def test_a_killed_engines_locks_wake_a_parked_fetch(tmp_path: Path) -> None:
    """The next look of the watcher finds it dead."""
    path = tmp_path / "x.db"
    fill(path)

    async def body() -> None:
        child = spawn("hold", path, "victim", 3600)
        try:
            await asyncio.to_thread(heard, child)
            async with opened(path, "heir") as provider:
                parked = asyncio.ensure_future(provider.fetch_work_item(LONG, 30, HANDLERS))
                assert not await provider.watch()
                await asyncio.sleep(0.05)
                assert not parked.done()
                ended(child)
                assert await provider.watch()
                item = await asyncio.wait_for(parked, 5)
                assert item is not None
                assert item.item.attempt == 2
        finally:
            ended(child)

    asyncio.run(body())


@posix
def test_a_stopped_engine_keeps_its_locks_until_they_run_out(tmp_path: Path) -> None:
    """It is alive, so nothing is taken over; then its lease ends like any other."""
    path = tmp_path / "x.db"
    fill(path)

    async def body() -> None:
        child = spawn("hold", path, "sleeper", 3)
        try:
            token, _, locked_at = await asyncio.to_thread(heard, child)
            os.kill(child.pid, signal.SIGSTOP)
            async with opened(path, "other") as provider:
                await provider.watch()
                early = await provider.fetch_work_item(LONG, 0, HANDLERS)
                # On a machine so busy that the lease ended before, this shows nothing.
                assert early is None or provider.clock.now() > locked_at + 2.9
                item = early or await provider.fetch_work_item(LONG, 30, HANDLERS)
                assert item is not None
                assert provider.clock.lease() >= locked_at + 2.9
                assert item.token != token
        finally:
            os.kill(child.pid, signal.SIGCONT)
            ended(child)

    asyncio.run(body())


def test_an_owner_name_is_open_once(tmp_path: Path) -> None:
    """A second engine of the same name is refused, in this process too; later it may have it."""

    async def body() -> None:
        async with opened(tmp_path / "x.db", "same"):
            second = SqliteProvider(tmp_path / "x.db")
            with pytest.raises(ProviderError, match="'same'"):
                await second.open(Clock.real(), "same")
        async with opened(tmp_path / "x.db", "same"):
            pass

    asyncio.run(body())


@posix
def test_an_engine_inherits_from_its_dead_namesake(tmp_path: Path) -> None:
    """A kernel that was killed and comes back under its name goes on at once."""
    path = tmp_path / "x.db"
    fill(path)
    child = spawn("hold", path, "kernel", 3600)
    heard(child)
    ended(child)

    async def body() -> None:
        async with opened(path, "kernel") as provider:
            assert (await take(provider)).item.attempt == 2

    asyncio.run(body())


@pytest.mark.parametrize("name", ["", "../../up", "a/b\\c:d", ".", "x" * 500, "é \ud800\0"])
def test_any_owner_name_has_a_file_in_the_folder(tmp_path: Path, name: str) -> None:
    """Names come from outside; none leads elsewhere, and two names never share a file."""
    store = tmp_path / "x.db"
    one, two = (OwnerFile.claim(store, given, make=True) for given in (name, name + "!"))
    assert one is not None
    assert two is not None
    assert OwnerFile.claim(store, name) is None
    with pytest.raises(FileNotFoundError):
        OwnerFile.claim(store, name + "?")
    assert len(list((tmp_path / "x.db-owners").iterdir())) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"x.db-owners"}
    one.release()
    two.release()
    assert list(tmp_path.iterdir()) == []


def test_an_engine_notices_what_another_has_written(tmp_path: Path) -> None:
    """The watcher says so and wakes the parked fetch."""

    async def body() -> None:
        async with opened(tmp_path / "x.db", "one") as one, opened(tmp_path / "x.db", "two") as two:
            await one.watch()
            parked = asyncio.ensure_future(one.fetch_work_item(LONG, 30, HANDLERS))
            await asyncio.sleep(0.02)
            await start(two, "a")
            assert await one.watch()
            assert await asyncio.wait_for(parked, 5) is not None
            assert not await one.watch()

    asyncio.run(body())


def test_an_engine_that_came_and_went_is_noticed(tmp_path: Path) -> None:
    """A command line that sends a message is gone before the next look."""

    async def body() -> None:
        async with opened(tmp_path / "x.db", "one") as one:
            await start(one, "a")
            await one.watch()
            async with opened(tmp_path / "x.db", "two") as two:
                await two.enqueue_for_orchestrator(message("a"))
            assert await one.watch()
            assert not await one.watch()

    asyncio.run(body())


def test_own_commits_are_no_news(tmp_path: Path) -> None:
    """Hints of this process have told of them already."""

    async def body() -> None:
        async with opened(tmp_path / "x.db", "one") as one, opened(tmp_path / "x.db", "two"):
            await one.watch()
            await start(one, "a")
            assert not await one.watch()

    asyncio.run(body())


def test_watching_an_unchanged_file_asks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No hop to the database thread, twice a second for days."""

    async def body() -> None:
        async with opened(tmp_path / "x.db", "one") as one, opened(tmp_path / "x.db", "two"):
            await one.watch()
            with monkeypatch.context() as patch:
                patch.delattr(Lane, "send")
                for _ in range(100):
                    assert not await one.watch()

    asyncio.run(body())


def test_a_locked_file_does_not_stop_the_watcher(tmp_path: Path) -> None:
    """What it cannot see now it sees later; it never waits on the loop."""

    async def body() -> None:
        async with opened(tmp_path / "x.db", "one") as one, opened(tmp_path / "x.db", "two") as two:
            await one.watch()
            foreign = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
            foreign.execute("BEGIN IMMEDIATE")
            assert not await one.watch()
            foreign.close()
            await start(two, "a")
            assert await one.watch()

    asyncio.run(body())


def test_what_a_closed_engine_held_runs_out(tmp_path: Path) -> None:
    """An orderly close gives nothing back by itself: its engine does, item by item."""

    async def body() -> None:
        path = tmp_path / "x.db"
        async with opened(path, "one") as one:
            await one.start_run(commit("a", work_items=(work("a", "Step-1"), work("a", "Step-2"))))
            kept, given = [await take(one, 0.3) for _ in range(2)]
            await one.abandon_work_item(given.token, ignore_attempt=True)
        async with opened(path, "two") as two:
            assert (await take(two)).deliveries == 1
            later = await two.fetch_work_item(LONG, 10, HANDLERS)
            assert later is not None
            assert later.item.step_execution_id == kept.item.step_execution_id
            assert later.deliveries == 2

    asyncio.run(body())


def test_a_close_during_a_look_ends_both(tmp_path: Path) -> None:
    """The watcher of an engine that stops says that nothing changed, and does not hang."""

    async def body() -> None:
        one = SqliteProvider(tmp_path / "x.db")
        await one.open(Clock.real(), "one")
        async with opened(tmp_path / "x.db", "two") as two:
            for turns in range(4):
                await start(two, str(turns))
                looking = asyncio.ensure_future(one.watch())
                for _ in range(turns):
                    await asyncio.sleep(0)
                await one.close()
                await asyncio.wait_for(asyncio.wait([looking]), 5)
                error = looking.exception()
                assert error is None or isinstance(error, ProviderError)
                await one.open(Clock.real(), "one")
        await one.close()

    asyncio.run(body())


@posix
def test_a_forked_child_does_not_keep_its_parent_alive(tmp_path: Path) -> None:
    """The lock of a killed kernel is free although a process that it forked lives on."""
    path = tmp_path / "x.db"
    fill(path)
    child = spawn("hold_and_fork", path, "kernel", 3600)
    pid = heard(child)
    try:
        ended(child)

        async def body() -> None:
            async with opened(path, "heir") as provider:
                assert (await take(provider)).item.attempt == 2

        asyncio.run(body())
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGKILL)


@posix
def test_an_owner_whose_lock_file_was_removed_may_live(tmp_path: Path) -> None:
    """Somebody cleaned up the folder: its leases are not taken, they run out."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path, "one") as one:
            await start(one, "a")
            item = await take(one)
            for file in path.with_name("x.db-owners").iterdir():
                file.unlink()
            async with opened(path, "two") as two:
                await two.watch()
                assert await two.fetch_work_item(LONG, 0, HANDLERS) is None
            await one.ack_work_item(item.token)

    asyncio.run(body())
    assert not path.with_name("x.db-owners").exists()


@posix
def test_a_dead_owner_of_another_boot_keeps_its_leases_until_they_run_out(tmp_path: Path) -> None:
    """The file may have come from a machine where the owner lives on."""
    path = tmp_path / "x.db"
    fill(path)
    child = spawn("hold", path, "stranger", 1.5)
    _, _, locked_at = heard(child)
    ended(child)
    with raw(path) as connection:
        connection.execute("UPDATE owners SET boot_id = 'another boot'")

    async def body() -> None:
        async with opened(path, "heir") as provider:
            item = await provider.fetch_work_item(LONG, 10, HANDLERS)
            assert item is not None
            assert provider.clock.lease() >= locked_at + 1.5
            with raw(path) as connection:
                names = connection.execute("SELECT owner FROM owners").fetchall()
            assert names == [("heir",)]

    asyncio.run(body())
