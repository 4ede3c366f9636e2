"""Leaving: close in every situation, and processes that never closed anything."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from dexnb.clock import Clock, monotonic
from dexnb.errors import ProviderError
from dexnb.providers.sqlite import SqliteProvider
from dexnb.providers.sqlite.writer import Writer
from tests.providers.sqlite_case import (
    HANDLERS,
    LONG,
    commit,
    message,
    opened,
    raw,
    start,
    take,
)
from tests.providers.sqlite_child import ROOT

SCRIPT = """
import asyncio, signal, sys, threading
from dexnb.clock import Clock
from dexnb.providers.sqlite import SqliteProvider
from dexnb.providers.sqlite.writer import Writer
from tests.providers.sqlite_case import HANDLERS, commit, work

async def main():
    provider = SqliteProvider(sys.argv[1])
    await provider.open(Clock.real(), "engine")
    await provider.start_run(commit("a", work_items=(work("a"),)))
    parked = asyncio.ensure_future(provider.fetch_orchestration_item(30.0, 30.0))
    await asyncio.sleep(0.05)
    print("ready", flush=True)
    {ending}

kept = []
{run}
"""

ENDINGS = {
    "never closed": "kept.append(provider)",
    "an exception": "raise RuntimeError('of the cell')",
    "sys.exit": "sys.exit(3)",
    "calls under way": "kept.extend([provider, asyncio.ensure_future(provider.list_runs())])",
    "an interrupt": "await asyncio.sleep(60)",
    "closed": "await provider.close(); await parked",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("run", ["main thread", "loop in a daemon thread"])
def test_a_process_ends_within_seconds(tmp_path: Path, ending: str, run: str) -> None:
    """However it ends and whether or not it closed; and everything committed is there."""
    line = "asyncio.run(main())"
    if run != "main thread":
        line = (
            "engine = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)\n"
            "engine.start(); engine.join(1.0)"
        )
    script = SCRIPT.format(ending=ENDINGS[ending], run=line)
    path = tmp_path / "x.db"
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        if ending == "an interrupt":
            child.send_signal(signal.SIGINT)
        began = monotonic()
        _, errors = child.communicate(timeout=10)
        assert monotonic() - began < 5.0
    finally:
        child.kill()
    assert "aiosqlite" not in errors
    assert "Event loop is closed" not in errors
    with raw(path) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_no_thread_outlives_a_close(tmp_path: Path) -> None:
    """Open and close leave as many threads as before."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a")

    before = threading.active_count()
    asyncio.run(body())
    assert threading.active_count() == before


def test_close_writes_what_is_pending(tmp_path: Path) -> None:
    """Calls made before the close are answered, not dropped."""

    async def body() -> None:
        provider = SqliteProvider(tmp_path / "x.db")
        await provider.open(Clock.real(), "engine")
        calls = [asyncio.ensure_future(start(provider, str(number))) for number in range(50)]
        await asyncio.sleep(0)
        await provider.close()
        await asyncio.gather(*calls)

    asyncio.run(body())
    with raw(tmp_path / "x.db") as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (50,)


def test_close_ends_a_parked_fetch_at_once(tmp_path: Path) -> None:
    """A stop does not wait for a long poll; what it finds is nothing."""

    async def body() -> None:
        provider = SqliteProvider(tmp_path / "x.db")
        await provider.open(Clock.real(), "engine")
        parked = [
            asyncio.ensure_future(provider.fetch_work_item(LONG, 30, HANDLERS)),
            asyncio.ensure_future(provider.fetch_orchestration_item(LONG, 30)),
        ]
        await asyncio.sleep(0.05)
        began = monotonic()
        await provider.close()
        assert await asyncio.gather(*parked) == [None, None]
        assert monotonic() - began < 1.0

    asyncio.run(body())


def test_close_works_while_the_loop_is_ending(tmp_path: Path) -> None:
    """When every task is cancelled, as at the end of `asyncio.run`."""

    async def body() -> None:
        provider = SqliteProvider(tmp_path / "x.db")
        await provider.open(Clock.real(), "engine")
        started = asyncio.Event()

        async def serve() -> None:
            try:
                await start(provider, "a")
                started.set()
                await provider.fetch_orchestration_item(LONG, 30)
            finally:
                await provider.enqueue_for_orchestrator(message("a"))
                await provider.close()

        serving = asyncio.ensure_future(serve())
        await started.wait()
        body.serving = serving  # type: ignore[attr-defined]  # kept alive, never awaited

    asyncio.run(body())
    assert not (tmp_path / "x.db-wal").exists()
    assert not (tmp_path / "x.db-owners").exists()
    with raw(tmp_path / "x.db") as connection:
        assert connection.execute("SELECT count(*) FROM messages").fetchone() == (1,)


def test_a_cancelled_close_goes_on(tmp_path: Path) -> None:
    """Whoever waits no longer leaves nothing half closed; the next call waits for the end."""

    async def body() -> None:
        provider = SqliteProvider(tmp_path / "x.db")
        await provider.open(Clock.real(), "engine")
        await start(provider, "a")
        closing = asyncio.ensure_future(provider.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])
        await provider.close()
        assert not (tmp_path / "x.db-wal").exists()

    asyncio.run(body())


def test_a_closed_provider_refuses_calls_and_may_open_again(tmp_path: Path) -> None:
    """By name of the file; a second open goes on with the same runs."""

    async def body() -> None:
        provider = SqliteProvider(tmp_path / "x.db")
        with pytest.raises(ProviderError, match="is not open"):
            await provider.list_runs()
        for number in range(2):
            await provider.open(Clock.real(), "engine")
            with pytest.raises(ProviderError, match="open already"):
                await provider.open(Clock.real(), "other")
            await start(provider, str(number))
            await provider.close()
            with pytest.raises(ProviderError, match=r"x\.db is not open"):
                await provider.start_run(commit("x"))
        await provider.open(Clock.real(), "engine")
        assert len(await provider.list_runs()) == 2
        await provider.close()

    asyncio.run(body())


def test_a_failed_open_leaves_nothing_behind(tmp_path: Path) -> None:
    """No thread, no lock file, and the same provider opens once the file is good."""
    path = tmp_path / "x.db"
    path.write_text("no database at all, but long enough to be read as one" * 20)

    async def body() -> None:
        before = threading.active_count()
        provider = SqliteProvider(path)
        for _ in range(3):
            with pytest.raises(ProviderError):
                await provider.open(Clock.real(), "engine")
        assert threading.active_count() == before
        assert not (tmp_path / "x.db-owners").exists()
        path.unlink()
        await provider.open(Clock.real(), "engine")
        await provider.close()

    asyncio.run(body())


async def _fetches(provider: SqliteProvider) -> list[asyncio.Task[Any]]:
    """Prepare a work item and a run, and start to fetch both."""
    await start(provider, "a")
    await provider.enqueue_for_orchestrator(message("a"))
    return [
        asyncio.create_task(provider.fetch_work_item(LONG, 0, HANDLERS)),
        asyncio.create_task(provider.fetch_orchestration_item(LONG, 0)),
    ]


async def _check_nothing_happened(provider: SqliteProvider) -> None:
    assert (await take(provider)).deliveries == 1
    run = await provider.fetch_orchestration_item(LONG, 0)
    assert run is not None
    assert run.attempt_count == 1


def test_what_is_fetched_for_a_cancelled_caller_is_given_back(tmp_path: Path) -> None:
    """While the batch is under way: it costs no attempt and is free for the next at once."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path) as provider:
            with raw(path) as foreign:
                fetches = await _fetches(provider)
                foreign.execute("BEGIN IMMEDIATE")
                await asyncio.sleep(0.05)
                for fetch in fetches:
                    fetch.cancel()
                await asyncio.wait(fetches)
                foreign.execute("ROLLBACK")
            await _check_nothing_happened(provider)

    asyncio.run(body())


def test_a_cancellation_in_the_moment_of_the_answer_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the answer is there and its caller has not yet seen it."""
    landed = Writer._land  # noqa: SLF001  the one place between an answer and its caller

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            fetches = await _fetches(provider)

            def land(self: Writer, batch: Any) -> None:
                landed(self, batch)
                for fetch in fetches:
                    fetch.cancel()

            with monkeypatch.context() as patch:
                patch.setattr(Writer, "_land", land)
                await asyncio.wait(fetches)
            assert all(fetch.cancelled() for fetch in fetches)
            await _check_nothing_happened(provider)

    asyncio.run(body())


def test_giving_back_too_late_is_nobodys_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A lock that ended before its cancelled caller's item came back leaves no complaint."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a")
            fetch = asyncio.ensure_future(provider.fetch_work_item(-1.0, 0, HANDLERS))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            fetch.cancel()
            await asyncio.wait([fetch])
            assert (await take(provider)).item.run_id == "run-a"

    asyncio.run(body())
    gc.collect()
    assert caplog.records == []


def test_closing_a_locked_file_takes_no_longer_than_a_second(tmp_path: Path) -> None:
    """What cannot be written any more is left to the next opener."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path) as provider:
            await start(provider, "a")
            with raw(path) as foreign:
                foreign.execute("BEGIN IMMEDIATE")
                began = monotonic()
                await provider.close()
                assert monotonic() - began < 3.0
        async with opened(path) as provider:
            assert (await take(provider)).item.run_id == "run-a"

    asyncio.run(body())
    assert not (tmp_path / "x.db-owners").exists()


@pytest.mark.parametrize("clock", [Clock.real(), Clock.virtual()], ids=["real", "virtual"])
def test_a_cancelled_open_leaves_nothing_behind(tmp_path: Path, clock: Clock) -> None:
    """At whichever moment: no thread, no lock file, and the next open succeeds."""

    async def body() -> None:
        for turns in range(14):
            provider = SqliteProvider(tmp_path / "x.db")
            opening = asyncio.ensure_future(provider.open(clock, "engine"))
            for _ in range(turns):
                await asyncio.sleep(0 if turns % 2 else 0.0005)
            opening.cancel()
            await asyncio.wait([opening])
            if not opening.cancelled():
                await provider.close()
            names = {thread.name for thread in threading.enumerate()}
            assert "dexnb-sqlite" not in names
            assert not (tmp_path / "x.db-owners").exists()
        async with opened(tmp_path / "x.db", clock=clock) as provider:
            await start(provider, "a")

    clock.run(body())
