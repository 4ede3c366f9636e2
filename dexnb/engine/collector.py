"""How often Python looks for garbage in cycles while an engine runs.

A thousand Flows in flight are many objects and few cycles. At Python's own thresholds a fifth of
the processor's time goes into looking through all of them again and again.
"""

from __future__ import annotations

import gc
import threading

DEFAULTS = frozenset({(700, 10, 10), (2000, 10, 10), (2000, 10, 0)})
"""The thresholds that Python has by itself, in all of its versions: whoever has set others, or has
turned the collector off, has decided."""

CALM = (20_000, 20, 50)
"""The thresholds while an engine runs. Garbage of at most so many objects waits longer, which is a
few megabytes; what is not in a cycle goes at once, as ever."""

_lock = threading.Lock()
_users: set[object] = set()
_before: tuple[int, int, int] | None = None


def install(user: object) -> None:
    """Look less often, for an engine; where the program has thresholds of its own, those stand."""
    global _before  # noqa: PLW0603 - as the setting is the whole process's
    with _lock:
        _users.add(user)
        thresholds = gc.get_threshold()
        if _before is None and gc.isenabled() and thresholds in DEFAULTS:
            _before = thresholds
            gc.set_threshold(*CALM)


def uninstall(user: object) -> None:
    """Give back what was there before with the last engine, unless somebody has changed it since.

    Asking twice changes nothing.
    """
    global _before  # noqa: PLW0603
    with _lock:
        _users.discard(user)
        if _users or _before is None:
            return
        if gc.get_threshold() == CALM:
            gc.set_threshold(*_before)
        _before = None
