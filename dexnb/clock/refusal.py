"""The two errors that a clock raises, and the wording they share."""

from __future__ import annotations

from collections.abc import Sequence

from dexnb.errors import DexnbError

NETWORK_FIX = "poll an in-process job of dexnb.jobs instead, or run this on Clock.real()"
SLEEP_FIX = (
    "use `await asyncio.sleep(...)` in an async Step, which follows the clock, "
    "or run this on Clock.real()"
)
UNSEEN_FIX = (
    "put the wait for that thread inside `with dexnb.clock.outside_work():` and shield it from "
    "cancellation until the thread has answered; if other threads may wake the loop at any time, "
    "use Clock.virtual(external_wakeups=True)"
)


class ClockRefusal(DexnbError):
    """A call that lives in real time was made where time is scaled or virtual.

    A real sleep or a real network answer cannot follow such a clock: it would stop it, or be
    overtaken by it. `call` names the call, `clock` the clock, `who` the code that made it and
    `fix` what to write instead.
    """

    def __init__(self, call: str, *, clock: str, who: str, fix: str) -> None:
        """Keep the parts beside the text."""
        self.call = call
        self.clock = clock
        self.who = who
        self.fix = fix
        super().__init__(f"{call} by {who} cannot follow the {clock} clock: {fix}")


class VirtualTimeStuck(DexnbError):
    """Virtual time can never move again, so the run is ended instead of hanging.

    Either nothing is runnable, no timer is set and no outside work is declared; or something is
    always runnable, as in a loop around `asyncio.sleep(0)`, which takes no virtual time. `at` is
    the virtual time in seconds and `waiting` has one line for each task, with the place where it
    waits.
    """

    def __init__(self, at: float, waiting: Sequence[str], *, spinning: bool = False) -> None:
        """Build the text from the time, the places and which of the two it is."""
        self.at = at
        self.waiting = tuple(waiting)
        places = "".join(f"\n  - {line}" for line in self.waiting) or "\n  - no task at all"
        reason, fix = _SPINNING if spinning else _IDLE
        super().__init__(f"virtual time stands still at {at:g} s: {reason}:{places}\n{fix}.")


_IDLE = (
    "nothing is runnable, no timer is set and no outside work is declared. What waits, and where",
    f"If another thread is to answer, {UNSEEN_FIX}",
)
_SPINNING = (
    "tasks go on for ever without waiting for time to pass. What runs, and where",
    "A loop around sleep(0) takes no virtual time: give it an interval above zero",
)
