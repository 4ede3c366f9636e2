"""`Followed`: one run of a session, whose log is read while it grows, and the view made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dexnb.engine import Run, Session
from dexnb.model.event import Event
from dexnb.model.log_tail import LogTail
from dexnb.model.run_view import apply, new_view


class Followed:
    """A run as a page knows it; for any thread but the session's own, one at a time.

    Args:
        session: Where its store is.
        run: The run.
    """

    def __init__(self, session: Session, run: Run) -> None:
        """Start with nothing read."""
        self._session = session
        self._run = run
        self.run_id = run.run_id
        self.view: dict[str, Any] = new_view()
        self._tail = LogTail()
        self._telemetry_seq = 0

    @property
    def done(self) -> bool:
        """Whether the run has ended, as far as was read."""
        return self.view["closed_at"] is not None

    @property
    def durable_seq(self) -> int:
        """The newest durable event that was read."""
        return self._tail.durable_seq

    def telemetry(self) -> list[Event]:
        """Give what has happened in this engine since what was taken last."""
        return self._session.engine.telemetry.events(self.run_id, self._telemetry_seq)

    def stored(self) -> Sequence[Event]:
        """Give all that the store keeps and was not taken yet, and all telemetry.

        Raises:
            DexnbError: The store cannot be read, or the session is closed.
        """
        return self._run.events(self.durable_seq)

    def take(self, log: Iterable[Event]) -> list[Event]:
        """Fold a reading of the log in; give what of it is new."""
        log = list(log)
        newest = max((event.seq for event in log if not event.durable), default=0)
        self._telemetry_seq = max(self._telemetry_seq, newest)
        new = self._tail.take(log, self.view["steps"])
        for event in new:
            apply(self.view, event)
        return new
