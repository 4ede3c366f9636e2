"""`Speeds`: the session that a Lab runs on, and faster ones that it may be run on instead."""

from __future__ import annotations

import math

from dexnb import connect
from dexnb.clock import Clock
from dexnb.engine import RuntimeOptions, Session
from dexnb.errors import DefinitionError

OFFERED = (1, 10, 60)


class Speeds:
    """The real session, and at most one scaled one on a memory of its own.

    Args:
        session: The Lab's own.
        offered: Whether other speeds may be chosen: not for jobs that live on another clock.
    """

    def __init__(self, session: Session, *, offered: bool) -> None:
        """Run on the Lab's own session."""
        self._home = session
        session.options.live_knobs = True
        self._scaled: Session | None = None
        self._offered = offered and session.clock.kind == "real"

    @property
    def session(self) -> Session:
        """The session to run on now."""
        return self._scaled or self._home

    @property
    def speed(self) -> float:
        """How many seconds of the run pass in one real second; 1 where that is no number."""
        factor = self.session.clock.factor
        return factor if math.isfinite(factor) else 1.0

    @property
    def all(self) -> list[float]:
        """The speeds to choose from."""
        return [float(speed) for speed in OFFERED] if self._offered else [self.speed]

    def choose(self, factor: float) -> None:
        """Run on another speed from now on; runs of a scaled session end with it.

        Raises:
            DefinitionError: That speed is not offered; names those that are.
        """
        if factor not in self.all:
            known = ", ".join(f"{speed:g}" for speed in self.all)
            message = f"speed is {factor!r}: choose among {known}"
            raise DefinitionError(message)
        if factor == self.speed:
            return
        self.close()
        if factor != 1:
            self._scaled = connect.open(
                "memory:",
                clock=Clock.scaled(factor),
                options=RuntimeOptions(live_knobs=True),
                codecs=self._home.codecs,
            )

    def close(self) -> None:
        """Close the scaled session; the Lab's own stays open for others."""
        if self._scaled is not None:
            self._scaled.close()
            self._scaled = None
