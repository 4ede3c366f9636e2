"""Store time: the server's clock at connect, and from then on this machine's own clock.

So all engines of a store agree, and whoever sets a wall clock, the server's too, changes nothing:
what the server's clock jumps is taken back by an offset in the store, and store time never goes
back behind the newest that was noted. Both times of the store go on while this machine sleeps, for
other machines do not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from dexnb.clock import host_readings
from dexnb.errors import ClockMismatch, ProviderError
from dexnb.providers.redis.encoding import MICRO, micros, text
from dexnb.providers.store_clock import Anchor, StoreClock, since_boot

LAYOUT = "1"
CLOCK = "real"

SAMPLES = 5
GOOD_SAMPLE = 0.001
"""Seconds of a round trip after which no better one is looked for."""

LARGEST_DRIFT = 1.0
"""Seconds by which two clocks may part between two looks before one of them was set."""

NOTE_INTERVAL = 5.0
"""Seconds between two looks at the server's clock."""

LONGEST_SILENCE = 300.0
"""Seconds that store time does not go on unnoted while engines are connected."""

Ask = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Sample:
    """The server's clock and this machine's at one moment, in seconds."""

    server: float
    here: float


def here() -> float:
    """Give the clock of this machine that nobody sets and that goes on while it sleeps."""
    return since_boot(host_readings())


def server_seconds(answer: Any) -> float:
    """Read what the server says its time is."""
    return int(answer[0]) + int(answer[1]) / MICRO


async def sample(command: Ask) -> Sample:
    """Read both clocks: of a few tries the one with the shortest way there and back."""
    best, shortest = Sample(0.0, 0.0), float("inf")
    for _ in range(SAMPLES):
        before = here()
        server = server_seconds(await command("open", "TIME"))
        after = here()
        if after - before < shortest:
            best, shortest = Sample(server, (before + after) / 2), after - before
        if shortest < GOOD_SAMPLE:
            break
    return best


class ServerTime:
    """Keeps one engine's part in the time of a store.

    Args:
        command: Sends a command.
        script: Runs a script.
    """

    def __init__(self, command: Ask, script: Ask) -> None:
        """Know no time yet."""
        self._command = command
        self._script = script
        self._place = ""
        self._offset = 0
        self._last = Sample(0.0, 0.0)
        self.clock: StoreClock

    async def join(self, place: str, *, others: bool) -> None:
        """Tie store time to this machine's clock.

        Args:
            place: The store, for errors.
            others: Whether other engines are connected, which note the time now and then.

        Raises:
            ClockMismatch: The store was written on another clock.
            ProviderError: It is no store of ours, or its layout is not known here.
        """
        self._place = place
        answer = await self._script("open", "join_store", LAYOUT, CLOCK)
        layout, clock, offset, newest = answer[2]
        if layout != LAYOUT.encode():
            message = (
                f"{place} has layout {text(layout)!r}, this dexnb knows {LAYOUT}; "
                "install a newer dexnb, or give another prefix"
            )
            raise ProviderError("open", message, retryable=False)
        if clock != CLOCK.encode():
            raise ClockMismatch(place, text(clock), CLOCK)
        try:
            self._offset, latest = int(offset), int(newest or 0) / MICRO
        except ValueError:
            message = f"{place} has a time that cannot be read; give another prefix"
            raise ProviderError("open", message, retryable=False) from None
        self._last = first = await sample(self._command)
        now = first.server + self._offset / MICRO
        gap = now - latest if latest else 0.0
        if gap < -LARGEST_DRIFT or (others and gap > LONGEST_SILENCE):
            await self._shift(-gap, latest)
            now = first.server + self._offset / MICRO
        self.clock = StoreClock(Anchor(now, first.here, first.here), tick=here)

    async def look(self) -> None:
        """Note how late it is; when the server's clock was set, take that back.

        Raises:
            ProviderError: The server does not answer, or not retryable: the store is not there.
        """
        last, self._last = self._last, await sample(self._command)
        step = (self._last.server - last.server) - (self._last.here - last.here)
        await self._shift(-step if abs(step) > LARGEST_DRIFT else 0.0, self.clock.now())

    async def note(self) -> None:
        """Note how late it is, for whoever comes next."""
        await self._shift(0.0, self.clock.now())

    async def _shift(self, seconds: float, newest: float) -> None:
        wanted = self._offset + round(seconds * MICRO)
        answer = await self._script(
            "watch", "keep_time", str(self._offset), str(wanted), micros(newest)
        )
        if answer[2] is None:
            message = f"{self._place} was emptied while it was open; open it anew"
            raise ProviderError("watch", message, retryable=False)
        # Whoever was first has taken back the same jump.
        self._offset = int(answer[2])
