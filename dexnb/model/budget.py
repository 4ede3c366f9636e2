"""The window rule and the wait bounds: how interval, call, silence and retries fit together.

Pure arithmetic in seconds. The window rule: interval + call timeout <= heartbeat_timeout - margin,
so that a slow call is never taken for a dead Step (source: the Dex polling pattern, margin 10 s).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

MARGIN = 10.0
"""Seconds that a round leaves free before the heartbeat deadline."""

GRAIN = 1e-9
"""Two durations closer than this are equal: sums of decimal fractions are not exact."""


@dataclass(frozen=True, slots=True)
class Window:
    """One round of a polling Step against the silence that is allowed.

    Args:
        interval: Seconds slept between two calls.
        call_timeout: Longest call in seconds; 0 where it is not known.
        heartbeat_timeout: Longest silence in seconds.
        margin: Seconds to spare.
    """

    interval: float
    call_timeout: float
    heartbeat_timeout: float
    margin: float = MARGIN

    @property
    def slack(self) -> float:
        """Seconds left over by the rule; negative where it is broken."""
        return self.heartbeat_timeout - self.margin - self.interval - self.call_timeout

    @property
    def holds(self) -> bool:
        """Tell whether the rule holds; equality does."""
        return self.slack >= -GRAIN

    @property
    def longest_interval(self) -> float:
        """Longest legal interval; not above 0 where the rule leaves none at all."""
        return self.heartbeat_timeout - self.margin - self.call_timeout

    @property
    def longest_call_timeout(self) -> float:
        """Longest legal call timeout; not above 0 where the rule leaves none at all."""
        return self.heartbeat_timeout - self.margin - self.interval

    @property
    def smallest_heartbeat_timeout(self) -> float:
        """Smallest heartbeat_timeout under which interval and call timeout are legal."""
        return self.interval + self.call_timeout + self.margin

    @property
    def problem(self) -> str:
        """Say what breaks the rule and which value to change to what; empty where it holds."""
        if self.holds:
            return ""
        smallest = exact_seconds(self.smallest_heartbeat_timeout)
        sum_ = self._sum()
        if self.longest_interval <= GRAIN:
            return (
                f"no interval fits: heartbeat_timeout {sum_} leaves nothing; "
                f"raise heartbeat_timeout to at least {smallest}"
            )
        longest = exact_seconds(self.longest_interval)
        text = f"interval {exact_seconds(self.interval)} is over {longest} = {sum_}; "
        text += f"lower it to {longest}, or raise heartbeat_timeout to at least {smallest}"
        if self.longest_call_timeout > GRAIN:
            text += f", or lower the call timeout to {exact_seconds(self.longest_call_timeout)}"
        return text

    def _sum(self) -> str:
        parts = (self.heartbeat_timeout, self.margin, self.call_timeout)
        return " - ".join(f"{part:g}" for part in parts)


def worst_case(total_duration: float, execute_method_timeout: float) -> float:
    """Give the longest that a Step may take in all, its retries included.

    `total_duration` gates further retries and never cuts a running attempt, so an attempt that
    begins just before it ends may still run for a whole method timeout.
    """
    return total_duration + execute_method_timeout


@dataclass(frozen=True, slots=True)
class Budget:
    """What a Step's settings allow in all: the document that a budget pane shows.

    Args:
        step_type: The Step.
        interval: Seconds slept between two calls, or None where the Step has none that is known.
        call_timeout: Longest call, or None where it is not known.
        heartbeat_timeout: Longest silence.
        margin: Seconds to spare.
        execute_method_timeout: Longest run of one attempt.
        total_duration: Seconds after which no retry begins.
        maximum_attempts: Attempts in all; 0 for no limit.
    """

    step_type: str
    interval: float | None
    call_timeout: float | None
    heartbeat_timeout: float
    margin: float
    execute_method_timeout: float
    total_duration: float
    maximum_attempts: int

    @property
    def window(self) -> Window | None:
        """The window rule of this Step, or None where it sleeps for no time that is known."""
        if self.interval is None:
            return None
        call = self.call_timeout or 0.0
        return Window(self.interval, call, self.heartbeat_timeout, self.margin)

    @property
    def worst_case(self) -> float:
        """The longest that the Step may take in all."""
        return worst_case(self.total_duration, self.execute_method_timeout)

    def to_json(self) -> dict[str, Any]:
        """Give the plain JSON form, with what follows from the values."""
        window = self.window
        return {
            **asdict(self),
            "worst_case": self.worst_case,
            "slack": None if window is None else window.slack,
            "problem": "" if window is None else window.problem,
        }


def exact_seconds(seconds: float) -> str:
    """Write a duration as a bound is given: in seconds, to the microsecond."""
    return f"{round(seconds, 6):g} s"


def seconds_text(seconds: float) -> str:
    """Write a duration for people: `2 s`, `0.5 s`, `10 min`, `4 h`."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size and seconds % (size / 2) == 0:
            return f"{seconds / size:g} {unit}"
    return f"{round(seconds, 3):g} s"
