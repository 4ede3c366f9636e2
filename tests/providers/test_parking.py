"""Parked fetches: what ends a wait, what does not, and that nothing spins or gets lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from itertools import pairwise
from typing import Any

import pytest

from dexnb.clock import Clock, VirtualTimeStuck
from dexnb.errors import ProviderError
from dexnb.providers.parking import LONGEST_WAIT, FetchParking

Body = Callable[[], Coroutine[Any, Any, None]]


def on_virtual_clock(body: Body) -> Callable[[], None]:
    """Run a coroutine test on a virtual loop."""

    @wraps(body)
    def test() -> None:
        Clock.virtual().run(body())

    del test.__wrapped__  # pytest would see a coroutine
    return test


def now() -> float:
    """Give the loop's time, which is the store's here."""
    return asyncio.get_running_loop().time()


class Shelf:
    """Items with the time from which they may be taken; counts the tries."""

    def __init__(self, *dues: float) -> None:
        """Put items on it."""
        self.dues = sorted(dues)
        self.tries = 0
        self.back: list[float] = []

    async def attempt(self) -> tuple[Sequence[float], float | None]:
        """Take the first item if it is due."""
        self.tries += 1
        if self.dues and self.dues[0] <= now():
            return [self.dues.pop(0)], None
        return [], self.dues[0] if self.dues else None

    async def slow_attempt(self) -> tuple[Sequence[float], float | None]:
        """Take the first item in the middle of a second of work."""
        await asyncio.sleep(0.5)
        found = await self.attempt()
        await asyncio.sleep(0.5)
        return found

    async def give_back(self, items: Sequence[float]) -> None:
        """Put items back, which takes a while, too."""
        await asyncio.sleep(0.25)
        self.back.extend(items)


def park(parking: FetchParking, shelf: Shelf, poll_timeout: float) -> asyncio.Task[Sequence[float]]:
    """Start a fetch of work."""
    return asyncio.ensure_future(parking.fetch("work", shelf.attempt, poll_timeout, now))


@on_virtual_clock
async def test_zero_tries_once_and_takes_no_time() -> None:
    """A fetch that must not wait does not."""
    shelf = Shelf(5.0)
    assert await FetchParking().fetch("work", shelf.attempt, 0, now) == []
    assert (shelf.tries, now()) == (1, 0)


@pytest.mark.parametrize("poll_timeout", [-1, -0.001, float("nan"), float("-inf")])
def test_a_poll_timeout_that_is_no_wait_is_refused(poll_timeout: float) -> None:
    """Before anything is tried, by name and value, for good."""
    shelf = Shelf(0.0)
    with pytest.raises(ProviderError, match=f"poll_timeout is {poll_timeout}") as refusal:
        Clock.virtual().run(FetchParking().fetch("messages", shelf.attempt, poll_timeout, now))
    assert (refusal.value.operation, refusal.value.retryable) == ("fetch_orchestration_item", False)
    assert shelf.tries == 0


@on_virtual_clock
async def test_an_idle_fetch_tries_at_the_beginning_and_at_the_end() -> None:
    """Thirty seconds without anything cost two tries."""
    shelf = Shelf()
    assert await FetchParking().fetch("work", shelf.attempt, 30.0, now) == []
    assert (shelf.tries, now()) == (2, 30.0)


@on_virtual_clock
async def test_an_item_to_come_costs_three_tries_with_a_hint() -> None:
    """The hint of something due in five seconds wakes the fetch once, its time once more."""
    parking, shelf = FetchParking(), Shelf()
    parked = park(parking, shelf, 30.0)
    await asyncio.sleep(0)
    shelf.dues.append(5.0)
    parking.hint("work")
    assert await parked == [5.0]
    assert (shelf.tries, now()) == (3, 5.0)


@on_virtual_clock
async def test_what_is_due_but_cannot_be_had_does_not_spin() -> None:
    """Tries come at doubling distances, half a second apart in the end."""
    parking, tries = FetchParking(), []

    async def attempt() -> tuple[Sequence[float], float | None]:
        tries.append(now())
        return [], 0.0

    await parking.fetch("work", attempt, 30.0, now)
    assert 30 / LONGEST_WAIT < len(tries) < 30 / LONGEST_WAIT + 12
    assert max(b - a for a, b in pairwise(tries)) < LONGEST_WAIT * 1.01


@on_virtual_clock
async def test_a_due_time_just_behind_a_failed_one_is_met() -> None:
    """A wait for nothing delays what comes next by no more than itself."""
    shelf = Shelf(1.0)
    parking = FetchParking()

    async def attempt() -> tuple[Sequence[float], float | None]:
        # The first item is somebody else's when its time comes, the next is ours.
        if shelf.tries == 1:
            shelf.dues = [1.2]
        return await shelf.attempt()

    assert await parking.fetch("work", attempt, 30.0, now) == [1.2]
    assert (shelf.tries, now()) == (3, 1.2)


@on_virtual_clock
async def test_a_hint_between_try_and_wait_is_not_lost() -> None:
    """What is committed while a try is on its way is found without waiting."""
    parking, shelf = FetchParking(), Shelf()

    async def attempt() -> tuple[Sequence[float], float | None]:
        found = await shelf.attempt()
        if shelf.tries == 1:
            shelf.dues.append(now())
            parking.hint("work")
        return found

    assert await parking.fetch("work", attempt, 30.0, now) == [0.0]
    assert (shelf.tries, now()) == (2, 0.0)


@on_virtual_clock
async def test_the_hint_of_one_queue_leaves_the_other_asleep() -> None:
    """Messages and work are waited for apart."""
    parking, shelf = FetchParking(), Shelf()
    parked = park(parking, shelf, 30.0)
    await asyncio.sleep(1)
    parking.hint("messages")
    await asyncio.sleep(1)
    assert (shelf.tries, parking.parked) == (1, 1)
    parked.cancel()


@on_virtual_clock
async def test_a_hint_reaches_all_who_wait_longest_first() -> None:
    """Two items and three fetches: the first two have them, the third waits on."""
    parking, shelf = FetchParking(), Shelf()
    parked = [park(parking, shelf, 30.0) for _ in range(3)]
    await asyncio.sleep(1)
    shelf.dues = [0.5, 0.6]
    parking.hint("work")
    await asyncio.sleep(1)
    assert [task.done() for task in parked] == [True, True, False]
    assert [task.result() for task in parked[:2]] == [[0.5], [0.6]]
    assert await parked[2] == []
    assert now() == 30.0


@on_virtual_clock
async def test_wake_lets_a_fetch_look_once_more_and_return() -> None:
    """Empty, or with what it finds."""
    parking, empty, full = FetchParking(), Shelf(), Shelf()
    parked = [park(parking, empty, 30.0), park(parking, full, 30.0)]
    await asyncio.sleep(1)
    full.dues.append(1.0)
    parking.wake()
    assert await asyncio.gather(*parked) == [[], [1.0]]
    assert (empty.tries, full.tries, now()) == (2, 2, 1.0)


@on_virtual_clock
async def test_a_wake_during_a_try_counts_too() -> None:
    """That try may have read the old handlers, so one more is made, and no wait."""
    parking, shelf = FetchParking(), Shelf()
    parked = asyncio.ensure_future(parking.fetch("work", shelf.slow_attempt, 30.0, now))
    await asyncio.sleep(0.2)
    parking.wake()
    assert await parked == []
    assert (shelf.tries, now()) == (2, 2.0)


@on_virtual_clock
async def test_an_endless_poll_timeout_waits_for_a_hint() -> None:
    """Infinity is a legal wait."""
    parking, shelf = FetchParking(), Shelf()
    parked = park(parking, shelf, float("inf"))
    await asyncio.sleep(1e6)
    shelf.dues.append(0.0)
    parking.hint("work")
    assert await parked == [0.0]
    assert shelf.tries == 2


@on_virtual_clock
async def test_a_cancelled_wait_leaves_nothing_behind() -> None:
    """No waiter, and the item is for the next fetch."""
    parking, shelf = FetchParking(), Shelf(5.0)
    parked = park(parking, shelf, 30.0)
    await asyncio.sleep(1)
    parked.cancel()
    await asyncio.wait([parked])
    assert (parked.cancelled(), parking.parked) == (True, 0)
    assert (shelf.tries, shelf.dues) == (1, [5.0])


def test_a_cancelled_wait_leaves_no_timer_behind() -> None:
    """Nothing more would ever happen on its loop."""

    async def main() -> None:
        parked = park(FetchParking(), Shelf(5.0), 30.0)
        await asyncio.sleep(1)
        parked.cancel()
        await asyncio.get_running_loop().create_future()

    with pytest.raises(VirtualTimeStuck) as stuck:
        Clock.virtual().run(main())
    assert stuck.value.at == 1.0


@on_virtual_clock
async def test_settle_ends_the_fetches_of_both_queues() -> None:
    """As a store does that closes."""
    parking, shelf = FetchParking(), Shelf()
    parked = [park(parking, shelf, 30.0)]
    parked.append(asyncio.ensure_future(parking.fetch("messages", shelf.attempt, 30.0, now)))
    await asyncio.sleep(1)
    await parking.settle()
    assert await asyncio.gather(*parked) == [[], []]
    assert now() == 1.0


@on_virtual_clock
async def test_a_fetch_cancelled_just_as_it_is_woken_takes_nothing() -> None:
    """The cancellation wins over the hint of the same moment."""
    parking, shelf = FetchParking(), Shelf()
    parked = park(parking, shelf, 30.0)
    await asyncio.sleep(1)
    shelf.dues.append(1.0)
    parking.hint("work")
    parked.cancel()
    await asyncio.wait([parked])
    assert (parked.cancelled(), shelf.dues) == (True, [1.0])


@pytest.mark.parametrize("moment", [0.0, 0.2, 0.5, 0.7, 1.0])
def test_what_a_cancelled_try_locked_is_handed_back(moment: float) -> None:
    """At whatever moment of the try it is cancelled, the very last one included."""

    async def main() -> None:
        parking, shelf = FetchParking(), Shelf(0.0)
        parked = asyncio.ensure_future(
            parking.fetch("work", shelf.slow_attempt, 30.0, now, shelf.give_back)
        )
        asyncio.get_running_loop().call_at(moment, parked.cancel)
        await asyncio.wait([parked])
        await parking.settle()
        got = [] if parked.cancelled() else list(parked.result())
        assert got + shelf.back + shelf.dues == [0.0]
        assert got == []

    Clock.virtual().run(main())


@on_virtual_clock
async def test_a_try_that_fails_after_its_cancellation_is_nobodys_business() -> None:
    """It locked nothing, so nothing is handed back and nobody hears of it."""
    parking, shelf = FetchParking(), Shelf()

    async def attempt() -> tuple[Sequence[float], float | None]:
        await asyncio.sleep(1)
        raise ProviderError("fetch_work_item", "database is busy", retryable=True)

    parked = asyncio.ensure_future(parking.fetch("work", attempt, 30.0, now, shelf.give_back))
    await asyncio.sleep(0.5)
    parked.cancel()
    await asyncio.wait([parked])
    await parking.settle()
    assert (parked.cancelled(), shelf.back) == (True, [])


@on_virtual_clock
async def test_the_error_of_a_try_reaches_the_caller() -> None:
    """A fetch hides no failure, at first or after a wait."""
    parking, shelf = FetchParking(), Shelf(1.0)

    async def attempt() -> tuple[Sequence[float], float | None]:
        if shelf.tries == 1:
            raise ProviderError("fetch_work_item", "database is busy", retryable=True)
        return await shelf.attempt()

    with pytest.raises(ProviderError, match="database is busy"):
        await parking.fetch("work", attempt, 30.0, now)
    assert parking.parked == 0
