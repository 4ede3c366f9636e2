"""The file of the SQLite provider: private, bounded, and refused by name when it does not serve."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from dexnb.clock import Clock, monotonic
from dexnb.errors import ClockMismatch, ProviderError
from dexnb.providers.sqlite import SqliteProvider
from dexnb.providers.sqlite.lane import Lane
from dexnb.providers.sqlite.opening import use_wal
from tests.providers.sqlite_case import (
    commit,
    companions,
    message,
    opened,
    raw,
    start,
    take,
)
from tests.providers.sqlite_child import ended, heard, spawn

posix = pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX's")


def mode(path: Path) -> int:
    """Give a file's permissions."""
    return stat.S_IMODE(path.stat().st_mode)


def refusal(path: Path, clock: Clock | None = None) -> ProviderError:
    """Open a file that must be refused for good; give the error."""

    async def body() -> None:
        provider = SqliteProvider(path)
        await provider.open(clock or Clock.real(), "engine")
        await provider.close()

    with pytest.raises(ProviderError) as caught:
        (clock or Clock.real()).run(body())
    assert not caught.value.retryable
    assert str(path) in str(caught.value)
    return caught.value


@posix
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_everything_is_readable_by_its_owner_alone(tmp_path: Path, umask: int) -> None:
    """Whatever the umask of the process says: file, log, index, lock file and folders."""
    path = tmp_path / "new" / "deeper" / "x.db"

    async def body() -> None:
        async with opened(path, "engine/1") as provider:
            await start(provider, "a")
            modes = {p.name: mode(p) for p in path.parent.iterdir()}
            assert modes.pop("x.db-owners") == 0o700
            assert modes == dict.fromkeys(("x.db", "x.db-wal", "x.db-shm"), 0o600)
            (lock,) = path.with_name("x.db-owners").iterdir()
            assert mode(lock) == 0o600
        assert mode(path.parent) == mode(path.parent.parent) == 0o700

    before = os.umask(umask)
    try:
        asyncio.run(body())
    finally:
        os.umask(before)


@posix
def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    """A store that was copied or checked out gets its privacy back."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path):
            pass

    asyncio.run(body())
    path.chmod(0o644)
    asyncio.run(body())
    assert mode(path) == 0o600


def test_close_leaves_the_file_alone(tmp_path: Path) -> None:
    """No log, no index, no lock file; and everything is in the file."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path) as provider:
            await start(provider, "a")
            assert all(companions(path).values())

    asyncio.run(body())
    assert not any(companions(path).values())
    with raw(path) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_the_last_of_two_engines_leaves_no_log(tmp_path: Path) -> None:
    """The first one to go takes nothing from the other."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path, "one") as one:
            async with opened(path, "two") as two:
                await start(two, "a")
            assert companions(path)["-wal"]
            assert (await take(one)).item.run_id == "run-a"

    asyncio.run(body())
    assert not any(companions(path).values())


@pytest.mark.parametrize("path", ["", ":memory:", "file:x.db?mode=memory"])
def test_a_path_that_names_no_file_is_refused(path: str) -> None:
    """With a pointer to the store that is not kept."""
    with pytest.raises(ProviderError, match="MemoryProvider"):
        SqliteProvider(path)


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    """The error shows the value and the two that are legal."""
    with pytest.raises(ProviderError, match=r"'async'.*'full' or 'normal'"):
        SqliteProvider(tmp_path / "x.db", durability="async")  # type: ignore[arg-type]  # the test


def test_an_old_sqlite_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its version and the one that is needed."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 39, 5))
    with pytest.raises(ProviderError, match=r"too old.*3\.40\.0"):
        SqliteProvider(tmp_path / "x.db")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """And is left as it was."""
    path = tmp_path / "notes.txt"
    path.write_text("dear diary\n" * 500)
    assert "not an SQLite database" in str(refusal(path))
    assert path.read_text().startswith("dear diary")
    assert not any(companions(path).values())


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    """Nothing of it is changed, not even how it keeps its journal."""
    path = tmp_path / "other.db"
    with raw(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    assert "another program" in str(refusal(path))
    assert path.read_bytes() == before


def test_a_newer_version_of_the_tables_is_refused(tmp_path: Path) -> None:
    """An older dexnb does not write into what it does not know."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path):
            pass

    asyncio.run(body())
    with raw(path) as connection:
        connection.execute("PRAGMA user_version=2")
    assert "version 2" in str(refusal(path))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    """A path to a folder, and a folder below a file."""
    assert "is a folder" in str(refusal(tmp_path))
    file = tmp_path / "file"
    file.touch()
    assert "give the path of a file" in str(refusal(file / "x.db"))


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """With what to do about it."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path):
            pass

    asyncio.run(body())
    content = bytearray(path.read_bytes())
    content[100:3000] = b"\xff" * 2900
    path.write_bytes(content)
    assert "is damaged" in str(refusal(path))


@pytest.mark.parametrize("first", [Clock.real(), Clock.virtual(), Clock.scaled(10)])
def test_a_file_belongs_to_one_clock(tmp_path: Path, first: Clock) -> None:
    """The refusal names both clocks; the right one may still open it."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path, clock=first):
            pass

    first.run(body())
    second = Clock.scaled(60)
    error = refusal(path, second)
    assert isinstance(error, ClockMismatch)
    assert first.identity in str(error)
    assert second.identity in str(error)
    first.run(body())


async def _pragma(provider: SqliteProvider, pragma: str) -> None:
    assert provider._store is not None  # noqa: SLF001  what only the database thread can set
    lane = provider._store._lane  # noqa: SLF001  as above
    assert isinstance(lane, Lane)
    await lane.call(lambda connection: connection.execute(f"PRAGMA {pragma}").fetchall())


def test_a_full_disk_says_so_and_may_be_tried_again(tmp_path: Path) -> None:
    """All calls of the batch fail; once there is room they succeed."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a")
            await _pragma(provider, "max_page_count=1")
            large = [message("a", "x" * 100_000) for _ in range(5)]
            answers = await asyncio.gather(
                *map(provider.enqueue_for_orchestrator, large), return_exceptions=True
            )
            for error in answers:
                assert isinstance(error, ProviderError)
                assert error.retryable
                assert "free some space" in str(error)
            await _pragma(provider, "max_page_count=100000")
            for given in large:
                await provider.enqueue_for_orchestrator(given)
            assert (await provider.queue_depths()).messages == 5

    asyncio.run(body())


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """For good, with the fix."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await _pragma(provider, "query_only=1")
            with pytest.raises(ProviderError, match="writable") as caught:
                await provider.start_run(commit("a"))
            assert not caught.value.retryable
            await _pragma(provider, "query_only=0")

    asyncio.run(body())


async def _error_of_use(provider: SqliteProvider) -> ProviderError:
    """Use a provider until it complains, for a second at most."""
    until = monotonic() + 1.0
    number = 0
    while monotonic() < until:
        number += 1
        try:
            await provider.start_run(commit(str(number)))
        except ProviderError as error:
            return error
        await asyncio.sleep(0.02)
    raise AssertionError("the missing file was not noticed")


@posix
@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_taken_away_is_noticed(tmp_path: Path, replaced: bool) -> None:
    """Removed, or another one in its place: what is written now would be lost."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path) as provider:
            await start(provider, "a")
            path.rename(tmp_path / "moved.db")
            if replaced:
                path.touch()
            error = await _error_of_use(provider)
            assert "removed or replaced" in str(error)
            assert not error.retryable
            with pytest.raises(ProviderError, match="removed or replaced"):
                await provider.watch()
            with pytest.raises(ProviderError, match="removed or replaced"):
                await provider.list_runs()

    asyncio.run(body())


def test_a_file_system_without_a_write_ahead_log_is_refused(tmp_path: Path) -> None:
    """With where to put the file instead; SQLite's own lock-file VFS is such a one."""
    path = tmp_path / "x.db"
    connection = sqlite3.connect(f"file:{path}?vfs=unix-dotfile", uri=True, isolation_level=None)
    try:
        with pytest.raises(ProviderError, match="local disk"):
            use_wal(connection, path)
    finally:
        connection.close()


@posix
def test_a_link_and_its_target_are_one_store(tmp_path: Path) -> None:
    """Engines that came by different names see each other alive."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "x.db")

    async def body() -> None:
        async with (
            opened(tmp_path / "link.db", "one") as one,
            opened(tmp_path / "real" / "x.db", "two") as two,
        ):
            await start(one, "a")
            assert (await take(two)).item.run_id == "run-a"
            assert one.path == two.path
            assert len(list((tmp_path / "real" / "x.db-owners").iterdir())) == 2

    asyncio.run(body())


def test_many_processes_may_make_the_file_together(tmp_path: Path) -> None:
    """Whoever comes first makes the tables; nobody fails."""
    children = [spawn("tell_time", tmp_path / "x.db", f"engine-{n}", 0) for n in range(6)]
    try:
        times = [heard(child)[0] for child in children]
        assert max(times) - min(times) < 60
        assert [child.wait(20) for child in children] == [0] * 6
    finally:
        for child in children:
            ended(child)
    assert not any(companions(tmp_path / "x.db").values())
