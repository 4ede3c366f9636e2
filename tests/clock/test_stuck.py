"""A run in which nothing can ever happen again ends with an error that says what waits where."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from dexnb.clock import Clock, VirtualTimeStuck, outside_work, sleep_blocking, virtual
from dexnb.clock.waiting import places


async def wait_for_nobody() -> None:
    """Wait for an event that nobody will set."""
    await asyncio.Event().wait()


def line_of(function: Callable[..., object], offset: int) -> str:
    """Give file:line of a line inside a function."""
    return f"{__file__}:{inspect.getsourcelines(function)[1] + offset}"


def test_a_deadlock_names_every_task_and_its_line() -> None:
    """Both the waiter and the one who waits for it are named with file and line."""

    async def main() -> None:
        await asyncio.sleep(12.5)
        await asyncio.create_task(wait_for_nobody(), name="poller")

    with pytest.raises(VirtualTimeStuck) as caught:
        Clock.virtual().run(main())

    text = str(caught.value)
    assert caught.value.at == 12.5
    assert len(caught.value.waiting) == 2
    assert f"task poller (wait_for_nobody) waits at {line_of(wait_for_nobody, 2)}" in text
    assert line_of(main, 2) in text
    assert "inside Event.wait" in text
    assert "outside_work" in text


@pytest.mark.parametrize("stuck", [lambda: asyncio.sleep(math.inf), wait_for_nobody])
def test_a_wait_without_end_is_a_deadlock(
    stuck: Callable[[], Coroutine[Any, Any, None]],
) -> None:
    """Sleeping for infinity is no timer that time could jump to."""

    async def main() -> None:
        await asyncio.sleep(12)
        await stuck()

    with pytest.raises(VirtualTimeStuck, match="12 s"):
        Clock.virtual().run(main())


def test_the_run_cleans_up_after_a_deadlock() -> None:
    """Tasks are cancelled and their `finally` runs, virtual time included."""
    log: list[str] = []

    async def main() -> None:
        try:
            await wait_for_nobody()
        finally:
            await asyncio.sleep(5)
            log.append(f"cleaned at {asyncio.get_running_loop().time():g}")

    with pytest.raises(VirtualTimeStuck):
        Clock.virtual().run(main())

    assert log == ["cleaned at 5"]


def test_many_tasks_are_listed_up_to_a_bound() -> None:
    """A thousand stuck tasks do not make an error of a thousand lines."""

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(1000):
                group.create_task(wait_for_nobody())

    with pytest.raises(VirtualTimeStuck, match="and 981 more tasks"):
        Clock.virtual().run(main())


def test_a_loop_that_never_lets_time_pass_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polling with a zero interval for something that takes time would spin for ever."""
    monkeypatch.setattr(virtual, "_BUSY_TURNS", 10)

    async def poll() -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < 10:
            await asyncio.sleep(0)

    with pytest.raises(VirtualTimeStuck, match=r"sleep\(0\) takes no virtual time") as caught:
        Clock.virtual().run(poll())

    assert line_of(poll, 3) in str(caught.value)


def test_spinning_until_a_thread_has_ended_is_legal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy loop beside outside work is waiting for something."""
    monkeypatch.setattr(virtual, "_BUSY_TURNS", 10)

    async def main() -> bool:
        done = threading.Event()
        work = asyncio.create_task(asyncio.to_thread(done.wait, 30))
        for _ in range(64 * 100):
            await asyncio.sleep(0)
        done.set()
        return await work

    assert Clock.virtual().run(main())


def test_work_in_flight_is_no_deadlock() -> None:
    """With a thread at work, having no timer means waiting for the thread."""

    async def main() -> str:
        await asyncio.to_thread(sleep_blocking, 0.05)
        return "answered"

    assert Clock.virtual().run(main()) == "answered"


def test_a_long_wait_for_outside_work_gives_its_reason_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Time that waits for a thread, or for itself by mistake, says so in the log."""
    monkeypatch.setattr(virtual, "_PATIENCE", 0.02)

    async def main() -> None:
        await asyncio.sleep(3)
        with outside_work():
            await asyncio.to_thread(sleep_blocking, 0.2)
        await asyncio.sleep(1)

    Clock.virtual().run(main())

    (record,) = caplog.records
    text = record.getMessage()
    assert "stood still at 3 s" in text
    assert "2 counted, 0 workers of anyio, 0 holds" in text
    assert line_of(main, 3) in text


def test_a_loop_without_any_task_says_so() -> None:
    """`run_forever` with nothing to do ends as well."""
    loop = Clock.virtual().new_event_loop()
    try:
        with pytest.raises(VirtualTimeStuck, match="no task at all"):
            loop.run_forever()
    finally:
        loop.close()


def test_a_task_that_never_started_is_listed() -> None:
    """Before its first turn a task stands at its first line."""
    loop = Clock.virtual().new_event_loop()
    task = loop.create_task(wait_for_nobody(), name="idle")

    assert places(loop) == ["task idle (wait_for_nobody) waits at " + line_of(wait_for_nobody, 0)]

    task.cancel()
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()
