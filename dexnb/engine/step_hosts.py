"""`StepHosts`: chooses where each attempt runs, and knows which loops are blocked.

Async Steps share one host. A Step that has blocked it runs on a loop of its own from its next
attempt on. Sync Steps and generators have daemon threads.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
from collections import deque
from collections.abc import Callable
from functools import partial

from dexnb.clock import Clock, guard_thread
from dexnb.engine.attempt import Attempt
from dexnb.engine.execute import Outcome, run_sync
from dexnb.engine.host import HostThread, StepHost
from dexnb.engine.mailbox import Mailbox
from dexnb.engine.stalls import BLOCKED_SECONDS, HELD_SECONDS, StallWatch
from dexnb.engine.threads import DaemonThreads

MOST_OWN_LOOPS = 32
"""Attempts of blocking Steps that have a loop of their own at once; more share the common one."""

ONE_LOOP_TURNS = 3
"""Turns of a shared loop after which every call that waited has run."""


class StepHosts:
    """All places where Steps of one engine run.

    Args:
        control: The control loop's mailbox.
        clock: How time passes; other than real, everything shares the control loop.
        own_thread: Whether async Steps have a thread of their own.
        sync_slots: Gives how many sync Steps may hold a thread at once; the others wait for one.
        ended: Called on the control loop with each outcome.
    """

    def __init__(
        self,
        control: Mailbox,
        clock: Clock,
        *,
        own_thread: bool,
        sync_slots: Callable[[], int],
        ended: Callable[[Attempt, Outcome], None],
    ) -> None:
        """Start the shared host."""
        self._control = control
        self._clock = clock
        self._ended = ended
        self._thread: HostThread | None = None
        if own_thread and clock.kind == "real":
            self._thread = HostThread("dexnb-steps", self._report, self._stalled)
            self._shared = self._thread.host
        else:
            self._shared = StepHost(control, ended, self._stalled)
        self._own: dict[Attempt, HostThread] = {}
        self._blocking: set[str] = set()
        self._watch = StallWatch(self._watched, control.loop.time)
        self._threads = DaemonThreads("dexnb-sync")
        self._sync_slots = sync_slots
        self._sync_running: set[Attempt] = set()
        self._sync_waiting: deque[tuple[Attempt, contextvars.Context]] = deque()

    def begin(self, attempt: Attempt, context: contextvars.Context) -> None:
        """Start an attempt where it belongs."""
        if attempt.handler.mode != "async":
            self._sync_waiting.append((attempt, context))
            self._fill_sync_slots()
            return
        self._host_of(attempt, make=True).begin(attempt, context)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop that async Steps share."""
        return self._shared.mailbox.loop

    def own_this_loop(self) -> bool:
        """Tell whether the caller runs on a loop where Steps run; any thread may ask."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return False
        return any(host.mailbox.loop is running for host in self._hosts())

    def cancel(self, attempt: Attempt) -> None:
        """Cancel an attempt's Step; a sync one learns it at its next output or write."""
        if attempt.handler.mode == "async":
            self._host_of(attempt).cancel(attempt)
        elif attempt not in self._sync_running:
            self._control.post(self._ended, attempt, Outcome())

    def wake_all(self) -> None:
        """End the sleep of every async Step."""
        for host in self._hosts():
            host.wake()

    def wake(self, attempt: Attempt) -> None:
        """End the sleep of an attempt's Step."""
        if attempt.handler.mode == "async":
            self._host_of(attempt).wake(attempt)

    def retime(self, attempt: Attempt, seconds_at: Callable[[int], float | None]) -> None:
        """Let the sleep of an attempt's Step last as long as its line says now."""
        if attempt.handler.mode == "async":
            self._host_of(attempt).retime(attempt, seconds_at)

    def release(self, attempt: Attempt) -> None:
        """End what was made for this attempt alone, and what it holds, though its Step goes on."""
        self._sync_running.discard(attempt)
        self._fill_sync_slots()
        if (thread := self._own.pop(attempt, None)) is not None:
            thread.stop()

    def blocked_by_another(self, attempt: Attempt) -> bool:
        """Tell whether another Step holds the loop that this attempt needs."""
        if attempt.handler.mode != "async":
            return False
        host = self._host_of(attempt)
        current = host.current
        if current is None or current is attempt:
            return False
        return attempt.links.tick() - host.since > HELD_SECONDS

    def held_loops(self, seconds: float) -> int:
        """Count the loops that one Step has held for longer than this, other than the control's."""
        now = self._control.loop.time()
        return sum(
            host.current is not None and now - host.since > seconds for host in self._watched()
        )

    def look(self) -> None:
        """Look for Steps that block their loops; called about twice a second while any run."""
        self._watch.look()

    def _hosts(self) -> list[StepHost]:
        return [self._shared, *(thread.host for thread in self._own.values())]

    def _watched(self) -> list[StepHost]:
        return [host for host in self._hosts() if host.mailbox is not self._control]

    def after_waiting_calls(self, attempt: Attempt, then: Callable[[Attempt], None]) -> None:
        """Call `then` on the control loop when what waits on the attempt's loop has run.

        An attempt that holds its own loop is passed on at once: it is what everyone waits for.
        """
        if attempt.handler.mode != "async":
            self._control.post(then, attempt)
            return
        host = self._host_of(attempt)
        if host.current is attempt and host.mailbox is not self._control:
            then(attempt)
        elif host.mailbox is self._control:
            _after_turns(self._control.loop, ONE_LOOP_TURNS, partial(then, attempt))
        else:
            again = partial(self._control.post, then, attempt)
            host.mailbox.post(_after_turns, host.mailbox.loop, ONE_LOOP_TURNS, again)

    def close(self) -> None:
        """End all threads; one that is blocked ends when its Step lets go."""
        self._watch.stop()
        self._sync_waiting.clear()
        self._threads.shutdown(wait=False)
        for thread in [*self._own.values(), *([self._thread] if self._thread else [])]:
            thread.stop()

    def _host_of(self, attempt: Attempt, *, make: bool = False) -> StepHost:
        own = self._own.get(attempt)
        blocking = attempt.item.handler in self._blocking
        if own is None and make and blocking and len(self._own) < MOST_OWN_LOOPS:
            name = f"dexnb-{attempt.item.step_execution_id}"
            own = self._own[attempt] = HostThread(name, self._report, self._stalled)
        return self._shared if own is None else own.host

    def _fill_sync_slots(self) -> None:
        while self._sync_waiting and len(self._sync_running) < self._sync_slots():
            attempt, context = self._sync_waiting.popleft()
            if attempt.closing is None:
                self._sync_running.add(attempt)
                self._begin_sync(attempt, context)

    def _begin_sync(self, attempt: Attempt, context: contextvars.Context) -> None:
        if self._clock.kind == "real":
            future = self._threads.submit(self._run_sync, attempt, context)
            future.add_done_callback(
                lambda done: self._control.post(self._ended, attempt, _outcome(done))
            )
            return
        # The loop counts its own executor calls, so that virtual time waits for them.
        inner = self._control.loop.run_in_executor(self._threads, self._run_sync, attempt, context)
        inner.add_done_callback(lambda done: self._ended(attempt, _outcome(done)))

    def _run_sync(self, attempt: Attempt, context: contextvars.Context) -> Outcome:
        if attempt.closing is not None:
            return Outcome()
        attempt.begin()
        with guard_thread(self._clock, f"Step {attempt.item.handler.replace('/', '.')}"):
            return context.run(run_sync, attempt)

    def _report(self, attempt: Attempt, outcome: Outcome) -> None:
        self._control.post(self._ended, attempt, outcome)

    def _stalled(self, host: StepHost, attempt: Attempt, seconds: float, line: int | None) -> None:
        on_control = host.mailbox is self._control
        if line is None and (not on_control or seconds < BLOCKED_SECONDS):
            # Nobody looked, or the whole machine was held up; should it happen again, we know.
            self._control.post(self._watch.suspect)
            return
        payload = {
            "step": attempt.item.handler.replace("/", "."),
            "seconds": seconds,
            "line": line or 0,
        }
        attempt.record("stall", payload)
        if self._clock.kind == "real":
            self._blocking.add(attempt.item.handler)


def _outcome(done: asyncio.Future[Outcome] | concurrent.futures.Future[Outcome]) -> Outcome:
    return Outcome(error=asyncio.CancelledError()) if done.cancelled() else done.result()


def _after_turns(loop: asyncio.AbstractEventLoop, turns: int, call: Callable[[], object]) -> None:
    if turns == 0:
        call()
    else:
        loop.call_soon(_after_turns, loop, turns - 1, call)
