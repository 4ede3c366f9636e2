"""`Faults`: how an external system misbehaves, by seed, as plain data."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dexnb.jobs.fields import (
    check_object,
    check_pair,
    check_rate,
    check_seconds,
    check_windows,
    refuse,
)

_LEAST_LIMIT, _MOST_LIMIT = 1e-6, 1e6
_Windows = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Fault:
    """What befalls one call, as far as chance decides it.

    Args:
        delay: Seconds before the answer is given, whatever it is.
        error: Refused with 503 before anything is done.
        hang: Done, but never answered.
        reset: Done, but the connection is reset instead of an answer.
        flap: Answered with the state before the present one.
    """

    delay: float
    error: bool
    hang: bool
    reset: bool
    flap: bool


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong, and how often.

    Chance is fixed by `seed`: the `Fault` of call number n of a job depends on the seed, the job
    id and n alone, and changing one rate leaves the draws of the others as they were. Windows
    and `disappear_after` count from the creation of the job, so a creation is never inside one.
    Faults befall creations and status calls; completing or failing a job by hand is the
    operator's act and meets only `disappear_after`.

    Args:
        seed: Any integer.
        latency: Seconds before each answer, or a range (from, to) to draw from.
        slow_rate: Probability that an answer takes `slow_seconds` more.
        slow_seconds: Length of such a delay.
        error_rate: Probability of a 503; nothing was done.
        outages: Windows in which every call gets a 503.
        hang_rate: Probability that a call is done but never answered.
        hang_windows: Windows in which no call is answered.
        reset_rate: Probability that a call is done but its connection is reset.
        flap_rate: Probability that a status call shows the state before the present one, even
            after the end, as a lagging replica does.
        rate_limit: Calls per second that all jobs together may make; more get a 429 that says
            when to ask again. Below 1 it means one call per 1 / `rate_limit` seconds.
        disappear_after: Seconds after which the job is not found any more, nor created again.

    Raises:
        DefinitionError: A field cannot hold; the text names it.
    """

    seed: int = 0
    latency: float | tuple[float, float] = 0.0
    slow_rate: float = 0.0
    slow_seconds: float = 5.0
    error_rate: float = 0.0
    outages: _Windows = ()
    hang_rate: float = 0.0
    hang_windows: _Windows = ()
    reset_rate: float = 0.0
    flap_rate: float = 0.0
    rate_limit: float | None = None
    disappear_after: float | None = None

    def __post_init__(self) -> None:
        """Check all fields."""
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise refuse("faults.seed", self.seed, "give an integer")
        if abs(self.seed) >= 2**64:
            raise refuse("faults.seed", self.seed, "give an integer of at most 64 bits")
        if isinstance(self.latency, list | tuple):
            self._keep("latency", check_pair("faults.latency", self.latency))
        else:
            self._keep("latency", check_seconds("faults.latency", self.latency))
        for name in ("slow_rate", "error_rate", "hang_rate", "reset_rate", "flap_rate"):
            self._keep(name, check_rate(f"faults.{name}", getattr(self, name)))
        for name in ("outages", "hang_windows"):
            self._keep(name, check_windows(f"faults.{name}", getattr(self, name)))
        self._keep("slow_seconds", check_seconds("faults.slow_seconds", self.slow_seconds))
        self._check_limits()

    def _check_limits(self) -> None:
        if self.disappear_after is not None:
            seconds = check_seconds("faults.disappear_after", self.disappear_after)
            self._keep("disappear_after", seconds)
        if self.rate_limit is not None:
            limit = check_seconds("faults.rate_limit", self.rate_limit, above_zero=True)
            if not _LEAST_LIMIT <= limit <= _MOST_LIMIT:
                fix = "give calls per second, from 1e-6 to 1e6"
                raise refuse("faults.rate_limit", self.rate_limit, fix)
            self._keep("rate_limit", limit)

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def fault(self, job_id: str, number: int) -> Fault:
        """Give what chance does to call `number` (counted from 0) of a job."""
        # A digest and not random.Random: ten times as fast, and the same in every Python.
        key = f"{self.seed}:{number}:{job_id}".encode()
        digest = hashlib.blake2b(key, digest_size=48).digest()
        error, hang, reset, flap, slow, wait = (
            draw / 2**64 for draw in struct.unpack("<6Q", digest)
        )
        return Fault(
            delay=self._latency(wait) + (self.slow_seconds if slow < self.slow_rate else 0.0),
            error=error < self.error_rate,
            hang=hang < self.hang_rate,
            reset=reset < self.reset_rate,
            flap=flap < self.flap_rate,
        )

    def _latency(self, draw: float) -> float:
        if isinstance(self.latency, tuple):
            least, most = self.latency
            return least + (most - least) * draw
        return self.latency

    def is_out(self, elapsed: float) -> bool:
        """Tell whether an outage reigns `elapsed` seconds after the job was created."""
        return _inside(self.outages, elapsed)

    def is_silent(self, elapsed: float) -> bool:
        """Tell whether no call is answered `elapsed` seconds after the job was created."""
        return _inside(self.hang_windows, elapsed)

    def is_gone(self, elapsed: float) -> bool:
        """Tell whether the job has disappeared `elapsed` seconds after it was created."""
        return self.disappear_after is not None and elapsed >= self.disappear_after

    def to_json(self) -> dict[str, Any]:
        """Give the faults as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: object) -> Faults:
        """Read what `to_json` gave; fields left out take their defaults.

        Raises:
            DefinitionError: Not an object, an unknown field, or a value that cannot hold.
        """
        return cls(**check_object("faults", document, cls.__match_args__))


def _inside(windows: _Windows, elapsed: float) -> bool:
    return any(start <= elapsed < end for start, end in windows)
