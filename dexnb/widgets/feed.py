"""`Feed`: where a page's content comes from; the widget knows documents and no engine."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dexnb.model.event import Event

Page = dict[str, Any]
"""The whole of what is shown, as plain JSON."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What has happened since the last look.

    Args:
        events: Of the run, in order, to be folded into the page's view.
        engine: Of the engine itself, to be folded into its dispatchers.
        children: Of SubFlows that the page knows, by their run ids, to be folded into their views.
        now: Store time.
        whole: Whether something changed that only a whole page shows.
        running: Whether the run goes on.
        closed: The id of the run, once it has ended; it may have begun since the last look.
    """

    events: Sequence[Event] = ()
    engine: Sequence[Event] = ()
    children: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    now: float = 0.0
    whole: bool = False
    running: bool = False
    closed: str = ""

    @property
    def any(self) -> bool:
        """Tell whether there is anything to send."""
        return bool(self.events or self.engine or self.children or self.whole)


class Feed(Protocol):
    """What a publisher asks, from its own thread."""

    def changes(self) -> Changes:
        """Take what has happened since the last call; never blocks for long."""

    def page(self) -> Page:
        """Give the whole page as of the last `changes`."""

    def command(self, name: str, args: dict[str, Any]) -> concurrent.futures.Future[Any]:
        """Begin a command of the page; called on any thread, must not block.

        A result must be plain JSON; an exception's text is shown beside what was pressed.
        """

    def ended(self) -> None:
        """Learn that the page has been told of the run's end."""
