"""`StallWatch`: tells a Step that blocks its loop from a machine that is held up as a whole.

A Step is blamed only when looks from the control thread came on time and found it holding its loop
each time: while those looks themselves come late, a busy interpreter or processor is the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dexnb.engine.host import StepHost

HELD_SECONDS = 0.1
"""A Step that holds its loop for longer than this may be blocking it."""

BLOCKED_SECONDS = 0.25
"""A Step that holds its loop for this long, as far as looks can tell, has blocked it."""

LOOK_SECONDS = 0.05
LATE_SECONDS = 0.03
SUSPICION_SECONDS = 5.0


class StallWatch:
    """Looks at hosts from the control loop: rarely, and closely while something is suspected.

    Args:
        hosts: Gives the hosts that do not run on the control loop.
        now: The engine's monotonic time.
    """

    def __init__(self, hosts: Callable[[], Iterable[StepHost]], now: Callable[[], float]) -> None:
        """Suspect nothing."""
        self._hosts = hosts
        self._now = now
        self._seen: dict[StepHost, tuple[float, int]] = {}
        self._until = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def look(self) -> None:
        """Look once; called about twice a second while attempts run."""
        if any(self._held(host) for host in self._hosts()):
            self.suspect()

    def suspect(self) -> None:
        """Look closely for a while."""
        self._until = self._now() + SUSPICION_SECONDS
        if self._handle is None:
            self._schedule()

    def stop(self) -> None:
        """End the looks."""
        self._until = 0.0
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _schedule(self) -> None:
        when = self._now() + LOOK_SECONDS
        self._handle = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._close_look, when)

    def _close_look(self, planned: float) -> None:
        self._handle = None
        now = self._now()
        if now - planned > LATE_SECONDS:
            self._seen.clear()
        else:
            held = {host: host.since for host in self._hosts() if self._held(host)}
            self._seen = {host: self._count(host, since) for host, since in held.items()}
            for host, (since, looks) in self._seen.items():
                if looks * LOOK_SECONDS >= BLOCKED_SECONDS - HELD_SECONDS:
                    host.blame(since)
        if now < self._until or self._seen:
            self._schedule()

    def _count(self, host: StepHost, since: float) -> tuple[float, int]:
        before, looks = self._seen.get(host, (since, 0))
        return since, looks + 1 if before == since else 1

    def _held(self, host: StepHost) -> bool:
        return host.current is not None and self._now() - host.since > HELD_SECONDS
