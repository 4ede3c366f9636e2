"""Several processes on one file: no busy error, no item twice, a fair share for each."""

from __future__ import annotations

import asyncio
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from dexnb.clock import monotonic
from dexnb.errors import ProviderError
from dexnb.providers import Beat
from dexnb.providers.sqlite import failures, transaction
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


@contextmanager
def children(path: Path, count: int, beats: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Start processes that wait for a word, then claim work items until there are none."""
    with ExitStack() as stack:
        spawned = [spawn("claim", path, f"engine-{number}", beats) for number in range(count)]
        for child in spawned:
            stack.callback(ended, child)
        for child in spawned:
            assert heard(child) == "ready"
        yield spawned


async def _fill(path: Path, runs: int) -> None:
    async with opened(path, "filler") as provider:
        names = [str(number) for number in range(runs)]
        await asyncio.gather(*(start(provider, name) for name in names))


async def _view(path: Path, viewing: asyncio.Event) -> int:
    """Read all the time, as a widget does, until told to stop."""
    looks = 0
    async with opened(path, "viewer") as provider:
        while not viewing.is_set():
            await provider.list_runs()
            await provider.queue_depths()
            await provider.watch()
            looks += 1
            await asyncio.sleep(0.02)
    return looks


def _compete(path: Path, runs: int, processes: int, beats: int) -> list[float]:
    """Let processes claim all runs beside a reader; give how long each claim took, sorted."""

    async def body() -> list[float]:
        await _fill(path, runs)
        done = asyncio.Event()
        viewing = asyncio.ensure_future(_view(path, done))
        with children(path, processes, beats) as spawned:
            for child in spawned:
                assert child.stdin is not None
                child.stdin.write("go\n")
                child.stdin.flush()
            told = [await asyncio.to_thread(heard, child) for child in spawned]
        done.set()
        assert await viewing > 0
        claimed = Counter(name for document in told for name in document["names"])
        assert len(claimed) == runs
        assert set(claimed.values()) == {1}
        shares = [len(document["names"]) for document in told]
        assert min(shares) > 0, f"somebody got nothing: {shares}"
        print(f"claims of each process: {shares}")
        return sorted(took for document in told for took in document["claims"])

    return asyncio.run(body())


def _show(claims: list[float]) -> None:
    median, p99 = claims[len(claims) // 2], claims[int(len(claims) * 0.99)]
    print(f"claim p50 {median * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, max {claims[-1]:.3f} s")


def test_four_processes_and_a_reader_share_the_work(tmp_path: Path) -> None:
    """Each item is claimed once, every beat and ack succeeds, and nobody starves."""
    claims = _compete(tmp_path / "x.db", runs=400, processes=4, beats=2)
    _show(claims)
    # Without a share for each, claims wait for seconds.
    assert claims[int(len(claims) * 0.95)] < 2.0


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_eight_processes_claim_two_thousand_items_with_twenty_thousand_beats(
    tmp_path: Path,
) -> None:
    """The full size, with its figures."""
    claims = _compete(tmp_path / "x.db", runs=2000, processes=8, beats=10)
    _show(claims)
    assert claims[int(len(claims) * 0.99)] < 1.0


@pytest.mark.parametrize("kind", ["IMMEDIATE", "EXCLUSIVE"])
def test_calls_wait_while_another_process_holds_the_file(tmp_path: Path, kind: str) -> None:
    """Nothing fails, nothing is done twice, and the loop stays free."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path) as provider:
            await provider.start_run(
                commit("a", work_items=(work("a", "Step-1"), work("a", "Step-2")))
            )
            one, two = [await take(provider) for _ in range(2)]
            child = spawn("lock", path, kind, 0.5)
            await asyncio.to_thread(heard, child)
            began = monotonic()
            calls = asyncio.gather(
                provider.record_beats([Beat(one.token, '"newest"')]),
                provider.ack_work_item(two.token, message("a")),
                provider.renew_work_item_lock(one.token, LONG),
                provider.start_run(commit("b")),
            )
            ticks = 0
            while not calls.done():
                ticks += 1
                await asyncio.sleep(0.01)
            await calls
            assert monotonic() - began > 0.2
            assert ticks > 5
            child.communicate()
            await provider.abandon_work_item(one.token)
            again = await take(provider)
            assert (again.item.checkpoint, again.deliveries) == ('"newest"', 2)
            assert (await provider.queue_depths()).messages == 1

    asyncio.run(body())


def test_a_file_that_stays_locked_is_a_retryable_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To every waiting call, with what to do; afterwards the store works again."""
    path = tmp_path / "x.db"
    monkeypatch.setattr(transaction, "PATIENCE", 0.2)

    async def body() -> None:
        async with opened(path) as provider:
            await start(provider, "a")
            child = spawn("lock", path, "IMMEDIATE", 60)
            try:
                await asyncio.to_thread(heard, child)
                answers = await asyncio.gather(
                    provider.start_run(commit("b")),
                    provider.enqueue_for_orchestrator(message("a")),
                    provider.fetch_work_item(LONG, 0, HANDLERS),
                    return_exceptions=True,
                )
                for error in answers:
                    assert isinstance(error, ProviderError)
                    assert error.retryable
                    assert "locked by another process" in str(error)
                assert (await provider.list_runs())[0].run_id == "run-a"
            finally:
                ended(child)
            assert (await provider.start_run(commit("b"))).created
            assert (await take(provider)).deliveries == 1

    asyncio.run(body())
    assert failures.PATIENCE == 5.0


def test_twenty_acks_that_meet_a_locked_file_are_acks(tmp_path: Path) -> None:
    """Contention at just that moment costs no second execution."""
    path = tmp_path / "x.db"

    async def body() -> None:
        async with opened(path) as provider:
            names = [str(number) for number in range(20)]
            await asyncio.gather(*(start(provider, name) for name in names))
            with raw(path) as foreign:
                for _ in names:
                    item = await take(provider)
                    assert item.deliveries == 1
                    foreign.execute("BEGIN IMMEDIATE")
                    done = message(item.item.run_id[4:])
                    ack = asyncio.ensure_future(provider.ack_work_item(item.token, done))
                    await asyncio.sleep(0.03)
                    assert not ack.done()
                    foreign.execute("ROLLBACK")
                    await ack
            depths = await provider.queue_depths()
            assert (depths.messages, depths.work_items, depths.leased) == (20, 0, 0)

    asyncio.run(body())
