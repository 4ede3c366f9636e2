"""For how long the clocks go on that a store's time is tied to."""

from __future__ import annotations

import asyncio
import secrets
from itertools import count
from weakref import WeakKeyDictionary

from dexnb.clock import Clock, boot_id

_process = secrets.token_hex(8)
_numbers = count(1)
_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, str] = WeakKeyDictionary()


def clock_boot(clock: Clock) -> str:
    """Name the machine's boot, or, where time is not real, the running loop."""
    if clock.kind == "real":
        return boot_id()
    loop = asyncio.get_running_loop()
    if loop not in _loops:
        _loops[loop] = f"loop {_process}-{next(_numbers)}"
    return _loops[loop]
