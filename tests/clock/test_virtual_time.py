"""Virtual time: what sleeps, timeouts and scopes see of it."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.clock import LONGEST, Clock, monotonic, wall_time
from dexnb.errors import DefinitionError


def now() -> float:
    """Give the running loop's time."""
    return asyncio.get_running_loop().time()


def test_ten_minutes_of_polling_take_no_real_time_and_end_on_the_second() -> None:
    """Sleeping only moves the clock, to exactly where it should be."""

    async def poll() -> float:
        for _ in range(300):
            await asyncio.sleep(0.5)
            await asyncio.sleep(1.5)
        return now()

    before = monotonic()

    assert Clock.virtual().run(poll()) == 600.0
    assert monotonic() - before < 5


@pytest.mark.parametrize("sleep", [asyncio.sleep, anyio.sleep])
def test_tasks_interleave_in_order_of_time(sleep: Callable[[float], Awaitable[None]]) -> None:
    """Each task wakes at its own moments, whoever sleeps for it."""
    seen: list[tuple[float, str]] = []

    async def tick(name: str, period: float) -> None:
        for _ in range(3):
            await sleep(period)
            seen.append((now(), name))

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(tick("slow", 7.0))
            group.create_task(tick("fast", 2.0))

    Clock.virtual().run(main())

    assert seen == [
        (2.0, "fast"),
        (4.0, "fast"),
        (6.0, "fast"),
        (7.0, "slow"),
        (14.0, "slow"),
        (21.0, "slow"),
    ]


def test_every_kind_of_timeout_fires_at_its_virtual_deadline() -> None:
    """For asyncio and for anyio ten seconds are over at the same moment."""

    async def by_wait_for() -> None:
        await asyncio.wait_for(asyncio.Event().wait(), 10)

    async def by_timeout() -> None:
        async with asyncio.timeout(10):
            await asyncio.sleep(3600)

    async def by_fail_after() -> None:
        with anyio.fail_after(10):
            await anyio.sleep_forever()

    async def main() -> list[float]:
        ends = []
        for wait in (by_wait_for, by_timeout, by_fail_after):
            with pytest.raises(TimeoutError):
                await wait()
            ends.append(now())
        with anyio.move_on_after(10) as scope:
            await anyio.sleep(3600)
        assert scope.cancelled_caught
        return [*ends, now()]

    assert Clock.virtual().run(main()) == [10.0, 20.0, 30.0, 40.0]


def test_an_anyio_task_group_cancels_its_sleepers_at_once() -> None:
    """A failing task ends its group at the moment it fails."""

    async def fail() -> None:
        await anyio.sleep(4)
        raise LookupError

    async def together() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.sleep, 600)
            group.start_soon(fail)

    async def main() -> float:
        with pytest.raises(ExceptionGroup):
            await together()
        return now()

    assert Clock.virtual().run(main()) == 4.0


def test_a_call_that_puts_off_its_cancellation_takes_all_of_its_time() -> None:
    """A 0.1 s timeout around a client that cleans up for 1 s ends late, and says timeout."""

    async def slow_to_end() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(1)

    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await slow_to_end()
        return now()

    assert Clock.virtual().run(main()) == pytest.approx(1.1)


def test_a_thousand_races_of_cancel_and_timeout_all_end() -> None:
    """No call hangs, and none ends in any other way than cancelled or timed out."""
    draw = random.Random(7)

    async def call() -> str:
        try:
            async with asyncio.timeout(draw.choice([0.5, 1.0])):
                await asyncio.sleep(draw.choice([0.25, 1.0, 3600.0]))
        except TimeoutError:
            return "timeout"
        return "answer"

    async def race() -> str:
        task = asyncio.create_task(call())
        await asyncio.sleep(draw.choice([0.0, 0.5, 1.0, 1.5]))
        task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            return "cancelled"

    async def main() -> set[str]:
        return {await race() for _ in range(1000)}

    assert Clock.virtual().run(main()) == {"timeout", "cancelled", "answer"}


def trace(seed: int) -> list[tuple[float, int]]:
    """Run a random program of sleepers, timeouts and messages; give all that it saw."""
    draw = random.Random(seed)
    seen: list[tuple[float, int]] = []

    async def walk(name: int, queue: asyncio.Queue[int]) -> None:
        for _ in range(20):
            if draw.random() < 0.3:
                queue.put_nowait(name)
            try:
                async with asyncio.timeout(draw.random()):
                    name = await queue.get()
            except TimeoutError:
                await asyncio.sleep(draw.random())
            seen.append((now(), name))

    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        await asyncio.gather(*(walk(name, queue) for name in range(10)))

    Clock.virtual().run(main())
    return seen


def test_two_runs_of_one_program_see_the_same_times() -> None:
    """The trace of a run depends on the program alone."""
    first = trace(3)

    assert len(first) == 200
    assert trace(3) == first
    assert trace(4) != first


@given(st.lists(st.floats(min_value=0, max_value=1e9), min_size=1, max_size=40))
def test_timers_fire_sorted_and_never_early(delays: list[float]) -> None:
    """Any set of timers fires in order of time, each at its own moment."""
    fired: list[tuple[float, float]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        done = loop.create_future()

        def fire(due: float) -> None:
            fired.append((due, loop.time()))
            if len(fired) == len(delays):
                done.set_result(None)

        for delay in delays:
            loop.call_at(delay, fire, delay)
        await done

    Clock.virtual().run(main())

    assert [due for due, _ in fired] == sorted(delays)
    assert all(at == pytest.approx(due, rel=1e-15, abs=1.1e-9) for due, at in fired)


def test_a_cancelled_timer_does_not_pull_time_along() -> None:
    """Time goes to the next live timer, not to one that was called off."""

    async def main() -> float:
        loop = asyncio.get_running_loop()
        loop.call_later(5, lambda: None).cancel()
        await asyncio.sleep(8)
        return loop.time()

    assert Clock.virtual().run(main()) == 8.0


def test_the_longest_duration_can_be_slept() -> None:
    """A hundred years pass in one jump, and short sleeps after them still end."""

    async def main() -> float:
        await asyncio.sleep(LONGEST)
        for _ in range(100):
            await asyncio.sleep(1e-6)
        return now()

    assert Clock.virtual().run(main()) == pytest.approx(LONGEST, abs=0.01)


def test_wall_stamps_start_on_a_fixed_day_and_follow_virtual_time() -> None:
    """Runs are alike to the last stamp; the start is a choice."""

    async def main() -> datetime:
        await asyncio.sleep(90)
        return datetime.fromtimestamp(wall_time(), UTC)

    start = datetime(2030, 6, 1, 12, tzinfo=timezone(timedelta(hours=2)))

    assert Clock.virtual().run(main()) == datetime(2026, 1, 1, 0, 1, 30, tzinfo=UTC)
    assert Clock.virtual(start=start).run(main()) == start + timedelta(seconds=90)


def test_a_start_without_a_time_zone_is_refused() -> None:
    """A naive start would depend on the machine's time zone."""
    with pytest.raises(DefinitionError, match="time zone"):
        Clock.virtual(start=datetime(2026, 1, 1))  # noqa: DTZ001 - the mistake under test


def test_no_timer_fires_before_its_time() -> None:
    """Two tasks that wait again while any time is left do not keep each other from its end."""

    async def wait(until: float, turns: int) -> float:
        for _ in range(turns):
            await asyncio.sleep(0)
        while (left := until - now()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await asyncio.Event().wait()
        return now()

    async def main() -> list[float]:
        await asyncio.sleep(50.25)
        until = math.nextafter(now(), math.inf)
        return [until, *await asyncio.gather(wait(until, 0), wait(until, 1))]

    until, one, other = Clock.virtual().run(main())

    assert one == other == until
