"""Work that the SQLite provider hands over with the commit of the turn that enqueues it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dexnb.errors import ProviderError
from dexnb.providers import Handlers, Taker, WorkItem
from dexnb.providers.sqlite import SqliteProvider
from tests.providers.sqlite_case import (
    HANDLERS,
    LONG,
    commit,
    message,
    opened,
    work,
)

SHORT = 0.05


async def start(provider: SqliteProvider, name: str, **parts: Any) -> None:
    """Start a run with one work item; what is handed over comes just behind the answer."""
    await provider.start_run(commit(name, work_items=(work(name, **parts),)))
    await asyncio.sleep(0)


class Hands:
    """Takes what is handed over, as far as there is room."""

    def __init__(self, room: int = 100, lease: float = LONG, handlers: Handlers = HANDLERS) -> None:
        """Hold nothing yet."""
        self.limit = room
        self.items: list[WorkItem] = []
        self.taker = Taker(handlers, lambda: lease, self.room, self.items.extend)

    def room(self) -> int:
        """Count what is still free."""
        return self.limit - len(self.items)


async def parks(provider: SqliteProvider) -> None:
    """Wait until a fetch of work waits."""
    while not provider._opened("test").parking.idle("work"):  # noqa: SLF001 - nobody else can tell
        await asyncio.sleep(0.001)


@asynccontextmanager
async def parked(
    provider: SqliteProvider, limit: int = 100
) -> AsyncIterator[asyncio.Task[Sequence[WorkItem]]]:
    """Let a fetch of work wait."""
    fetch = asyncio.create_task(provider.fetch_work_items(LONG, LONG, HANDLERS, limit))
    await parks(provider)
    yield fetch
    fetch.cancel()
    with suppress(asyncio.CancelledError):
        await fetch


def test_what_a_start_enqueues_is_locked_with_it_and_handed_over(tmp_path: Path) -> None:
    """It is delivered for the first time, and nobody else finds it while its lease holds."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands()
            provider.hand_over(hands.taker)
            async with parked(provider) as fetch:
                await start(provider, "a", checkpoint='{"at":3}')
                (taken,) = hands.items
                assert (taken.deliveries, taken.item.attempt) == (1, 1)
                assert taken.item.first_attempt_at == pytest.approx(provider.clock.now(), abs=5)
                assert (taken.item.checkpoint, taken.item.payload) == ('{"at":3}', '{"input":1}')
                assert not fetch.done()
            assert (await provider.queue_depths()).leased == 1
            await provider.ack_work_item(taken.token, message("a"))
            assert (await provider.queue_depths()).work_items == 0

    asyncio.run(body())


def test_what_was_handed_over_and_never_done_comes_again(tmp_path: Path) -> None:
    """Its lease runs out like any other, and the next delivery is another attempt."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands(lease=SHORT)
            provider.hand_over(hands.taker)
            async with parked(provider) as fetch:
                await start(provider, "a")
                (again,) = await fetch
            (first,) = hands.items
            assert (again.deliveries, again.item.attempt) == (2, 2)
            assert again.item.first_attempt_at == first.item.first_attempt_at
            with pytest.raises(ProviderError):
                await provider.ack_work_item(first.token)

    asyncio.run(body())


def test_the_next_step_comes_with_the_end_of_the_one_before(tmp_path: Path) -> None:
    """One commit for each Step, and no fetch."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands()
            provider.hand_over(hands.taker)
            async with parked(provider):
                await start(provider, "a")
                (first,) = hands.items
                following = commit("a", seqs=(2,), work_items=(work("a", "Step-2"),))
                assert await provider.ack_work_item_with_turn(first.token, message("a"), following)
                await asyncio.sleep(0)
            assert [each.item.step_execution_id for each in hands.items] == ["Step-1", "Step-2"]

    asyncio.run(body())


def test_a_turn_that_does_not_fit_hands_nothing_over(tmp_path: Path) -> None:
    """Its message is sent instead, and whoever folds it enqueues what follows."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands()
            provider.hand_over(hands.taker)
            async with parked(provider):
                await start(provider, "a")
                late = commit("a", seqs=(7,), work_items=(work("a", "Step-2"),))
                (first,) = hands.items
                assert not await provider.ack_work_item_with_turn(first.token, message("a"), late)
                assert len(hands.items) == 1
                (turn,) = await provider.fetch_orchestration_items(LONG, 0, 10)
                await parks(provider)
                fitting = commit("a", seqs=(2,), work_items=(work("a", "Step-2"),))
                await provider.ack_orchestration_item(turn.token, fitting)
                await asyncio.sleep(0)
            assert [each.item.step_execution_id for each in hands.items] == ["Step-1", "Step-2"]

    asyncio.run(body())


def test_without_a_parked_fetch_work_waits_in_line(tmp_path: Path) -> None:
    """Something older may wait, and must not be overtaken."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands()
            provider.hand_over(hands.taker)
            await start(provider, "a")
            assert not hands.items
            (found,) = await provider.fetch_work_items(LONG, 0, HANDLERS, 10)
            assert found.item.run_id == "run-a"

    asyncio.run(body())


def test_beside_another_engine_work_is_shared_as_ever(tmp_path: Path) -> None:
    """Nothing is handed over, so that the other one can fetch it."""

    async def body() -> None:
        async with (
            opened(tmp_path / "x.db", "other") as other,
            opened(tmp_path / "x.db") as provider,
        ):
            hands = Hands()
            provider.hand_over(hands.taker)
            async with parked(provider) as fetch:
                await start(provider, "a")
                (found,) = await fetch
                assert found.item.run_id == "run-a"
                assert not hands.items
            assert not await other.fetch_work_items(LONG, 0, HANDLERS, 10)

    asyncio.run(body())


def test_there_is_never_more_than_room_for_together_with_the_fetch(tmp_path: Path) -> None:
    """What finds no room any more stays for later, and the fetch stands back for what came."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands(room=3)
            provider.hand_over(hands.taker)
            async with parked(provider, limit=3) as fetch:
                await asyncio.gather(*(start(provider, str(number)) for number in range(10)))
                assert len(hands.items) == 3
                provider.wake()
                assert await fetch == ()
            hands.items.clear()
            assert len(await provider.fetch_work_items(LONG, 0, HANDLERS, 10)) == 3

    asyncio.run(body())


def test_what_is_of_other_code_or_due_later_is_not_handed_over(tmp_path: Path) -> None:
    """It could not begin now."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands(handlers=Handlers({"Flow/Other"}))
            provider.hand_over(hands.taker)
            async with parked(provider):
                await start(provider, "a")
            hands = Hands()
            provider.hand_over(hands.taker)
            await provider.fetch_work_items(LONG, 0, HANDLERS, 10)
            async with parked(provider):
                await start(provider, "b", visible_at=provider.clock.now() + LONG)
            assert not hands.items

    asyncio.run(body())


def test_what_lands_behind_the_last_word_goes_back_uncounted(tmp_path: Path) -> None:
    """An engine that stops keeps nothing locked."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands()
            provider.hand_over(hands.taker)
            async with parked(provider):
                starting = asyncio.ensure_future(start(provider, "a"))
                await asyncio.sleep(0)
                provider.hand_over(None)
                await starting
        async with opened(tmp_path / "x.db") as provider:
            (found,) = await provider.fetch_work_items(LONG, 0, HANDLERS, 10)
            assert (found.deliveries, found.item.attempt) == (1, 1)
            assert not hands.items

    asyncio.run(body())


def test_one_that_fails_takes_nothing_from_the_others(tmp_path: Path) -> None:
    """Its batch is done again one by one, and every lease is a new one."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            hands = Hands()
            provider.hand_over(hands.taker)
            twice = (work("bad"), work("bad"))
            bad = commit("bad", work_items=twice)
            async with parked(provider):
                done = await asyncio.gather(
                    start(provider, "a"),
                    provider.start_run(bad),
                    start(provider, "b"),
                    return_exceptions=True,
                )
                assert [isinstance(each, ProviderError) for each in done] == [False, True, False]
                assert [each.item.run_id for each in hands.items] == ["run-a", "run-b"]
                for item in hands.items:
                    await provider.ack_work_item(item.token)

    asyncio.run(body())


def test_a_taker_that_fails_holds_nobody_up(tmp_path: Path) -> None:
    """Whatever is asked for next is answered; the lease of what was not taken runs out."""

    async def body() -> None:
        failures: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, told: failures.append(told))

        def refuse(items: Sequence[WorkItem]) -> None:
            raise RuntimeError(items)

        async with opened(tmp_path / "x.db") as provider:
            provider.hand_over(replace(Hands(lease=SHORT).taker, take=refuse))
            async with parked(provider) as fetch:
                await start(provider, "a")
                assert (await provider.queue_depths()).leased == 1
                (again,) = await fetch
                assert again.deliveries == 2
        assert len(failures) == 1

    asyncio.run(body())
