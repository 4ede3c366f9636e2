"""What passes between threads: calls, beats, and the threads that Steps block."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any

import pytest

from dexnb.engine.control import ControlThread
from dexnb.engine.mailbox import Mailbox
from dexnb.engine.outbox import Outbox
from dexnb.engine.threads import DaemonThreads
from dexnb.errors import RuntimeClosed
from dexnb.providers import Beat, MemoryProvider, StreamWrite

WORD: contextvars.ContextVar[str] = contextvars.ContextVar("word", default="outside")


def write(number: int) -> StreamWrite:
    """Make a message that holds a number."""
    return StreamWrite("F", "s", "f", "r", "#S-1", str(number), 0.0, 1 << 20, "t")


def test_a_mailbox_keeps_the_order_and_wakes_its_loop_once_for_a_burst(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Calls of many threads arrive, each thread's in order."""
    taken: list[tuple[int, int]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        mailbox = Mailbox(loop)
        wakes = 0
        call_soon = loop.call_soon_threadsafe

        def counted(*args: Any, **kwargs: Any) -> Any:
            nonlocal wakes
            wakes += 1
            return call_soon(*args, **kwargs)

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        for number in range(1000):
            mailbox.post(taken.append, (0, number))
        await asyncio.sleep(0)
        assert (len(taken), wakes) == (1000, 1)

        def post(who: int) -> None:
            for number in range(500):
                mailbox.post(taken.append, (who, number))

        threads = [threading.Thread(target=post, args=(who,)) for who in range(1, 5)]
        for thread in threads:
            thread.start()
        while len(taken) < 3000:
            await asyncio.sleep(0.001)

    asyncio.run(main())
    for who in range(5):
        own = [number for each, number in taken if each == who]
        assert own == list(range(len(own)))


def test_a_failing_call_does_not_hold_back_the_others() -> None:
    """It is reported by the loop, and what was posted behind it runs."""
    taken: list[int] = []
    told: list[Any] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(context["exception"]))
        mailbox = Mailbox(loop)
        mailbox.post(taken.append, 1)
        mailbox.post(lambda: 1 / 0)
        mailbox.post(taken.append, 2)
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert taken == [1, 2]
    assert [type(error) for error in told] == [ZeroDivisionError]


def test_a_mailbox_runs_calls_in_its_own_context() -> None:
    """What a Step posts is not taken for the Step's own doing."""
    seen: list[str] = []

    async def main() -> None:
        mailbox = Mailbox(asyncio.get_running_loop())
        WORD.set("inside")
        mailbox.post(lambda: seen.append(WORD.get()))
        await asyncio.sleep(0)

    asyncio.run(main())
    assert seen == ["outside"]


def test_a_mailbox_of_a_closed_loop_drops_what_comes() -> None:
    """A thread that outlives its engine meets no error."""
    loop = asyncio.new_event_loop()
    mailbox = Mailbox(loop)
    loop.close()
    mailbox.post(print, "never")
    mailbox.post(print, "never")


class Slow(MemoryProvider):
    """A store that takes its time, and keeps what it took."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self.kept: dict[str, str | None] = {}
        self.messages: list[int] = []

    async def record_beats(self, beats: Sequence[Beat]) -> frozenset[str]:
        """Keep checkpoints."""
        await asyncio.sleep(0.001)
        self.kept.update({beat.token: beat.checkpoint for beat in beats})
        return frozenset()

    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """Keep messages."""
        await asyncio.sleep(0.001)
        self.messages += [int(each.payload) for each in writes]
        return (True,) * len(writes)


def test_no_beat_and_no_message_is_lost_between_threads() -> None:
    """Threads beat as fast as they can while batches go out: the last value of each arrives."""
    failures: list[Exception] = []

    async def main() -> None:
        store = Slow()
        mailbox = Mailbox(asyncio.get_running_loop())
        outbox = Outbox(
            store,
            mailbox,
            lost=lambda _: None,
            refused=lambda message: failures.append(ValueError(message)),
            failed=failures.append,
        )

        def beats(token: str) -> None:
            for number in range(3000):
                outbox.beat(token, str(number))
                if number % 10 == 0:
                    outbox.message(write(number))

        threads = [threading.Thread(target=beats, args=(f"t{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            await asyncio.sleep(0.001)
        await outbox.drained()
        assert store.kept == {f"t{n}": "2999" for n in range(4)}
        assert sorted(store.messages) == sorted(list(range(0, 3000, 10)) * 4)

    asyncio.run(main())
    assert failures == []


def test_threads_are_daemons_and_used_again() -> None:
    """One call after the other needs one thread."""
    threads = DaemonThreads("test")
    names = {threads.submit(lambda: threading.current_thread().name).result(5) for _ in range(50)}
    assert len(names) <= 2
    found = threads.submit(threading.current_thread).result(5)
    assert found.daemon
    threads.shutdown()
    found.join(5)
    assert not found.is_alive()
    with pytest.raises(RuntimeError, match="closed"):
        threads.submit(print)


def test_threads_are_as_many_as_calls_block() -> None:
    """No call waits for another one, and none is joined at the end."""
    threads = DaemonThreads("test")
    gate = threading.Event()
    blocked = [threads.submit(gate.wait, 10) for _ in range(20)]
    assert threads.submit(lambda: 7).result(5) == 7
    threads.shutdown(wait=True)
    assert not any(future.done() for future in blocked)
    gate.set()
    assert all(future.result(5) for future in blocked)


def test_an_idle_thread_keeps_nothing_of_its_last_call() -> None:
    """What a Step used is free when the Step has ended."""

    class Thing:
        """Something to be forgotten."""

    threads = DaemonThreads("test")
    thing = Thing()
    gone = weakref.ref(thing)
    future = threads.submit(lambda _: None, thing)
    future.result(5)
    del thing, future
    until = time.monotonic() + 5
    while gone() is not None and time.monotonic() < until:
        gc.collect()
    assert gone() is None
    threads.shutdown()


@pytest.mark.parametrize("error", [SystemExit(), KeyboardInterrupt(), GeneratorExit()])
def test_whatever_a_call_raises_belongs_to_its_caller(error: BaseException) -> None:
    """The thread goes on."""
    threads = DaemonThreads("test")

    def fails() -> None:
        raise error

    assert threads.submit(fails).exception(5) is error
    assert threads.submit(lambda: 1).result(5) == 1
    threads.shutdown()


def test_a_control_thread_whose_loop_fails_says_why() -> None:
    """Calls that wait, and calls that come later, end with the reason instead of hanging."""
    loop = asyncio.new_event_loop()
    control = ControlThread(loop, "test-control")
    waiting = control.submit(asyncio.sleep(1000))

    def fail() -> None:
        raise SystemExit("the reason")

    loop.call_soon_threadsafe(fail)
    with pytest.raises(RuntimeClosed, match="the reason"):
        control.call(asyncio.sleep(1000))
    control.stop(5)
    assert waiting.cancelled()
    assert not control.alive
    with pytest.raises(RuntimeClosed, match="the reason"):
        control.call(asyncio.sleep(0))
