"""`LogTail`: what is new in the readings of a log that grows, causes before their effects."""

from __future__ import annotations

from collections.abc import Iterable

from dexnb.model.event import Event

_RANKS = {
    "flow_started": 0,
    "step_scheduled": 0,
    "attempt_started": 1,
    "attempt_ended": 3,
    "retry_scheduled": 4,
    "step_completed": 5,
    "step_failed": 5,
    "step_cancelled": 5,
}
_OTHERS = 2


class LogTail:
    """Follows one run's log; a reading may repeat what earlier ones gave."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.durable_seq = 0
        """The newest durable event's; a reading needs to give only what is behind it."""
        self._telemetry_seq = 0

    def take(self, events: Iterable[Event], known: Iterable[str] = ()) -> list[Event]:
        """Give the events that were not seen yet, in the order of `causes_first`."""
        new = [event for event in events if event.seq > self._seen(event)]
        for event in new:
            if event.durable:
                self.durable_seq = max(self.durable_seq, event.seq)
            else:
                self._telemetry_seq = max(self._telemetry_seq, event.seq)
        return causes_first(new, known)

    def _seen(self, event: Event) -> int:
        return self.durable_seq if event.durable else self._telemetry_seq


def causes_first(events: Iterable[Event], known: Iterable[str] = ()) -> list[Event]:
    """Put events in the order of their times and, where no time passes, causes before effects.

    On a clock that jumps a whole execution may happen at one time.

    Args:
        events: Of one run, durable ones in the order of its history.
        known: Executions that were scheduled before these events, oldest first.
    """
    events = list(events)
    scheduled = (event.step_execution_id for event in events if event.kind == "step_scheduled")
    numbers = {key: number for number, key in enumerate(dict.fromkeys([*known, *scheduled]), 1)}
    last = len(numbers) + 1

    def cause(event: Event) -> tuple[float, int, int]:
        ending = event.kind in ("stop_requested", "flow_closed")
        number = last if ending else numbers.get(event.step_execution_id, 0)
        return event.time, number, _RANKS.get(event.kind, _OTHERS)

    return sorted(events, key=cause)
