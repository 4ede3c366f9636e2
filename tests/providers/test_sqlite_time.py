"""Store time of a file: one anchor for all engines of a boot, whatever the wall clock does."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from dexnb.clock import Clock, wall
from dexnb.errors import ProviderError
from dexnb.providers.sqlite.opening import LONGEST_INHERITED_LEASE, MIGRATIONS, make_tables
from dexnb.providers.sqlite.opening import settle_clock as settle
from dexnb.providers.store_clock import Anchor
from tests.providers.sqlite_case import HANDLERS, opened, raw, start, take
from tests.providers.sqlite_child import heard, spawn


@pytest.fixture
def connection(tmp_path: Path) -> sqlite3.Connection:
    """Give a connection to an empty store."""
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    make_tables(connection, tmp_path / "x.db")
    return connection


@pytest.mark.parametrize("step", [600.0, -600.0])
def test_processes_agree_on_time_whose_wall_clocks_do_not(tmp_path: Path, step: float) -> None:
    """The first opener ties store time to the clocks that all of them share."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path, "one") as provider:
            before = provider.clock.now(), provider.clock.lease()
            child = spawn("tell_time", path, "two", step)
            now, lease, real = await asyncio.to_thread(heard, child)
            child.communicate()
            after = provider.clock.now(), provider.clock.lease()
            assert before[0] <= now <= after[0]
            assert before[1] <= lease <= after[1]
            assert abs(now - real) < 60

    asyncio.run(body())


def test_the_first_opener_of_a_boot_decides(connection: sqlite3.Connection, tmp_path: Path) -> None:
    """Later ones of the same boot take its anchor, to the last bit."""
    path = tmp_path / "x.db"
    first = Anchor(1000.1234567, 5.7654321, 6.1)
    assert settle(connection, path, "real", "boot-1", first) == first
    assert settle(connection, path, "real", "boot-1", Anchor(9e9, 7.0, 8.0)) == first
    connection.close()


def test_another_boot_ties_time_anew_but_never_goes_back(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    """A machine that comes up in 1970 goes on where the store was last seen."""
    path = tmp_path / "x.db"
    settle(connection, path, "real", "boot-1", Anchor(1000.0, 5.0, 6.0))
    later = Anchor(2000.0, 1.0, 1.5)
    assert settle(connection, path, "real", "boot-2", later) == later
    back = settle(connection, path, "real", "boot-3", Anchor(3.0, 2.0, 2.5))
    assert back == Anchor(2000.0, 2.0, 2.5)
    connection.close()


def test_leases_of_another_boot_end_soon(connection: sqlite3.Connection, tmp_path: Path) -> None:
    """Nobody can renew them any more, and a clock that was set back must not keep them for ever."""
    path = tmp_path / "x.db"
    settle(connection, path, "real", "boot-1", Anchor(9e9, 5.0, 6.0))
    connection.execute(
        "INSERT INTO work_items (run_no, step_execution_id, flow_type, handler, available_at, "
        "token, lock_end, owner, attempt, payload) VALUES (1, 'S-1', 'F', 'F/S', 0, 'w1.1.1', "
        "9000000060000000, 1, 1, ''), (1, 'S-2', 'F', 'F/S', 0, 'w2.1.1', 1000, 1, 1, '')"
    )
    connection.execute("INSERT INTO run_locks VALUES (1, 'r1.1.1', 9000000060000000, 1, '[]')")
    connection.execute("UPDATE meta SET value = '1000.0' WHERE key = 'newest'")
    settle(connection, path, "real", "boot-2", Anchor(2000.0, 1.0, 1.0))
    latest = (2000 + LONGEST_INHERITED_LEASE) * 1e6
    ends = connection.execute("SELECT lock_end FROM work_items ORDER BY id").fetchall()
    assert ends == [(latest,), (1000,)]
    assert connection.execute("SELECT lock_end FROM run_locks").fetchall() == [(latest,)]
    connection.close()


def test_time_goes_on_over_a_restart(tmp_path: Path) -> None:
    """Of the provider on the same boot: no step, no return."""

    async def read() -> float:
        async with opened(tmp_path / "x.db") as provider:
            return provider.clock.now()

    times = [asyncio.run(read()) for _ in range(3)]
    assert times == sorted(times)
    assert times[0] <= wall() + 1


def test_virtual_time_goes_on_in_the_next_loop(tmp_path: Path) -> None:
    """A second virtual run on the file starts where the first one has ended."""

    async def sleep_and_read(seconds: float) -> tuple[float, float]:
        async with opened(tmp_path / "x.db", clock=Clock.virtual()) as provider:
            before = provider.clock.now()
            await asyncio.sleep(seconds)
            return before, provider.clock.now()

    first = Clock.virtual().run(sleep_and_read(3600))
    second = Clock.virtual().run(sleep_and_read(5))
    assert first[1] == first[0] + 3600
    assert second[0] >= first[1]


def test_two_engines_on_one_virtual_loop_agree(tmp_path: Path) -> None:
    """On a file that knows a later time than the loop."""
    path = tmp_path / "x.db"

    async def sleep() -> None:
        async with opened(path, clock=Clock.virtual()):
            await asyncio.sleep(1000)

    async def compare() -> None:
        async with opened(path, "one", Clock.virtual()) as one:
            await asyncio.sleep(7)
            async with opened(path, "two", Clock.virtual()) as two:
                assert two.clock.now() == one.clock.now()
                assert two.clock.lease() == one.clock.lease()

    Clock.virtual().run(sleep())
    Clock.virtual().run(compare())


def test_virtual_time_stands_still_while_the_file_is_busy(tmp_path: Path) -> None:
    """A foreign lock costs real time and no virtual second."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path, clock=Clock.virtual()) as provider:
            await start(provider, "a")
            loop = asyncio.get_running_loop()
            child = spawn("lock", path, "IMMEDIATE", 0.4)
            heard(child)
            before = loop.time()
            item = await take(provider)
            assert loop.time() == before
            assert item.item.run_id == "run-a"
            child.communicate()

    Clock.virtual().run(body())


def test_a_lease_ends_by_virtual_time(tmp_path: Path) -> None:
    """An hour's lease costs no real time, and a parked fetch gets it in the very moment."""

    async def body() -> None:
        async with opened(tmp_path / "x.db", clock=Clock.virtual()) as provider:
            await start(provider, "a")
            await take(provider, 3600.0)
            loop = asyncio.get_running_loop()
            before = loop.time()
            again = await provider.fetch_work_item(60.0, 7200.0, HANDLERS)
            assert again is not None
            assert again.item.attempt == 2
            assert loop.time() - before == pytest.approx(3600.0, abs=1e-3)

    Clock.virtual().run(body())


def test_a_store_that_forgot_its_time_is_refused(tmp_path: Path) -> None:
    """A hand that changed the meta table gets an error with the file's name."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path):
            pass

    asyncio.run(body())
    with raw(path) as connection:
        connection.execute("UPDATE meta SET value = 'noon' WHERE key IN ('anchor', 'newest')")
    with pytest.raises(ProviderError, match=r"x\.db"):
        asyncio.run(body())


def test_tables_are_made_once(connection: sqlite3.Connection, tmp_path: Path) -> None:
    """And the version in the header is the number of migrations."""
    make_tables(connection, tmp_path / "x.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    connection.close()
