"""Virtual time stands still while threads work: it never overtakes what it cannot see."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import aiosqlite
import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from dexnb.clock import Clock, ClockRefusal, hold, outside_work, sleep_blocking

BUSY = 0.05
HEAVY_QUERY = """
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
select sum(i) from n
"""


def now() -> float:
    """Give the running loop's time."""
    return asyncio.get_running_loop().time()


async def by_asyncio() -> None:
    """Work in a thread of asyncio."""
    await asyncio.to_thread(sleep_blocking, BUSY)


async def by_anyio() -> None:
    """Work in a thread of anyio, which does not go through the loop."""
    await anyio.to_thread.run_sync(sleep_blocking, BUSY)


async def by_own_pool() -> None:
    """Work in a pool of the caller's."""
    with ThreadPoolExecutor(1) as pool:
        await asyncio.get_running_loop().run_in_executor(pool, sleep_blocking, BUSY)


async def by_bare_thread() -> None:
    """Work in a thread that only `outside_work` tells the loop about."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def work() -> None:
        sleep_blocking(BUSY)
        loop.call_soon_threadsafe(done.set)

    with outside_work():
        threading.Thread(target=work).start()
        await done.wait()


async def by_aiosqlite() -> None:
    """Work in the thread of a database."""
    with outside_work():
        async with aiosqlite.connect(":memory:") as db:
            rows = await db.execute_fetchall(HEAVY_QUERY)
            assert list(rows) == [(5000050000,)]


WORKERS = [by_asyncio, by_anyio, by_own_pool, by_bare_thread, by_aiosqlite]


@pytest.mark.parametrize("work", WORKERS)
def test_time_does_not_drift_while_a_thread_works(work: Callable[[], Awaitable[None]]) -> None:
    """Not a nanosecond passes, though a timer is due soon and a timeout would fire falsely."""

    async def main() -> list[float]:
        ticks: list[float] = []

        async def tick() -> None:
            await asyncio.sleep(0.001)
            ticks.append(now())

        await asyncio.sleep(1)
        ticker = asyncio.create_task(tick())
        async with asyncio.timeout(0.01):
            for _ in range(3):
                await work()
        ended = now()
        await ticker
        return [ended, *ticks]

    assert Clock.virtual().run(main()) == [1.0, 1.001]


@pytest.mark.parametrize("work", [by_asyncio, by_anyio, by_bare_thread, by_aiosqlite])
def test_time_goes_on_after_the_work(work: Callable[[], Awaitable[None]]) -> None:
    """No count is left over, whether the work ended well or was one of many at once."""

    async def main() -> float:
        await asyncio.gather(*(work() for _ in range(5)))
        await asyncio.sleep(60)
        return now()

    assert Clock.virtual().run(main()) == 60.0


@pytest.mark.parametrize("to_thread", [asyncio.to_thread, anyio.to_thread.run_sync])
def test_a_failing_thread_leaves_no_count(
    to_thread: Callable[[Callable[[], object]], Awaitable[object]],
) -> None:
    """An exception from a thread reaches its caller, and time goes on."""

    def fail() -> None:
        raise LookupError

    async def main() -> float:
        with pytest.raises(LookupError):
            await to_thread(fail)
        await asyncio.sleep(5)
        return now()

    assert Clock.virtual().run(main()) == 5.0


def abandon_by_asyncio(work: Callable[[], object]) -> Awaitable[object]:
    """Give a call to a thread that does not wait for the thread when cancelled."""
    return asyncio.to_thread(work)


def abandon_by_anyio(work: Callable[[], object]) -> Awaitable[object]:
    """Give the same from anyio."""
    return anyio.to_thread.run_sync(work, abandon_on_cancel=True)


@pytest.mark.parametrize("call", [abandon_by_asyncio, abandon_by_anyio])
def test_a_thread_that_was_given_up_still_holds_time(
    call: Callable[[Callable[[], object]], Awaitable[object]],
) -> None:
    """Cancelling the waiter does not end the thread: time waits for its real end."""
    log: list[str] = []
    started = threading.Event()

    def work() -> None:
        started.set()
        sleep_blocking(BUSY)
        log.append("thread ended")

    async def main() -> None:
        waiter = asyncio.ensure_future(call(work))
        while not started.is_set():
            await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.sleep(1)
        log.append("time went on")

    Clock.virtual().run(main())

    assert log == ["thread ended", "time went on"]


def test_an_answer_from_an_uncounted_thread_ends_the_run_by_name() -> None:
    """A database hop without `outside_work` is refused rather than overtaken in silence."""

    async def hop() -> None:
        db = aiosqlite.connect(":memory:")
        try:
            await db
        finally:
            with outside_work():
                await db.close()

    with pytest.raises(ClockRefusal, match="outside_work") as caught:
        Clock.virtual().run(with_ticker(hop()))
    assert "_connection_worker_thread" in caught.value.who


async def with_ticker(work: Awaitable[None]) -> None:
    """Do some work beside a timer that is always set."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(1)

    ticker = asyncio.create_task(tick())
    try:
        await work
    finally:
        ticker.cancel()


def test_hold_keeps_time_still_from_another_thread() -> None:
    """A notebook's cell looks at a running simulation without it moving on."""
    loop = Clock.virtual(external_wakeups=True).new_event_loop()
    thread = threading.Thread(target=loop.run_forever)

    async def tick() -> None:
        while True:
            await asyncio.sleep(1)

    thread.start()
    try:
        with hold(loop):
            before = loop.time()
            ticker = asyncio.run_coroutine_threadsafe(tick(), loop)
            seen = {loop.time() for _ in range(1000)}
            assert not ticker.done()
        while loop.time() < before + 100:
            pass
        with hold(loop), hold(loop):
            still = loop.time()
            sleep_blocking(BUSY)
            assert loop.time() == still
        ticker.cancel()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    assert seen == {before}


def test_a_loop_with_external_wakeups_waits_for_them_and_answers() -> None:
    """With nothing to do it sleeps for real, and a call from outside runs in virtual time."""
    loop = Clock.virtual(external_wakeups=True).new_event_loop()
    thread = threading.Thread(target=loop.run_forever)

    async def step() -> float:
        await asyncio.sleep(3600)
        return now()

    thread.start()
    try:
        assert asyncio.run_coroutine_threadsafe(step(), loop).result(10) == 3600.0
        sleep_blocking(BUSY)
        assert loop.time() == 3600.0
        assert asyncio.run_coroutine_threadsafe(step(), loop).result(10) == 7200.0
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_a_loop_in_another_thread_can_be_told_to_stop() -> None:
    """Stopping is no answer that time could have overtaken."""
    loop = Clock.virtual().new_event_loop()
    ticking = threading.Event()
    caught: list[BaseException] = []

    async def tick() -> None:
        while True:
            ticking.set()
            await asyncio.sleep(1)

    def serve() -> None:
        try:
            loop.run_forever()
        except ClockRefusal as refusal:
            caught.append(refusal)

    ticker = loop.create_task(tick())
    thread = threading.Thread(target=serve)
    thread.start()
    ticking.wait(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    ticker.cancel()
    loop.run_until_complete(asyncio.wait([ticker]))
    loop.close()

    assert caught == []


def call_back_by_anyio(loop: asyncio.AbstractEventLoop) -> None:
    """Go back into the loop from a worker of anyio, twice, with work in between."""
    for _ in range(2):
        anyio.from_thread.run(anyio.sleep, 30)
        sleep_blocking(BUSY)


def call_back_by_asyncio(loop: asyncio.AbstractEventLoop) -> None:
    """Go back into the loop from any thread, twice, with work in between."""
    for _ in range(2):
        asyncio.run_coroutine_threadsafe(asyncio.sleep(30), loop).result()
        sleep_blocking(BUSY)


@pytest.mark.parametrize("back", [call_back_by_anyio, call_back_by_asyncio])
def test_time_passes_for_a_thread_that_waits_for_the_loop(
    back: Callable[[asyncio.AbstractEventLoop], None],
) -> None:
    """A thread that sleeps on the loop is no outside work, until it has its answer."""

    async def main() -> list[float]:
        work = partial(back, asyncio.get_running_loop())
        ticks: list[float] = []

        async def tick() -> None:
            for _ in range(7):
                await asyncio.sleep(10)
                ticks.append(now())

        ticker = asyncio.create_task(tick())
        await anyio.to_thread.run_sync(work)
        ended = now()
        await ticker
        return [ended, *ticks]

    assert Clock.virtual().run(main()) == [60.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]


def test_time_stays_still_for_work_while_an_outsider_waits_for_the_whole_run() -> None:
    """Only a thread that is itself counted may let time pass by waiting for the loop."""
    loop = Clock.virtual(external_wakeups=True).new_event_loop()
    thread = threading.Thread(target=loop.run_forever)

    async def run() -> list[float]:
        ticks: list[float] = []

        async def tick() -> None:
            await asyncio.sleep(0.001)
            ticks.append(now())

        ticker = asyncio.create_task(tick())
        await by_aiosqlite()
        ended = now()
        await ticker
        return [ended, *ticks]

    thread.start()
    try:
        assert asyncio.run_coroutine_threadsafe(run(), loop).result(30) == [0.0, 0.001]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_time_passes_for_a_bare_thread_that_declared_itself() -> None:
    """A thread that entered `outside_work` is known by its own count."""

    async def main() -> float:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        entered = threading.Event()

        def work() -> None:
            with outside_work(loop):
                entered.set()
                call_back_by_asyncio(loop)
                loop.call_soon_threadsafe(done.set)

        thread = threading.Thread(target=work)
        thread.start()
        entered.wait()
        await done.wait()
        thread.join()
        return now()

    assert Clock.virtual().run(main()) == 60.0


@pytest.mark.parametrize("clock", [Clock.real(), Clock.scaled(10)])
def test_counting_does_nothing_where_time_passes_by_itself(clock: Clock) -> None:
    """Code that declares its outside work runs on every clock."""

    async def main() -> float:
        before = now()
        with outside_work(), hold(asyncio.get_running_loop()):
            await asyncio.sleep(0.01)
        return now() - before

    assert clock.run(main()) > 0.009
