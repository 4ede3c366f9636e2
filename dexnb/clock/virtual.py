"""A loop whose time jumps to the next timer as soon as nothing is left to do before it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import math
import selectors
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import Context
from datetime import datetime
from typing import Any, TypeVar, TypeVarTuple

from dexnb.clock.inflight import AnyioWorkers, CountedThreads, Submission, is_anyio_worker
from dexnb.clock.loop import ClockLoop
from dexnb.clock.refusal import UNSEEN_FIX, ClockRefusal, VirtualTimeStuck
from dexnb.clock.waiting import places

_log = logging.getLogger(__name__)

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_NEVER = math.inf
_RECHECK = 0.002
_PATIENCE = 10.0
_BUSY_TURNS = 1_000_000 // 64
"""In 64 turns of the loop: a second or more of computing between two moments of virtual time."""


class _JumpingSelector(selectors.DefaultSelector):
    """Ask the loop how long to wait really; mostly it has jumped instead.

    The one file descriptor is the loop's own wake-up pipe, and a callback that came from another
    thread is in the loop's queue already. So a busy loop looks at the pipe only now and then,
    which is enough for handlers of signals.
    """

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._next_wait, self._waited, self._spun = loop.next_wait, loop.waited, loop.spun
        self._turns = 0
        self._busy_turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            timeout = self._next_wait()
            self._busy_turns = 0
        self._turns += 1
        if timeout == 0 and self._turns & 63:
            return []
        self._busy_turns += 1
        if self._busy_turns > _BUSY_TURNS:
            self._busy_turns = 0
            self._spun()
        events = super().select(timeout)
        if timeout == _PATIENCE and not events:
            self._waited()
        return events


class VirtualLoop(ClockLoop):
    """Virtual time: it costs nothing to sleep and the same program always sees the same times.

    Time starts at zero and stands still while a callback is runnable, while a thread started by
    `run_in_executor`, `asyncio.to_thread` or `anyio.to_thread` is at work, inside `outside_work`
    and under `hold`. An answer from a thread that was not counted ends the run with
    `ClockRefusal`: time may have run ahead of it.

    Args:
        start: What the wall clock shows at time zero.
        external_wakeups: Other threads may wake the loop at any time, so having nothing to do is
            no deadlock, and answers of uncounted threads are taken.
    """

    identity = "virtual"
    _scheduled: list[asyncio.TimerHandle]
    _ready: deque[asyncio.Handle]
    _default_executor: concurrent.futures.ThreadPoolExecutor | None

    def __init__(self, start: datetime, *, external_wakeups: bool = False) -> None:
        """Start at time zero with nothing in flight."""
        self.start = start
        self.external_wakeups = external_wakeups
        self._epoch = start.timestamp()
        self._now = 0.0
        self._still = threading.RLock()  # A signal handler may come in between.
        self._works = 0
        self._holds = 0
        self._anyio = AnyioWorkers(self)
        self._threads = CountedThreads()
        self._failure: ClockRefusal | None = None
        self._waited_at = -1.0
        super().__init__(_JumpingSelector(self))
        self._clock_resolution = math.ulp(self._now)

    def time(self) -> float:
        """Give the virtual seconds since the loop was made."""
        return self._now

    def wall_time(self) -> float:
        """Give the start's epoch seconds plus the virtual seconds since."""
        return self._epoch + self._now

    def run_forever(self) -> None:
        """Run until stopped; see `VirtualTimeStuck` for how it may end otherwise."""
        super().run_forever()
        self._raise_failure()

    def next_wait(self) -> float | None:
        """Jump to the next timer and give 0, or say how long to wait for real."""
        if self._failure is not None:
            self._raise_failure()
        with self._still:
            if (self._works or self._holds or self._anyio.busy()) and not self._all_wait_for_us():
                return _RECHECK if self._threads.calling() else _PATIENCE
            if self._ready:
                return 0
            if self._scheduled and (when := self._scheduled[0].when()) < _NEVER:
                self._now = when
                # A timer fires when it is due before now + resolution. That exceeds now as little
                # as can be: fired early, it finds its time not come, and is set again for ever.
                self._clock_resolution = math.ulp(when)
                return 0
        if self.external_wakeups:
            return None
        raise VirtualTimeStuck(self._now, places(self))

    def _all_wait_for_us(self) -> bool:
        if self._holds or not self._threads.calling():
            return False
        return self._threads.blocked() >= self._works + self._anyio.busy()

    def waited(self) -> None:
        """Log, once for each moment at which it happens, that time waits for outside work."""
        if self._waited_at != self._now:
            self._waited_at = self._now
            _log.warning(
                "virtual time has stood still at %g s for %g real seconds, waiting for outside "
                "work (%d counted, %d workers of anyio, %d holds); inside outside_work() nothing "
                "may wait for time to pass. Tasks:%s",
                self._now,
                _PATIENCE,
                self._works,
                self._anyio.busy(),
                self._holds,
                "".join(f"\n  - {line}" for line in places(self)),
            )

    def spun(self) -> None:
        """End a run that was busy for very long without any wait for time or for a thread."""
        if not (self._works or self._holds or self._anyio.busy()):
            raise VirtualTimeStuck(self._now, places(self), spinning=True)

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    @contextmanager
    def outside_work(self) -> Iterator[None]:
        """Keep time still inside the block; a thread outside that enters it is counted itself."""
        self._begin_work()
        try:
            with nullcontext() if self._is_ours() else self._threads.counted():
                yield
        finally:
            self._end_work()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep time still inside the block, even for a thread that waits for this loop."""
        with self._still:
            self._holds += 1
        try:
            yield
        finally:
            with self._still:
                self._holds -= 1
            self._wake()

    def _begin_work(self) -> None:
        with self._still:
            self._works += 1

    def _end_work(self) -> None:
        with self._still:
            self._works -= 1
        self._wake()

    def _is_ours(self) -> bool:
        return threading.get_ident() == self._thread

    def _wake(self) -> None:
        if not self._is_ours():
            with suppress(RuntimeError):  # The loop may be closed by now.
                super().call_soon_threadsafe(_nothing)

    def run_in_executor(
        self,
        executor: concurrent.futures.Executor | None,
        func: Callable[[*Ts], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        """Run in a thread as any loop does, and keep time still until it has answered."""
        if executor is None and (executor := self._default_executor) is None:
            executor = concurrent.futures.ThreadPoolExecutor(thread_name_prefix="dexnb-clock")
            self.set_default_executor(executor)
        submission = Submission(executor, self._threads)
        # Before it is submitted: a quick thread answers before this call is back.
        self._begin_work()
        try:
            answer = super().run_in_executor(submission, func, *args)
        except BaseException:
            self._end_work()
            raise
        self._end_with(submission.future, answer)
        return answer

    def _end_with(self, work: concurrent.futures.Future[Any], answer: asyncio.Future[Any]) -> None:
        """Count one thread until the loop has its answer, or, cancelled, until it has ended."""

        def ended(_: object) -> None:
            with suppress(RuntimeError):  # The loop may be closed by now.
                self.call_soon_threadsafe(self._end_work)

        def answered(_: object) -> None:
            if work.done():
                self._end_work()
            else:
                work.add_done_callback(ended)

        answer.add_done_callback(answered)

    async def shutdown_default_executor(self, *timeout: Any) -> None:
        """Join the worker threads while time stands still."""
        with self.outside_work():
            await super().shutdown_default_executor(*timeout)

    def call_soon_threadsafe(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Take a callback from any thread; from one that was not counted, end the run."""
        if self._thread is not None and not self._is_ours():
            self._threads.note(callback)
            if not self._expects(callback):
                self._failure = ClockRefusal(
                    "an answer to the loop",
                    clock=self.identity,
                    who=f"thread {threading.current_thread().name!r}, which was not counted,",
                    fix=UNSEEN_FIX,
                )
        return super().call_soon_threadsafe(callback, *args, context=context)

    def _expects(self, callback: Callable[..., object]) -> bool:
        if self.external_wakeups or self._holds or self._works or self._anyio.busy():
            return True
        # A worker that anyio abandoned at the end of a run, and an async generator that the
        # garbage collector found in another thread, answer late and harmlessly.
        # Nor is it an answer to be told to stop.
        return is_anyio_worker() or callback in (self.create_task, self.stop)


def _nothing() -> None:
    """Wake a loop that waits in its selector."""
