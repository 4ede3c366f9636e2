"""One check for every duration that a user may give, so that none goes wrong later."""

from __future__ import annotations

import math
import reprlib
from datetime import timedelta

from dexnb.errors import DefinitionError

LONGEST = 100 * 365.25 * 86400.0
"""The cap on durations: 100 years in seconds, which no clock and no timer overflows."""

_PRINTED_BITS = 256
_bounded = reprlib.Repr()
_bounded.maxstring = _bounded.maxlong = _bounded.maxother = 80


def seconds_of(
    value: timedelta | float,
    *,
    name: str,
    minimum: float = 0.0,
    allow_zero: bool = True,
) -> float:
    """Turn a duration into seconds, or refuse it by name.

    `timedelta.max` means "no limit" and becomes `LONGEST`; anything else above that is refused.

    Args:
        value: The duration; numbers are seconds.
        name: What the text of the error calls it, for example
            `PollingFlow.AwaitJob.heartbeat_timeout`.
        minimum: The least seconds that are legal.
        allow_zero: Whether zero is legal when `minimum` is zero.

    Raises:
        DefinitionError: Not a duration, NaN, infinite, negative or outside the range.
    """
    seconds = _as_float(value)
    if seconds is None:
        raise DefinitionError(
            f"{name} is {shown(value)}, a {type(value).__name__}: "
            "give a timedelta or a number of seconds"
        )
    zero_refused = seconds == 0 and not allow_zero
    if zero_refused or not minimum <= seconds <= LONGEST:
        lower = "more than 0 s" if minimum == 0 and not allow_zero else f"at least {minimum:g} s"
        raise DefinitionError(
            f"{name} is {shown(value)}: give {lower} and at most {LONGEST:.0f} s (100 years), "
            "or timedelta.max for no limit"
        )
    return seconds


def shown(value: object) -> str:
    """Give a value as text for an error, bounded in length and never an error of its own."""
    if isinstance(value, int) and value.bit_length() > _PRINTED_BITS:
        # Python refuses to print very long integers.
        return f"an integer of {value.bit_length()} bits"
    return _bounded.repr(value)


def _as_float(value: object) -> float | None:
    """Give seconds, infinite ones for what no float holds, or None for what is no duration."""
    if isinstance(value, timedelta):
        return LONGEST if value == timedelta.max else value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value > 0 or -1)
