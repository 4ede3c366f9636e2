"""How long a fetch that finds nothing waits, and what ends the wait."""

from __future__ import annotations

import asyncio
import random
from typing import TypeVar

import pytest

from dexnb.providers import Handlers, OrchestrationItem, WorkItem
from dexnb.testing.conformance.case import HANDLER, POLL_1, Case, case, elapsed, refused

T = TypeVar("T")
PATIENCE = 30.0


def _park(store: Case, poll_timeout: float = PATIENCE) -> asyncio.Task[WorkItem | None]:
    return asyncio.ensure_future(
        store.provider.fetch_work_item(store.lock_timeout, poll_timeout, store.handlers)
    )


def _park_for_run(store: Case) -> asyncio.Task[OrchestrationItem | None]:
    return asyncio.ensure_future(
        store.provider.fetch_orchestration_item(store.lock_timeout, PATIENCE)
    )


async def _comes_at_once(store: Case, parked: asyncio.Task[T | None]) -> None:
    assert await elapsed(asyncio.shield(parked)) < store.factory.short_poll_threshold
    assert parked.result() is not None


def _needs_waiting(store: Case) -> None:
    if not store.factory.waits_for_work:
        pytest.skip("this store never waits for work")


class TestLongPolling:
    """Poll timeouts, hints and cancellation."""

    @case
    async def test_zero_means_now(self, store: Case) -> None:
        """An empty queue answers at once, in both queues."""
        threshold = store.factory.short_poll_threshold
        assert await elapsed(store.find_work()) < threshold
        assert await elapsed(store.find_run()) < threshold

    @case
    async def test_zero_gives_what_is_there(self, store: Case) -> None:
        """A fetch that does not wait still finds."""
        await store.start(steps=[POLL_1])
        await store.send()
        assert await store.find_work() is not None
        assert await store.find_run() is not None

    @case
    async def test_a_negative_poll_timeout_is_refused(self, store: Case) -> None:
        """By name and value, though there would be something to fetch."""
        await store.start(steps=[POLL_1])
        await store.send()
        fetch_work = store.provider.fetch_work_item
        fetch_run = store.provider.fetch_orchestration_item
        for error in (
            await refused(fetch_work, store.lock_timeout, -1.0, store.handlers),
            await refused(fetch_run, store.lock_timeout, -1.0),
        ):
            assert "poll_timeout" in str(error)
            assert "-1" in str(error)
        assert (await store.take_work()).deliveries == 1

    @case
    async def test_no_fetch_waits_longer_than_its_poll_timeout(self, store: Case) -> None:
        """Stores that wait and stores that do not keep the same upper bound."""
        longest = 0.3 + store.factory.short_poll_threshold
        fetch_work = store.provider.fetch_work_item(store.lock_timeout, 0.3, store.handlers)
        fetch_run = store.provider.fetch_orchestration_item(store.lock_timeout, 0.3)
        assert await elapsed(fetch_work) <= longest
        assert await elapsed(fetch_run) <= longest

    @case
    async def test_a_waiting_store_waits_out_its_poll_timeout(self, store: Case) -> None:
        """It does not come back empty early; a store that never waits answers at once."""
        fetch_work = store.provider.fetch_work_item(store.lock_timeout, 0.5, store.handlers)
        fetch_run = store.provider.fetch_orchestration_item(store.lock_timeout, 0.5)
        for waited in (await elapsed(fetch_work), await elapsed(fetch_run)):
            if store.factory.waits_for_work:
                assert waited >= 0.499
            else:
                assert waited < store.factory.short_poll_threshold

    @case
    async def test_new_work_ends_the_wait(self, store: Case) -> None:
        """A parked fetch has the item as soon as it is committed."""
        _needs_waiting(store)
        parked = _park(store)
        await store.advance(0.2)
        await store.start(steps=[POLL_1])
        await _comes_at_once(store, parked)

    @case
    async def test_a_new_message_ends_the_wait(self, store: Case) -> None:
        """A parked fetch has the run as soon as the message is committed."""
        _needs_waiting(store)
        await store.start()
        parked = _park_for_run(store)
        await store.advance(0.2)
        await store.send()
        await _comes_at_once(store, parked)

    @case
    async def test_a_hand_back_ends_the_wait(self, store: Case) -> None:
        """In both queues."""
        _needs_waiting(store)
        work = await store.started_work()
        await store.send()
        run = await store.take_run()
        parked, parked_run = _park(store), _park_for_run(store)
        await store.advance(0.05)
        await store.provider.abandon_work_item(work.token)
        await _comes_at_once(store, parked)
        await store.provider.abandon_orchestration_item(run.token)
        await _comes_at_once(store, parked_run)

    @case
    async def test_the_end_of_a_turn_ends_the_wait(self, store: Case) -> None:
        """For the messages that came under the lock, and for the work that it enqueued."""
        _needs_waiting(store)
        run = await store.locked_run()
        await store.send()
        parked, parked_run = _park(store), _park_for_run(store)
        await store.advance(0.05)
        turn = store.turn(run, work_items=(store.work("a"),))
        await store.provider.ack_orchestration_item(run.token, turn)
        await _comes_at_once(store, parked)
        await _comes_at_once(store, parked_run)

    @case
    async def test_the_end_of_an_attempt_ends_the_wait(self, store: Case) -> None:
        """For the retry that it enqueued, and for the message that it sent."""
        _needs_waiting(store)
        await store.start(steps=["Poll-1", "Poll-2"])
        failed, done = await store.take_work(), await store.take_work()
        parked, parked_run = _park(store), _park_for_run(store)
        await store.advance(0.05)
        retry = store.work("a", attempt=2)
        await store.provider.ack_work_item(failed.token, retry=retry)
        await _comes_at_once(store, parked)
        await store.provider.ack_work_item(done.token, store.message("a"))
        await _comes_at_once(store, parked_run)

    @case
    async def test_an_item_to_come_is_delivered_when_it_is_due(self, store: Case) -> None:
        """A notice of something that is not due yet neither delivers nor delays it."""
        _needs_waiting(store)
        due = store.provider.clock.now() + 0.5
        parked = _park(store)
        work = store.work("a", visible_at=due)
        await store.provider.start_run(store.commit("a", events=[1], work_items=(work,)))
        assert await parked is not None
        assert 0 <= store.provider.clock.now() - due < 0.3

    @case
    async def test_the_end_of_a_lock_ends_the_wait(self, store: Case) -> None:
        """What a silent holder had is delivered when its time is over."""
        _needs_waiting(store)
        await store.started_work()
        parked = _park(store)
        took = await elapsed(asyncio.shield(parked))
        assert parked.result() is not None
        assert took < store.lock_timeout + 0.3

    @case
    async def test_work_that_no_handler_runs_does_not_end_the_wait(self, store: Case) -> None:
        """The fetch waits on, and is served when its own work comes."""
        _needs_waiting(store)
        parked = _park(store)
        await store.start("a", steps=["Other-1"])
        await store.advance(0.2)
        assert not parked.done()
        await store.start("b", steps=[POLL_1])
        item = await parked
        assert item is not None
        assert item.item.run_id == "run-b"

    @case
    async def test_wake_ends_the_wait(self, store: Case) -> None:
        """Parked fetches of both queues look once more and return empty."""
        _needs_waiting(store)
        parked, parked_run = _park(store), _park_for_run(store)
        await store.advance(0.05)
        store.provider.wake()
        both = asyncio.gather(parked, parked_run)
        assert await elapsed(both) < store.factory.short_poll_threshold
        assert all(found is None for found in both.result())

    @case
    async def test_a_woken_fetch_sees_new_handlers(self, store: Case) -> None:
        """Handlers are read anew at every try."""
        _needs_waiting(store)
        store.handlers = Handlers()
        await store.start(steps=[POLL_1])
        parked = _park(store)
        await store.advance(0.05)
        store.handlers.names = frozenset({HANDLER})
        store.provider.wake()
        assert await parked is not None

    @case
    async def test_close_ends_the_wait_and_takes_nothing(self, store: Case) -> None:
        """An engine that stops is not held up, and what comes later is another's."""
        _needs_waiting(store)
        other = await store.second()
        parked = asyncio.ensure_future(
            other.fetch_work_item(store.lock_timeout, PATIENCE, store.handlers)
        )
        await store.advance(0.05)
        assert await elapsed(other.close()) < 1.0
        assert await elapsed(asyncio.wait([parked])) < 1.0
        assert parked.exception() is not None or parked.result() is None
        assert (await store.started_work()).deliveries == 1

    @case
    async def test_a_cancelled_fetch_takes_nothing(self, store: Case) -> None:
        """What comes after the cancellation is delivered to the next fetch, once."""
        parked = _park(store)
        await store.advance(0.05)
        parked.cancel()
        await asyncio.wait([parked])
        await store.advance(0.3)
        await store.start(steps=[POLL_1])
        assert (await store.take_work()).deliveries == 1
        assert await store.find_work() is None

    @case
    async def test_no_moment_of_cancelling_loses_an_item(self, store: Case) -> None:
        """Two hundred times a parked fetch is cancelled just when an item comes."""
        moments = random.Random(4)
        for number in range(200):
            parked = _park(store, 0.05)
            await store.advance(moments.choice((0, 0.001, 0.003)))
            starting = asyncio.ensure_future(store.start(f"n{number}", steps=[POLL_1]))
            for _ in range(moments.randrange(4)):
                await asyncio.sleep(0)
            parked.cancel()
            await asyncio.wait([parked, starting])
            taken = None if parked.cancelled() else parked.result()
            if taken is None:
                taken = await _park(store, store.lock_timeout / 2)
            assert taken is not None, f"item {number} was lost"
            assert (taken.item.run_id, taken.deliveries) == (f"run-n{number}", 1)
            await store.provider.ack_work_item(taken.token)
