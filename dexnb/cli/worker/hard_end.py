"""`HardEnd`: the end of a process that was told to stop and does not."""

from __future__ import annotations

import logging
import os
import queue
import threading

from dexnb.cli.exits import FAILED
from dexnb.cli.worker.log_lines import LOG, tell

STOP_GRACE = 15.0
"""Seconds that a process has beyond the drain before it is killed: the engine's own stop waits for
a store that does not answer."""

OWN_GRACE = 5.0
"""Seconds beyond that, after which it ends itself: only one whose parent has died comes to that."""

_LAST_SECONDS = 0.5


class HardEnd:
    """Ends this process some time after it was told to stop, whatever holds it up."""

    def __init__(self) -> None:
        """Wait to be told."""
        # A queue that a signal handler may put into.
        self._told: queue.SimpleQueue[None] = queue.SimpleQueue()

    def tell(self) -> None:
        """Begin to count; from any thread or signal handler, as often as one likes."""
        self._told.put(None)

    def after(self, drain: float) -> None:
        """Say how many seconds of draining come before the grace."""
        threading.Thread(
            target=self._end, args=(drain,), name="dexnb-hard-end", daemon=True
        ).start()

    def _end(self, drain: float) -> None:
        self._told.get()
        threading.Event().wait(drain + STOP_GRACE + OWN_GRACE)
        if LOG.hasHandlers():
            tell(logging.CRITICAL, "process_killed", reason="did not stop")
            threading.Event().wait(_LAST_SECONDS)
        os._exit(FAILED)
