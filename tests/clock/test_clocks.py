"""The clock as a value, and what real and scaled loops do."""

from __future__ import annotations

import asyncio
import math
import signal
import sys
import threading
import time
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from dexnb.clock import Clock, monotonic, sleep_blocking, wall, wall_time
from dexnb.errors import DefinitionError

ALL = [Clock.real(), Clock.scaled(10), Clock.virtual()]


def by_identity(clock: Clock) -> str:
    """Name a test by its clock."""
    return clock.identity


@pytest.mark.parametrize(
    ("clock", "identity", "factor"),
    [
        (Clock.real(), "real", 1),
        (Clock.scaled(10), "scaled:10", 10),
        (Clock.scaled(60.0), "scaled:60", 60),
        (Clock.scaled(0.1), "scaled:0.1", 0.1),
        (Clock.virtual(), "virtual", math.inf),
        (Clock.virtual(external_wakeups=True), "virtual", math.inf),
    ],
)
def test_a_clock_has_one_identity_for_stores(clock: Clock, identity: str, factor: float) -> None:
    """Equal clocks are written alike, however the factor was given."""
    assert clock.identity == identity
    assert clock.factor == factor


@pytest.mark.parametrize("clock", [*ALL, Clock.virtual(external_wakeups=True)])
def test_a_running_loop_tells_its_clock(clock: Clock) -> None:
    """The clock that made a loop is found again from the loop."""

    async def main() -> Clock:
        return Clock.of(asyncio.get_running_loop())

    assert clock.run(main()) == clock


def test_a_clock_made_by_hand_is_the_same_clock() -> None:
    """The kind alone decides what the other fields can be."""
    assert Clock("virtual", factor=3) == Clock.virtual()
    assert Clock("real", factor=3) == Clock.real()
    with pytest.raises(DefinitionError, match=r"kind is 'sundial'"):
        Clock(cast("Any", "sundial"))


def test_a_loop_made_by_others_is_real() -> None:
    """An ordinary loop, or one of another library, keeps the host's time."""

    class Foreign(asyncio.SelectorEventLoop):
        """Stand for a loop of another library."""

    loop = Foreign()
    try:
        assert Clock.of(loop) == Clock.real()
    finally:
        loop.close()


@pytest.mark.parametrize(
    "factor", [0, -1, math.nan, math.inf, -math.inf, 1e12, 10**400, True, "10"]
)
def test_a_factor_that_cannot_hold_is_refused_by_value(factor: Any) -> None:
    """The text names the field, the value and the range."""
    with pytest.raises(DefinitionError, match=r"factor is .*above 0"):
        Clock.scaled(factor)


@pytest.mark.parametrize("clock", ALL, ids=by_identity)
def test_a_run_gives_the_result_or_the_exception(clock: Clock) -> None:
    """`clock.run` behaves as `asyncio.run`."""

    async def give() -> int:
        await anyio.lowlevel.checkpoint()
        return 7

    async def fail() -> None:
        raise LookupError

    assert clock.run(give()) == 7
    with pytest.raises(LookupError):
        clock.run(fail())


@pytest.mark.parametrize("clock", ALL, ids=by_identity)
def test_anyio_runs_on_a_loop_of_the_clock(clock: Clock) -> None:
    """The loops serve as a `loop_factory` for whoever takes one."""

    async def main() -> Clock:
        await anyio.sleep(0.01)
        return Clock.of(asyncio.get_running_loop())

    assert anyio.run(main, backend_options={"loop_factory": clock.new_event_loop}) == clock


@pytest.mark.parametrize("clock", ALL, ids=by_identity)
def test_async_generators_are_finished_at_the_end_of_a_run(clock: Clock) -> None:
    """A generator left half way runs its `finally`, with awaits in it, on the same loop."""
    log: list[str] = []
    left: list[object] = []

    async def numbers() -> AsyncGenerator[int, None]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0.01)
            log.append("finished")

    async def main() -> None:
        generator = numbers()
        left.append(generator)
        log.append(f"left at {await anext(generator)}")

    clock.run(main())

    assert log == ["left at 1", "finished"]


def test_ten_scaled_seconds_take_one_real_second() -> None:
    """At x10 every kind of wait is ten times as short, measured by the host."""

    async def main() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        before, real = loop.time(), monotonic()
        await asyncio.sleep(2)
        await anyio.sleep(1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 2)
        return loop.time() - before, monotonic() - real

    scaled, real = Clock.scaled(10).run(main())

    assert scaled == pytest.approx(10 * real, rel=0.05)
    assert 0.49 < real < 5


def test_threads_work_as_usual_on_a_scaled_loop() -> None:
    """Answers come back from workers, pools and other threads while scaled time goes on."""

    async def main() -> list[object]:
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        threading.Thread(target=loop.call_soon_threadsafe, args=(woken.set,)).start()
        await asyncio.wait_for(woken.wait(), 600)
        before = loop.time()
        await asyncio.to_thread(sleep_blocking, 0.02)
        assert loop.time() - before > 0.19
        return [
            await asyncio.to_thread(lambda: 1),
            await anyio.to_thread.run_sync(lambda: 2),
            await loop.run_in_executor(None, lambda: 3),
        ]

    assert Clock.scaled(10).run(main()) == [1, 2, 3]


@pytest.mark.parametrize("factor", [1e-300, 1e-9, 1e9])
def test_extreme_factors_neither_overflow_nor_hang(factor: float) -> None:
    """A wait that would take ages is cancelled as any other, and a short one ends."""

    async def main() -> None:
        waiter = asyncio.create_task(asyncio.sleep(1e6))
        await asyncio.to_thread(sleep_blocking, 0.01)
        waiter.cancel()

    Clock.scaled(factor).run(main())


@pytest.mark.parametrize("step", [3600.0, -3600.0])
@pytest.mark.parametrize("clock", ALL, ids=by_identity)
def test_a_step_of_the_wall_clock_changes_no_duration(
    clock: Clock, step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour back or forth leaves a wait as it is; loops with a time of their own see nothing."""
    host = time.time

    async def main() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        before, stamp = loop.time(), wall_time()
        monkeypatch.setattr(time, "time", lambda: host() + step)
        await asyncio.sleep(0.05)
        return loop.time() - before, wall_time() - stamp

    took, stamped = clock.run(main())

    assert 0.049 < took < 5
    assert stamped - took == pytest.approx(step if clock.kind == "real" else 0, abs=0.5)


def test_stamps_follow_the_host_on_real_loops_and_scaled_time_on_scaled_ones() -> None:
    """Scaled stamps start at the host's wall clock and run ahead of it."""

    async def stamp() -> float:
        await asyncio.sleep(1)
        return wall_time()

    before = wall()

    assert wall_time() == pytest.approx(before, abs=5)
    assert Clock.scaled(100).run(stamp()) > before + 1
    assert Clock.real().run(stamp()) == pytest.approx(wall(), abs=5)


class Interrupts:
    """Send SIGINT to the main thread once the loop waits."""

    def __init__(self) -> None:
        self.blocked = threading.Event()
        self.thread = threading.Thread(target=self._send)

    def _send(self) -> None:
        self.blocked.wait(10)
        sleep_blocking(0.05)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


async def wait_for_ever(interrupts: Interrupts) -> None:
    """Wait for what never comes."""
    interrupts.blocked.set()
    await asyncio.Event().wait()


async def wait_for_a_thread(interrupts: Interrupts) -> None:
    """Wait for a thread that ends when the wait is given up."""
    ended = threading.Event()
    interrupts.blocked.set()
    try:
        await asyncio.to_thread(ended.wait, 30)
    finally:
        ended.set()


async def compute_for_ever(interrupts: Interrupts) -> None:
    """Keep the loop busy."""
    interrupts.blocked.set()
    while True:
        await asyncio.sleep(0.001)


@pytest.mark.skipif(sys.platform == "win32", reason="signals go to threads on POSIX alone")
@pytest.mark.parametrize(
    ("clock", "main"),
    [
        (Clock.real(), wait_for_ever),
        (Clock.scaled(10), wait_for_ever),
        (Clock.virtual(external_wakeups=True), wait_for_ever),
        (Clock.virtual(), wait_for_a_thread),
        (Clock.virtual(), compute_for_ever),
    ],
)
def test_an_interrupt_ends_a_run(clock: Clock, main: Any) -> None:
    """Ctrl-C reaches the main task as a cancellation and the caller as KeyboardInterrupt."""
    interrupts = Interrupts()
    log: list[str] = []

    async def run() -> None:
        try:
            work: Coroutine[Any, Any, None] = main(interrupts)
            await work
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    interrupts.thread.start()
    with pytest.raises(KeyboardInterrupt):
        clock.run(run())
    interrupts.thread.join()

    assert log == ["cancelled"]


@pytest.mark.skipif(sys.platform == "win32", reason="loops take signals on POSIX alone")
def test_a_busy_virtual_loop_still_serves_signal_handlers() -> None:
    """A handler set on the loop runs though the loop never has to wait."""

    async def main() -> bool:
        loop = asyncio.get_running_loop()
        seen = asyncio.Event()
        loop.add_signal_handler(signal.SIGUSR1, seen.set)
        signal.raise_signal(signal.SIGUSR1)
        for _ in range(1000):
            await asyncio.sleep(1)
        loop.remove_signal_handler(signal.SIGUSR1)
        return seen.is_set()

    assert Clock.virtual().run(main())
