"""Batches of the SQLite provider: few statements, one hop, and one guilty operation fails alone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dexnb.clock import Clock
from dexnb.errors import LeaseLost, ProviderError
from dexnb.providers import Beat, NewMessage, StreamWrite
from dexnb.providers.sqlite import SqliteProvider
from dexnb.providers.sqlite.lane import Lane
from tests.providers.sqlite_case import (
    HANDLERS,
    LONG,
    commit,
    event,
    message,
    opened,
    start,
    take,
    work,
)

Work = Callable[[sqlite3.Connection], object]


@contextmanager
def hops(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """Note the statements of each hop to the database thread."""
    seen: list[list[str]] = []
    send = Lane.send

    def traced(self: Lane, given: Work, landed: Callable[[], object]) -> None:
        def noted(connection: sqlite3.Connection) -> None:
            statements: list[str] = []
            connection.set_trace_callback(statements.append)
            given(connection)
            connection.set_trace_callback(None)
            seen.append(statements)

        send(self, noted, landed)

    with monkeypatch.context() as patch:
        patch.setattr(Lane, "send", traced)
        yield seen


def stream_write(payload: str = "1", **parts: Any) -> StreamWrite:
    """Make a Stream message."""
    given = {"wall": 1e9, "capacity": 1_000_000, **parts}
    return StreamWrite("Flow", "log", "flow-a", "run-a", "#Step-1", payload, **given)


def test_heartbeats_of_a_thousand_steps_are_four_statements_in_one_hop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begin, one question what is live, one update, commit: so a busy cell costs little."""

    async def body() -> list[list[str]]:
        async with opened(tmp_path / "x.db") as provider:
            names = [str(number) for number in range(1000)]
            await asyncio.gather(*(start(provider, name) for name in names))
            items = await provider.fetch_work_items(LONG, 0, HANDLERS, 1000)
            assert len(items) == 1000
            # Whatever level the commit before left, the first of these sets its own.
            await provider.record_beats([Beat(items[0].token, "0")])
            with hops(monkeypatch) as seen:
                await asyncio.gather(
                    *(provider.record_beats([Beat(item.token, "1")]) for item in items)
                )
            return seen

    (statements,) = asyncio.run(body())
    verbs = [statement.split()[0] for statement in statements]
    assert verbs == ["BEGIN", "SELECT", "UPDATE", "COMMIT"]


def test_beats_and_stream_messages_together_are_six_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One statement for each table, whatever the number of rows."""

    async def body() -> list[list[str]]:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a")
            item = await take(provider)
            with hops(monkeypatch) as seen:
                await asyncio.gather(
                    provider.record_beats([Beat(item.token, "1")]),
                    *(provider.write_stream([stream_write(str(n))]) for n in range(50)),
                )
            return seen

    (statements,) = asyncio.run(body())
    assert len(statements) <= 6


def test_fetches_that_come_together_share_one_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred slots that ask at once are one select and one update, and no two get the same."""

    async def body() -> tuple[list[list[str]], set[str]]:
        async with opened(tmp_path / "x.db") as provider:
            await asyncio.gather(*(start(provider, str(number)) for number in range(60)))
            with hops(monkeypatch) as seen:
                found = await asyncio.gather(
                    *(provider.fetch_work_item(LONG, 0, HANDLERS) for _ in range(100))
                )
            return seen, {item.item.run_id for item in found if item is not None}

    seen, runs = asyncio.run(body())
    assert len(runs) == 60
    assert len(seen) == 1
    assert sum(statement.startswith("UPDATE") for statement in seen[0]) == 1


def test_what_comes_during_a_commit_joins_the_next_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thousand calls one after the other in twenty tasks take far fewer commits."""

    async def body() -> int:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a")

            async def send() -> None:
                for _ in range(100):
                    await provider.enqueue_for_orchestrator(message("a"))

            with hops(monkeypatch) as seen:
                await asyncio.gather(*(send() for _ in range(20)))
            assert (await provider.queue_depths()).messages == 2000
            return len(seen)

    assert asyncio.run(body()) <= 400


def test_a_second_operation_on_a_token_waits_for_the_next_batch(tmp_path: Path) -> None:
    """Each sees what the one before has done: of two acks one is lost, the last beat counts."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a", "b")
            one, two = [await take(provider) for _ in range(2)]
            answers = await asyncio.gather(
                *(provider.record_beats([Beat(one.token, str(number))]) for number in range(20)),
                provider.ack_work_item(two.token),
                provider.ack_work_item(two.token),
                return_exceptions=True,
            )
            assert answers[:20] == [frozenset()] * 20
            assert answers[20] is None
            assert isinstance(answers[21], LeaseLost)
            await provider.abandon_work_item(one.token)
            assert (await take(provider)).item.checkpoint == "19"

    asyncio.run(body())


async def _together(calls: Sequence[Any]) -> list[Any]:
    return list(await asyncio.gather(*calls, return_exceptions=True))


def test_only_the_guilty_operation_of_a_batch_fails(tmp_path: Path) -> None:
    """A run id used twice, an item of no run, a number out of place: the others are committed."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a", "b", "c")
            one, two, three = [await take(provider) for _ in range(3)]
            stranger = replace(work("x"), run_id="run-nowhere")
            twin = replace(commit("a"), flow_id="flow-other")
            answers = await _together(
                [
                    provider.start_run(commit("d", work_items=(work("d"),))),
                    provider.start_run(twin),
                    provider.ack_work_item(one.token, retry=work("a", attempt=2)),
                    provider.ack_work_item(two.token, retry=stranger),
                    provider.abandon_work_item(three.token, 10**400),
                    provider.enqueue_for_orchestrator(message("b", '"kept"')),
                ]
            )
            failed = [isinstance(answer, Exception) for answer in answers]
            assert failed == [False, True, False, True, True, False]
            for error in (answers[1], answers[3], answers[4]):
                assert isinstance(error, ProviderError)
                assert not error.retryable
            assert (await provider.list_runs())[0].run_id == "run-d"
            # What failed changed nothing: the token is live still.
            await provider.renew_work_item_lock(two.token, LONG)
            assert (await provider.queue_depths()).messages == 1
            found = await provider.fetch_work_items(LONG, 0, HANDLERS, 10)
            assert sorted(item.item.attempt for item in found) == [1, 2]

    asyncio.run(body())


def test_a_gap_in_the_history_fails_its_own_turn_and_keeps_the_lock(tmp_path: Path) -> None:
    """Beside another turn of the same batch, which is applied."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a", "b")
            for name in "ab":
                await provider.enqueue_for_orchestrator(message(name))
            one, two = await provider.fetch_orchestration_items(LONG, 0, 2)
            gap = replace(commit("b"), events=(event("b", 2), event("b", 4)))
            answers = await _together(
                [
                    provider.ack_orchestration_item(one.token, commit("a", seqs=(2, 3))),
                    provider.ack_orchestration_item(two.token, commit("b", seqs=(3,))),
                ]
            )
            assert answers[0] is None
            assert isinstance(answers[1], ProviderError)
            with pytest.raises(ProviderError, match="without a gap"):
                await provider.ack_orchestration_item(two.token, gap)
            assert len(await provider.read_events("run-a")) == 3
            await provider.ack_orchestration_item(two.token, commit("b", seqs=(2,)))

    asyncio.run(body())


def test_a_value_that_cannot_be_stored_fails_before_it_joins_a_batch(tmp_path: Path) -> None:
    """Not as an exception of Python's or the database's, and not for the others."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            broken = replace(event("a", 1), payload={"x": object()})
            answers = await _together(
                [
                    provider.start_run(replace(commit("a"), events=(broken,))),
                    provider.enqueue_for_orchestrator(NewMessage("run-a", 5)),  # type: ignore[arg-type]  # the test
                    provider.start_run(commit("b")),
                ]
            )
            assert [isinstance(answer, ProviderError) for answer in answers] == [True, True, False]

    asyncio.run(body())


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_only_acks_and_client_writes_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: str
) -> None:
    """And they, too, only where the user asked for it."""

    async def body() -> list[str]:
        async with opened(tmp_path / "x.db", durability=durability) as provider:
            with hops(monkeypatch) as seen:
                await start(provider, "a")
                item = await take(provider)
                await provider.record_beats([Beat(item.token, "1")])
                await provider.renew_work_item_lock(item.token, LONG)
                await provider.ack_work_item(item.token, message("a"))
            return [s for hop in seen for s in hop if "synchronous" in s]

    levels = [statement.rpartition("=")[2] for statement in asyncio.run(body())]
    assert levels == (["FULL", "NORMAL", "FULL"] if durability == "full" else [])


def test_an_ack_that_need_not_last_does_not_wait_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a Step of ASYNC durability acknowledges commits at the lower level."""

    async def body() -> list[str]:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a")
            item = await take(provider)
            with hops(monkeypatch) as seen:
                await provider.ack_work_item(item.token, message("a"), durable=False)
            return [s for hop in seen for s in hop if "synchronous" in s]

    # Taking the item had lowered the level already.
    assert asyncio.run(body()) == []


def test_reads_take_no_write_lock(tmp_path: Path) -> None:
    """A view is served while another process writes."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a")
            writer = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
            writer.execute("BEGIN IMMEDIATE")
            try:
                assert await provider.read_run(run_id="run-a") is not None
                assert len(await provider.read_events("run-a")) == 1
            finally:
                writer.close()

    asyncio.run(body())


def test_calls_on_another_loop_are_refused_by_name(tmp_path: Path) -> None:
    """A provider belongs to the loop that opened it."""
    provider = SqliteProvider(tmp_path / "x.db")
    with asyncio.Runner() as first:
        first.run(provider.open(Clock.real(), "engine"))
        with pytest.raises(Exception, match="another event loop"):
            asyncio.run(provider.list_runs())
        first.run(provider.close())
