"""`Watched`: a run as a watcher sees it: its view, and what is too large for a view."""

from __future__ import annotations

from collections.abc import Iterable

from dexnb.cli import words
from dexnb.model.event import Event
from dexnb.model.log_tail import LogTail
from dexnb.model.run_view import apply, new_view


class Watched:
    """A run that is watched by reading its log again and again."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self.view = new_view()
        """The fold of what was read; see `dexnb.model.run_view`."""
        self.endings: dict[str, Event] = {}
        """What ended the executions in the view, with their outputs and decisions."""
        self.waiting_for_code = ""
        """Which code the run waits for; told from outside, no event says so."""
        self._tail = LogTail()

    @property
    def closed(self) -> bool:
        """Tell whether the run has ended."""
        return self.view["closed_at"] is not None

    @property
    def started_at(self) -> float:
        """Give the store time of the run's start."""
        view = self.view
        return float(view["time"] if view["started_at"] is None else view["started_at"])

    @property
    def durable_seq(self) -> int:
        """Give the newest durable event's number: history is read from behind it."""
        return self._tail.durable_seq

    def take(self, events: Iterable[Event]) -> list[Event]:
        """Take a reading of the log; give what is new, causes before effects."""
        steps = self.view["steps"]
        new = self._tail.take(events, steps)
        for event in new:
            apply(self.view, event)
            if event.kind in words.ENDINGS:
                self.endings[event.step_execution_id] = event
        for gone in [key for key in self.endings if key not in steps]:
            del self.endings[gone]
        return new
