"""`SessionFeed`: a page's content, read from a session while its engine works."""

from __future__ import annotations

import concurrent.futures
import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dexnb.clock import monotonic, wall
from dexnb.engine import Run
from dexnb.jupyter.children import Children
from dexnb.jupyter.followed import Followed
from dexnb.model.dispatcher_view import apply_dispatcher, new_dispatcher_view
from dexnb.model.event import Event
from dexnb.model.json_text import to_text
from dexnb.model.run_view import new_view
from dexnb.widgets.feed import Changes, Page

if TYPE_CHECKING:
    from dexnb.jupyter.lab import Lab

MOST_WAITING = 5000
"""Events kept for a publisher that does not come; it gets a whole page then."""

LOOK_SECONDS = 1.0
"""How often the store is asked though nothing has happened in this engine: another may run it."""


class SessionFeed:
    """What a Lab's page shows; a `Feed` for the publisher.

    Args:
        lab: Whose run is followed.
        carry: Begins a command of the page.
        ended: Called on the publisher's thread when the page has been told of the run's end.
    """

    def __init__(
        self,
        lab: Lab,
        carry: Callable[[str, dict[str, Any]], concurrent.futures.Future[Any]],
        ended: Callable[[], None],
    ) -> None:
        """Start with an empty view."""
        self._lab = lab
        self._carry = carry
        self._ended = ended
        self._lock = threading.RLock()
        self._follow(None)
        self._whole = True

    def changes(self) -> Changes:
        """Take what has happened since the last call."""
        with self._lock:
            self._read()
            events, engine, children = self._waiting, self._engine_waiting, self._child_waiting
            self._wait_for_none()
            whole, self._whole = self._whole, False
            closed = self.closed_run
            return Changes(events, engine, children, self._now(), whole, self.running, closed)

    def page(self) -> Page:
        """Give the whole page as of the last `changes`."""
        self._lab.look()
        return self._page()

    def _page(self) -> Page:
        with self._lock:
            return {
                **self._lab.page_frame(),
                "view": self._view,
                "children": self._children.views,
                "waits_for_code": self._children.waits_for_code if self._open else {},
                "dispatcher": self._dispatcher,
            }

    def command(self, name: str, args: dict[str, Any]) -> concurrent.futures.Future[Any]:
        """Begin a command of the page."""
        return self._carry(name, args)

    def ended(self) -> None:
        """Learn that the page has been told of the run's end."""
        self._ended()

    def touch(self) -> None:
        """Say that something changed that only a whole page shows."""
        self._whole = True

    def view(self) -> dict[str, Any]:
        """Give a copy of the run's view as of now."""
        with self._lock:
            self._read(look=True)
            copy: dict[str, Any] = json.loads(to_text(self._view))
            return copy

    def snapshot(self) -> Page:
        """Give a copy of the whole page as of now."""
        with self._lock:
            self._read(look=True)
            copy: Page = json.loads(to_text(self._page()))
            return copy

    @property
    def running(self) -> bool:
        """Whether the run goes on, as far as the page knows."""
        return bool(self._view["status"] == "RUNNING")

    @property
    def closed_run(self) -> str:
        """The run's id once it has ended."""
        return self._view["run_id"] if self._main is not None and self._main.done else ""

    @property
    def overrides(self) -> dict[str, Any]:
        """The knob values of the run that is followed."""
        return dict(self._view["overrides"])

    def times(self) -> dict[str, float]:
        """Give the page's clock: store time, and what makes wall time of it."""
        now = self._now()
        real = self._session.clock.kind == "real"
        return {"now": now, "wall_offset": wall() - now if real else self._view["wall_offset"]}

    @property
    def _view(self) -> dict[str, Any]:
        return self._nothing if self._main is None else self._main.view

    def _follow(self, run: Run | None) -> None:
        self._session = self._lab.session
        self._run_id = _id(run)
        self._main = None if run is None else Followed(self._session, run)
        self._nothing = new_view()
        self._children = Children(self._session)
        self._dispatcher = new_dispatcher_view()
        self._engine_seq = 0
        self._seen = (-1, -1)
        self._looked = -LOOK_SECONDS
        self._open = True
        self._wait_for_none()

    def _wait_for_none(self) -> None:
        self._waiting: list[Event] = []
        self._engine_waiting: list[Event] = []
        self._child_waiting: dict[str, list[Event]] = {}

    def _read(self, *, look: bool = False) -> None:
        """Fold in what is new; on any thread but the session's own.

        `look` asks the store even if nothing is known to have happened.
        """
        lab = self._lab
        if lab.session is not self._session or _id(lab.run) != self._run_id:
            self._follow(lab.run)
            self._whole = True
        if self._session.is_open != self._open:
            self._open, self._whole = self._session.is_open, True
        if not self._open:
            return
        engine, now = self._session.engine, monotonic()
        seen, before = (engine.telemetry.recorded, engine.counts.commits), self._seen
        all_new, look = look, look or now - self._looked >= LOOK_SECONDS
        if seen == before and not look and not self._children.more:
            return
        # The turn that ends a run comes behind the last word of its attempt.
        self._seen, committed = seen, seen[1] != before[1]
        self._read_engine(engine.telemetry.events("", self._engine_seq))
        if self._main is not None:
            self._read_run(self._main, first=before[0] < 0, look=look, committed=committed)
            self._read_children(look=look, committed=committed, all_new=all_new)
        if look:
            self._looked = now
        if self._count_waiting() > MOST_WAITING:
            self._wait_for_none()
            self._whole = True

    def _count_waiting(self) -> int:
        children = sum(map(len, self._child_waiting.values()))
        return len(self._waiting) + len(self._engine_waiting) + children

    def _read_engine(self, events: list[Event]) -> None:
        for event in events:
            apply_dispatcher(self._dispatcher, event)
            self._engine_seq = event.seq
            if event.kind == "dispatcher_cycle":
                self._engine_waiting.append(event)

    def _read_run(self, run: Followed, *, first: bool, look: bool, committed: bool) -> None:
        mine = run.telemetry()
        log: Sequence[Event]
        if first or (look and not mine and not run.done):
            # The store tells what an engine before this one, or in another process, has done.
            log = run.stored()
        elif mine or look or committed:
            log = [*self._durable(run), *mine]
        else:
            return
        self._waiting += run.take(log)

    def _read_children(self, *, look: bool, committed: bool, all_new: bool) -> None:
        for run_id, new in self._children.read(look=look, committed=committed):
            self._child_waiting.setdefault(run_id, []).extend(new)
        if self._children.choose(self._view, all_new=all_new):
            # Logs that are read from their begin go out with a whole page.
            self._whole = True

    def _durable(self, run: Followed) -> Sequence[Event]:
        if run.done:
            return []
        provider = self._session.engine.provider
        return self._session.call(provider.read_events(run.run_id, run.durable_seq))

    def _now(self) -> float:
        return self._session.now() if self._session.is_open else float(self._view["time"])


def _id(run: Run | None) -> str:
    return "" if run is None else run.run_id
