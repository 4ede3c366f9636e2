"""`SteppedLoop`: virtual time whose threads run only while the loop waits for them.

So the calls of a thread come at the same place among all others, whatever the machine does, and
virtual time passes in a thread where its code says `pause`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from dexnb.clock.clock import DEFAULT_START
from dexnb.clock.virtual import VirtualLoop
from dexnb.engine.threads import DaemonThreads

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

PATIENCE = 60.0
"""Real seconds that a thread may compute without a pause."""

_here = threading.local()
_POOL = DaemonThreads("simulated")
"""For all machines of all seeds: those of a process that was killed would never end here."""


class Ended(BaseException):
    """Raised in a thread whose process was killed; nothing may run behind it."""


def pause(seconds: float) -> None:
    """Let virtual time pass in a thread, as `time.sleep` does on the real clock."""
    thread: SteppedThread = _here.thread
    thread.pause(seconds)


class SteppedLoop(VirtualLoop):
    """A virtual loop on which threads take turns with it; `threads` are those that pause."""

    def __init__(self) -> None:
        """Start at time zero."""
        super().__init__(DEFAULT_START)
        self.threads: dict[SteppedThread, None] = {}

    def run_in_executor(
        self,
        executor: concurrent.futures.Executor | None,
        func: Callable[[*Ts], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        """Run in a thread, which stops the loop until it pauses or ends."""
        if executor is None:
            return super().run_in_executor(executor, func, *args)
        return SteppedThread(self, partial(func, *args)).start()


class SteppedThread:
    """One call in a thread; either it runs or its loop does.

    Args:
        loop: The loop.
        call: What runs in the thread.
    """

    def __init__(self, loop: SteppedLoop, call: Callable[[], Any]) -> None:
        """Prepare; `start` starts."""
        self._loop = loop
        self._call = call
        self._answer: asyncio.Future[Any] = loop.create_future()
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._seconds: float | None = None
        self._result: Any = None
        self._error: BaseException | None = None
        self._killed = False
        self.context = contextvars.copy_context()

    def start(self) -> asyncio.Future[Any]:
        """Run up to the first pause; give the future of the whole."""
        _POOL.submit(self._run)
        self._loop.threads[self] = None
        self._step()
        return self._answer

    def pause(self, seconds: float) -> None:
        """Give the loop its turn, for so long; in the thread.

        Raises:
            Ended: The process was killed meanwhile.
        """
        if not self._killed:
            self._seconds = seconds
            self._back.release()
            self._go.acquire()
        if self._killed:
            raise Ended

    def kill(self) -> None:
        """End a thread that pauses; nobody hears its answer."""
        self._killed = True
        self._turn()
        self._loop.threads.pop(self, None)

    def _run(self) -> None:
        self._go.acquire()
        _here.thread = self
        try:
            self._result = self._call()
        except BaseException as error:  # noqa: BLE001 - whatever it was belongs to the caller
            self._error = error
        self._back.release()

    def _turn(self) -> None:
        """Let the thread run until it pauses or ends."""
        self._seconds = None
        with self._loop.outside_work():
            self._go.release()
            if not self._back.acquire(timeout=PATIENCE):
                message = f"a thread waits for its own loop, or is busy: {self._call}"
                raise RuntimeError(message)

    def _step(self) -> None:
        if self._killed:
            # Just when it was to go on.
            return
        self._turn()
        if self._seconds is not None:
            self._loop.call_later(self._seconds, self._step)
            return
        self._loop.threads.pop(self, None)
        if self._answer.cancelled():
            return
        if self._error is not None:
            self._answer.set_exception(self._error)
        else:
            self._answer.set_result(self._result)
