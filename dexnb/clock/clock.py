"""How time passes for a run: a value to pass around, and the loops it makes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from dexnb.clock.duration import shown
from dexnb.clock.guard import guard
from dexnb.clock.host import wall
from dexnb.clock.loop import ClockLoop
from dexnb.clock.scaled import ScaledLoop
from dexnb.clock.virtual import VirtualLoop
from dexnb.errors import DefinitionError

T = TypeVar("T")

LARGEST_FACTOR = 1e9
"""More than this no scaled clock can follow: one real nanosecond would be a second and more."""

DEFAULT_START = datetime(2026, 1, 1, tzinfo=UTC)
"""What the wall shows at time zero of a virtual clock, so that runs are alike."""


_FACTORS = {"real": 1.0, "scaled": None, "virtual": math.inf}


@dataclass(frozen=True, slots=True)
class Clock:
    """How time passes; make one with `real`, `scaled` or `virtual`.

    Args:
        kind: Which of the three.
        factor: Seconds of this clock in one real second; infinite when virtual.
        start: What the wall shows at time zero of a virtual clock; None for the others.
        external_wakeups: See `virtual`.

    Raises:
        DefinitionError: A factor or a start that cannot hold.
    """

    kind: Literal["real", "scaled", "virtual"]
    factor: float = 1.0
    start: datetime | None = None
    external_wakeups: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot hold."""
        if self.kind not in _FACTORS:
            raise DefinitionError(
                f"Clock: kind is {shown(self.kind)}: take Clock.real(), Clock.scaled(10) or "
                "Clock.virtual()"
            )
        fixed = _FACTORS[self.kind]
        factor = _checked_factor(self.factor) if fixed is None else fixed
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "start", self._checked_start())

    def _checked_start(self) -> datetime | None:
        if self.kind != "virtual":
            return None
        start = self.start or DEFAULT_START
        if start.utcoffset() is None:
            raise DefinitionError(
                f"Clock.virtual: start is {start!r}, which has no time zone: "
                "give for example datetime(2026, 1, 1, tzinfo=UTC)"
            )
        return start

    @classmethod
    def real(cls) -> Clock:
        """Let time pass as on the host, on an ordinary loop."""
        return cls("real")

    @classmethod
    def scaled(cls, factor: float) -> Clock:
        """Let time run `factor` times as fast as on the host.

        Raises:
            DefinitionError: The factor is not a finite number above zero.
        """
        return cls("scaled", factor)

    @classmethod
    def virtual(cls, *, start: datetime | None = None, external_wakeups: bool = False) -> Clock:
        """Let time jump to the next timer whenever nothing else is to be done.

        Args:
            start: What the wall shows at time zero, with a time zone; 2026-01-01 UTC by default.
            external_wakeups: Threads outside may wake the loop at any time, as the cells of a
                notebook do with a loop in the background. The loop then waits for them when it has
                nothing to do, where it would otherwise raise `VirtualTimeStuck`.

        Raises:
            DefinitionError: The start has no time zone.
        """
        return cls("virtual", start=start, external_wakeups=external_wakeups)

    @classmethod
    def of(cls, loop: asyncio.AbstractEventLoop) -> Clock:
        """Say which clock a loop runs on; any loop that this package did not make is real."""
        if isinstance(loop, VirtualLoop):
            return cls.virtual(start=loop.start, external_wakeups=loop.external_wakeups)
        if isinstance(loop, ScaledLoop):
            return cls.scaled(loop.factor)
        return cls.real()

    @property
    def identity(self) -> str:
        """The name a store keeps, so that clocks never mix in one file: `scaled:10`, `virtual`."""
        if self.kind == "scaled":
            return f"scaled:{self.factor!r}".removesuffix(".0")
        return self.kind

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        """Make a loop on which time passes like this; the caller closes it."""
        if self.kind == "scaled":
            return ScaledLoop(self.factor, self.identity)
        if self.kind == "virtual":
            return VirtualLoop(self.start or DEFAULT_START, external_wakeups=self.external_wakeups)
        return asyncio.new_event_loop()

    def run(self, coro: Coroutine[Any, Any, T], *, debug: bool | None = None) -> T:
        """Run a coroutine to its end on a loop of this clock, as `asyncio.run` does.

        Raises:
            VirtualTimeStuck: On a virtual clock nothing can ever happen again.
            ClockRefusal: A real sleep, the network, or a thread that was not counted.
        """
        with asyncio.Runner(debug=debug, loop_factory=self.new_event_loop) as runner:
            return runner.run(coro)


def _checked_factor(factor: object) -> float:
    if isinstance(factor, int | float) and factor is not True and 0 < factor <= LARGEST_FACTOR:
        return float(factor)
    raise DefinitionError(
        f"Clock.scaled: factor is {shown(factor)}: give a finite number above 0 and at most "
        f"{LARGEST_FACTOR:g}, for example 10 for ten times as fast"
    )


def wall_time(loop: asyncio.AbstractEventLoop | None = None) -> float:
    """Give the epoch seconds to stamp things with, on the clock of a loop.

    Args:
        loop: The loop; by default the running one, and where none runs the host's wall clock.
    """
    if loop is None:
        loop = asyncio._get_running_loop()  # noqa: SLF001 - documented, and raises nothing
    return loop.wall_time() if isinstance(loop, ClockLoop) else wall()


def outside_work(loop: asyncio.AbstractEventLoop | None = None) -> AbstractContextManager[None]:
    """Keep virtual time still while something works outside the loop, such as a database thread.

    Put it around the wait for the answer, and let it last until the answer has come even when the
    waiter is cancelled (`asyncio.shield`): a late answer from an uncounted thread ends the run.
    On other clocks it does nothing. `run_in_executor`, `asyncio.to_thread` and
    `anyio.to_thread.run_sync` are counted without it. A thread that was counted there, or that
    entered this itself, may call back into the loop and wait: time passes while it does.

    Args:
        loop: The loop; by default the running one. From another thread it must be given.

    Raises:
        RuntimeError: No loop is given and none is running.
    """
    loop = loop or asyncio.get_running_loop()
    return loop.outside_work() if isinstance(loop, VirtualLoop) else nullcontext()


def hold(loop: asyncio.AbstractEventLoop) -> AbstractContextManager[None]:
    """Keep virtual time still while another thread prepares or looks at something.

    For any thread, the loop's own included; on other clocks it does nothing. Unlike under
    `outside_work`, time stays still even while the holding thread waits for the loop: do not wait
    inside for something that needs time to pass.
    """
    return loop.hold() if isinstance(loop, VirtualLoop) else nullcontext()


def guard_thread(clock: Clock, who: str) -> AbstractContextManager[None]:
    """Refuse real sleeps and the network in this thread, on behalf of a clock that is not real.

    Args:
        clock: The clock of the run; nothing happens for a real one.
        who: The Flow and Step to name, for example `Step PollingFlow.AwaitJob`.
    """
    return nullcontext() if clock.kind == "real" else guard(clock.identity, who)
