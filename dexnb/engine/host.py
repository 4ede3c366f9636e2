"""`StepHost`: a loop on which async Steps run, and the thread that it may have of its own."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from dexnb.engine.attempt import Attempt
from dexnb.engine.execute import AsyncRun, Outcome
from dexnb.engine.mailbox import Mailbox
from dexnb.engine.rounds import Driver
from dexnb.engine.threads import DaemonThreads

LAST_MOMENT = 0.2
"""Seconds that what a Step left on its loop has to end, after the loop was told to stop."""

Ended = Callable[[Attempt, Outcome], None]
Stalled = Callable[["StepHost", Attempt, float, int | None], None]


class StepHost:
    """Runs the coroutines of async Steps on one loop.

    Args:
        mailbox: Into the loop that runs the Steps.
        ended: Called on that loop when a Step's coroutine has ended.
        stalled: Called there when a Step has held the loop for long: host, attempt, seconds, and
            the line if it was blamed for that.
    """

    def __init__(self, mailbox: Mailbox, ended: Ended, stalled: Stalled) -> None:
        """Start with no Step."""
        self.mailbox = mailbox
        self._ended = ended
        self._stalled = stalled
        self._tasks: dict[Attempt, tuple[asyncio.Task[Outcome], Driver]] = {}
        self.thread_id: int | None = None
        self.current: Attempt | None = None
        self.since = 0.0
        self._blamed: tuple[float, int] | None = None

    def begin(self, attempt: Attempt, context: contextvars.Context) -> None:
        """Start an attempt on this loop; for any thread."""
        self.mailbox.post(self._begin, attempt, context)

    def cancel(self, attempt: Attempt) -> None:
        """Throw CancelledError into an attempt's Step; for any thread."""
        self.mailbox.post(self._cancel, attempt)

    def wake(self, attempt: Attempt | None = None) -> None:
        """End the sleep of one attempt's Step, or of all; for any thread."""
        self.mailbox.post(self._wake, attempt)

    def retime(self, attempt: Attempt, seconds_at: Callable[[int], float | None]) -> None:
        """Let an attempt's sleep last as long as its line says now; for any thread."""
        self.mailbox.post(self._retime, attempt, seconds_at)

    def stalled(self, attempt: Attempt, since: float) -> None:
        """Discount a stall from all others here, and report in whose turn it was."""
        seconds = attempt.links.tick() - since
        blamed, self._blamed = self._blamed, None
        line = blamed[1] if blamed is not None and blamed[0] == since else None
        for other in self._tasks:
            if other is not attempt:
                other.last_sign += seconds
        self._stalled(self, attempt, seconds, line)

    def blame(self, since: float) -> None:
        """Note the line at which the Step that runs since then blocks; from the control thread."""
        attempt, thread = self.current, self.thread_id
        frame = None if thread is None else sys._current_frames().get(thread)  # noqa: SLF001 - public but for its name
        if attempt is None or self.since != since:
            return
        line = 0
        code = getattr(attempt.method, "__code__", None)
        while frame is not None:
            if frame.f_code is code:
                line = frame.f_lineno
                break
            frame = frame.f_back
        self._blamed = (since, line)

    def _begin(self, attempt: Attempt, context: contextvars.Context) -> None:
        if attempt.closing is not None:
            self._ended(attempt, Outcome())
            return
        self.thread_id = threading.get_ident()
        attempt.begin()
        try:
            run = context.run(AsyncRun, attempt)
        except BaseException as error:  # noqa: BLE001 - a Step's own mistake is its outcome
            self._ended(attempt, Outcome(error=error))
            return
        driver = Driver(run.coroutine, attempt, self)
        task = asyncio.get_running_loop().create_task(
            run.outcome(driver), context=context, name=attempt.who
        )
        self._tasks[attempt] = (task, driver)
        task.add_done_callback(partial(self._finish, attempt, run))

    def _finish(self, attempt: Attempt, run: AsyncRun, task: asyncio.Task[Outcome]) -> None:
        self._tasks.pop(attempt, None)
        if inspect.getcoroutinestate(run.coroutine) == inspect.CORO_CREATED:
            # The task was cancelled before its first step.
            run.coroutine.close()
        cancelled = task.cancelled()
        outcome = Outcome(error=asyncio.CancelledError()) if cancelled else task.result()
        self._ended(attempt, outcome)

    def _cancel(self, attempt: Attempt) -> None:
        running = self._tasks.get(attempt)
        if running is not None:
            running[0].cancel()

    def _wake(self, attempt: Attempt | None) -> None:
        for each, (_, driver) in self._tasks.items():
            if attempt is None or each is attempt:
                driver.wake()

    def _retime(self, attempt: Attempt, seconds_at: Callable[[int], float | None]) -> None:
        running = self._tasks.get(attempt)
        if running is not None:
            running[1].retime(seconds_at)


class HostThread:
    """A daemon thread with a loop of its own for a host, so that a Step may block it."""

    def __init__(self, name: str, ended: Ended, stalled: Stalled) -> None:
        """Start the thread and wait until its loop runs."""
        self._ready = threading.Event()
        self._stopped = False
        self.loop = asyncio.new_event_loop()
        self.loop.set_default_executor(_executor(name))
        self.host = StepHost(Mailbox(self.loop), ended, stalled)
        threading.Thread(target=self._run, name=name, daemon=True).start()
        self._ready.wait()

    def stop(self) -> None:
        """End the thread soon; a Step that blocks it keeps it until it lets go."""
        self.host.mailbox.post(self._stop)

    def _stop(self) -> None:
        self._stopped = True
        self.loop.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.call_soon(self._ready.set)
        try:
            while not self._stopped:
                # A Step that stops the loop, or whose task exits the interpreter, must not end
                # the loop of all the others.
                with contextlib.suppress(BaseException):
                    self.loop.run_forever()
        finally:
            end_tasks(self.loop)
            self.loop.close()


def end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left on a loop that has stopped, and give it a moment to end."""
    # What was posted becomes a task by this turn.
    loop.run_until_complete(asyncio.sleep(0))
    if tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait(tasks, timeout=LAST_MOMENT))
    loop.run_until_complete(loop.shutdown_asyncgens())


def _executor(name: str) -> Any:
    return DaemonThreads(f"{name}-blocking")
