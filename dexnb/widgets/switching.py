"""How fast the interpreter goes from one thread to another while a page is open.

A cell that computes in pure Python gives way to a waiting thread only after the interpreter's
switch interval, 5 ms by default, and a command of the page waits for its turn some fifty times:
once per thread it passes, and again after every call into the socket or the store that lets go of
the interpreter. That added up to 150 to 500 ms until its answer came; with the interval here it is
20 to 70 ms. The cell pays nothing that can be measured (under 1 % in medians, with a Flow that
polls every 0.1 s): the interval only matters while another thread has work, which is short.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial

SWITCH_SECONDS = 0.0005


class ShortSwitches:
    """A short switch interval for as long as anyone asks for it; for any thread.

    An interval that was shorter already stays, and so does one that was set meanwhile.
    """

    def __init__(self) -> None:
        """Change nothing yet."""
        self._lock = threading.Lock()
        self._holders: set[object] = set()
        self._before = self._own = 0.0

    def hold(self) -> Callable[[], None]:
        """Keep it short until what this gives is called, or that of the last who holds it."""
        holder = object()
        with self._lock:
            if not self._holders:
                self._before = sys.getswitchinterval()
                if self._before > SWITCH_SECONDS:
                    sys.setswitchinterval(SWITCH_SECONDS)
                self._own = sys.getswitchinterval()
            self._holders.add(holder)
        return partial(self._release, holder)

    def _release(self, holder: object) -> None:
        with self._lock:
            if holder not in self._holders:
                return
            self._holders.remove(holder)
            if not self._holders and sys.getswitchinterval() == self._own:
                sys.setswitchinterval(self._before)


short_switches = ShortSwitches()
"""That of this process: the interpreter has one interval."""
