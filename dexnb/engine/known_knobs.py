"""`KnownKnobs`: what an engine knows of one run's knobs, and as of which event of its history.

Several engines may turn the same knob of a run. What the history recorded last holds in all of
them, so each value goes with a number: the run has no newer one up to that event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dexnb.model.event import Event
from dexnb.model.message import KnobsChanged

Numbers = dict[str, int]
"""For each knob the event as of which its value is known to be the newest."""


@dataclass(slots=True)
class _Turned:
    """Values that were turned here and are not known to be in the history.

    Args:
        overrides: The values.
        at: The newest event of the run that is known to be older than them.
    """

    overrides: dict[str, Any]
    at: int


@dataclass(slots=True)
class KnownKnobs:
    """The knobs of one run, as one engine knows them.

    Args:
        values: What the history says.
        numbers: As of which event.
        turned: What was turned here and may not be in the history yet, by request id, in order.
    """

    values: dict[str, Any] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=dict)
    turned: dict[str, _Turned] = field(default_factory=dict)

    @property
    def turned_at(self) -> int:
        """Give the event behind which the history has what was turned here, or will have it."""
        return min(each.at for each in self.turned.values())

    def turn(self, message: KnobsChanged, at: int) -> None:
        """Take what is turned here, at a time when the run has `at` events."""
        self.turned[message.request_id] = _Turned(message.overrides, at)

    def learn(self, overrides: Mapping[str, Any], at: int) -> None:
        """Take what the history says up to event `at`."""
        for name, value in overrides.items():
            if at >= self.numbers.get(name, 0):
                self.values[name], self.numbers[name] = value, at

    def read(self, events: Iterable[Event]) -> None:
        """Take events; what was turned here and is among them is as old as its event."""
        for event in events:
            if event.kind == "knobs_changed":
                self.learn(event.payload["overrides"], event.seq)
                self.turned.pop(event.payload.get("request_id", ""), None)

    def not_before(self, request_ids: Iterable[str], at: int) -> None:
        """Learn that the history has none of these up to event `at`."""
        for request_id in request_ids:
            if (turned := self.turned.get(request_id)) is not None:
                turned.at = max(turned.at, at)

    def newest(
        self, overrides: Mapping[str, Any], numbers: Mapping[str, int]
    ) -> tuple[dict[str, Any], Numbers]:
        """Give the newer of these values and the known ones, with their numbers.

        Where nobody can tell, what comes from the history wins: all engines agree on it.

        Args:
            overrides: Values of elsewhere, as of a work item.
            numbers: As of which events; 0 for a name that has none.
        """
        values, as_of = dict(overrides), {name: numbers.get(name, 0) for name in overrides}
        for name, value in self.values.items():
            if name not in values or self.numbers[name] > as_of[name]:
                values[name], as_of[name] = value, self.numbers[name]
        for turned in self.turned.values():
            for name, value in turned.overrides.items():
                if turned.at >= as_of.get(name, 0):
                    values[name], as_of[name] = value, turned.at
        return values, as_of
