"""A page, and what stands in for a feed and for a widget's comm."""

from __future__ import annotations

import concurrent.futures
from typing import Any

from dexnb.model.dispatcher_view import new_dispatcher_view
from dexnb.model.event import Event
from dexnb.model.run_view import new_view, view_of
from dexnb.widgets.feed import Changes, Page


def event(seq: int, kind: Any, time: float, step: str = "Poll-1", /, **payload: Any) -> Event:
    """Make an event of the run under test."""
    return Event(seq, "flow", "run", time, time, kind, step, 1, payload)


def started(*more: Event) -> list[Event]:
    """Give a run's log up to its first attempt, and more."""
    limits: dict[str, Any] = {
        "execute_method_timeout": 600.0,
        "heartbeat_timeout": 60.0,
        "maximum_attempts": 3,
        "total_duration": 600.0,
    }
    return [
        event(1, "flow_started", 0.0, "", flow_type="Flow", input=None, overrides={}),
        event(
            2,
            "step_scheduled",
            0.0,
            step_type="Poll",
            input=None,
            options=None,
            from_step_execution_id="",
            recovery_error=None,
        ),
        event(
            1, "attempt_started", 0.0, deliveries=1, first_attempt_at=0.0, checkpoint=None, **limits
        ),
        *more,
    ]


def page(view: dict[str, Any] | None = None) -> Page:
    """Make a page around a view."""
    return {
        "title": "Flow",
        "graph": {},
        "view": view or new_view(),
        "dispatcher": new_dispatcher_view(),
        "knobs": [],
        "now": 1.0,
        "wall_offset": 0.0,
        "margin": 10.0,
        "settings": {},
        "runtime": {},
        "actions": {},
    }


class FakeFeed:
    """A feed whose changes are put in by the test."""

    def __init__(self, events: list[Event] | None = None) -> None:
        """Start with these events in the view."""
        self.now = Changes(now=1.0, running=True)
        self.view = view_of(events or started())
        self.commands: list[tuple[str, dict[str, Any]]] = []
        self.futures: list[concurrent.futures.Future[Any]] = []
        self.ends = 0
        self.failure: Exception | None = None

    def put(self, *events: Event, whole: bool = False, running: bool = True) -> None:
        """Let this be the next change."""
        closed = "" if running else "run"
        self.now = Changes(events, (), {}, 1.0, whole, running, closed)

    def changes(self) -> Changes:
        """Give the change once."""
        if self.failure is not None:
            raise self.failure
        found = self.now
        self.now = Changes(now=1.0, running=found.running, closed=found.closed)
        return found

    def page(self) -> Page:
        """Give a page."""
        return page(self.view)

    def command(self, name: str, args: dict[str, Any]) -> concurrent.futures.Future[Any]:
        """Note a command; the test ends it."""
        self.commands.append((name, args))
        self.futures.append(concurrent.futures.Future())
        return self.futures[-1]

    def ended(self) -> None:
        """Count."""
        self.ends += 1


class FakeWidget:
    """A widget that keeps what it is to send."""

    def __init__(self) -> None:
        """Start with an open comm."""
        self.sent: list[dict[str, Any]] = []
        self.closed = False
        self.comm: Any = None

    def send(self, content: dict[str, Any]) -> None:
        """Keep a message, or fail as a closed comm does."""
        if self.closed:
            message = "comm is closed"
            raise RuntimeError(message)
        self.sent.append(content)

    def kinds(self) -> list[str]:
        """Give the kinds of what was sent."""
        return [content["kind"] for content in self.sent]
