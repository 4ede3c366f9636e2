"""`Deadlines`: the method timeout and the heartbeat deadline of each attempt, judged fairly.

An attempt is judged only after the heartbeats that wait on its loop were let through, and time in
which nothing could run (a stalled loop, a stopped process) does not count against it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dexnb.engine.attempt import Attempt
from dexnb.engine.retry import HEARTBEAT, START_TO_CLOSE
from dexnb.engine.step_hosts import StepHosts
from dexnb.model.decision import Failure

LATE_SECONDS = 0.2
"""A timer that fires later than this shows that the engine itself was held up."""

UNSTARTED_SECONDS = 0.5
BLOCKED_SECONDS = 0.05


class Deadlines:
    """One timer per attempt, set again lazily: a heartbeat costs it nothing.

    Args:
        hosts: Where the attempts' Steps run.
        fail: Called with an attempt and its timeout.
    """

    def __init__(self, hosts: StepHosts, fail: Callable[[Attempt, Failure], None]) -> None:
        """Start with no timer."""
        self._hosts = hosts
        self._fail = fail

    def arm(self, attempt: Attempt) -> None:
        """Set the timer of an attempt that is about to start."""
        settings = attempt.settings
        first = min(attempt.method_timeout, settings.heartbeat_timeout, UNSTARTED_SECONDS)
        self._set(attempt, asyncio.get_running_loop().time() + first)

    def disarm(self, attempt: Attempt) -> None:
        """Forget an attempt's timer."""
        if attempt.timer is not None:
            attempt.timer.cancel()
            attempt.timer = None

    def _set(self, attempt: Attempt, when: float) -> None:
        loop = asyncio.get_running_loop()
        attempt.timer = loop.call_at(when, self._look, attempt, when)

    def _look(self, attempt: Attempt, planned: float) -> None:
        if attempt.closing is not None:
            return
        now = asyncio.get_running_loop().time()
        when, _ = _due(attempt)
        if when is None:
            self._set(attempt, now + UNSTARTED_SECONDS)
        elif when > now:
            self._set(attempt, when)
        elif now - planned > LATE_SECONDS:
            attempt.last_sign += now - planned
            self._set(attempt, now + min(now - planned, BLOCKED_SECONDS))
        elif self._hosts.blocked_by_another(attempt):
            self._set(attempt, now + BLOCKED_SECONDS)
        else:
            # Should the loop be blocked after all, the timer looks again.
            self._set(attempt, now + LATE_SECONDS)
            self._hosts.after_waiting_calls(attempt, self._judge)

    def _judge(self, attempt: Attempt) -> None:
        when, failure = _due(attempt)
        if attempt.closing is not None or when is None:
            return
        if when <= asyncio.get_running_loop().time():
            self._fail(attempt, failure)
        else:
            self.disarm(attempt)
            self._set(attempt, when)


def _due(attempt: Attempt) -> tuple[float | None, Failure]:
    if attempt.started is None:
        return None, HEARTBEAT
    settings = attempt.settings
    method = attempt.started + attempt.method_timeout
    beat = attempt.last_sign + settings.heartbeat_timeout
    return (method, START_TO_CLOSE) if method <= beat else (beat, HEARTBEAT)
