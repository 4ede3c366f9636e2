"""`Publisher`: tells the pages of one widget what happens, from a thread of its own.

On real time, whatever clock the run is on: batches at most 16 times a second, a whole page when a
view is mounted or has missed something, at least once a second while anything changes, and at the
end. Nothing is sent when nothing changed. What many events would cost more than `BYTES_PER_SECOND`
is sent as a whole page instead.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import Any

from dexnb.clock import monotonic
from dexnb.model.json_text import to_text
from dexnb.widgets.feed import Changes, Feed
from dexnb.widgets.replies import Replies, Reply
from dexnb.widgets.routing import Route
from dexnb.widgets.wire import bounded_page, documents

BATCH_SECONDS = 0.0625
REST_SECONDS = 0.02
"""Between two looks at the least, however long the first took: the kernel has other work."""

WHOLE_SECONDS = 1.0
LEAST_SECONDS = 0.25
"""Least time between two whole pages where only whole pages keep up."""

IDLE_SECONDS = 1.0
"""How often a run that nobody looks at, or that has ended, is looked at."""

BYTES_PER_SECOND = 160_000
LARGEST_BATCH = 40_000


class Publisher:
    """Publishes one feed to one widget.

    Args:
        widget: An ipywidgets widget whose comm is open.
        feed: Where the content comes from.
        closed: The run whose end the page knows already.
    """

    def __init__(self, widget: Any, feed: Feed, closed: str = "") -> None:
        """Prepare; `start` starts."""
        self.route = Route(widget)
        self._feed = feed
        self._answers: deque[Reply] = deque()
        self._replies = Replies(feed.command, self._answer)
        self._wake = threading.Event()
        self._closed = False
        self._viewed = False
        self._wanted = False
        self._running = False
        self._known_closed = closed
        self._missed = False
        self._rest = WHOLE_SECONDS
        self._seq = 0
        self._credit = float(BYTES_PER_SECOND)
        self._looked = self._whole_sent = -1e9
        self.error = ""

    def start(self) -> None:
        """Start the thread; it is a daemon and ends with `close`."""
        # A widget that is forgotten must not be kept alive by its thread.
        arguments = (weakref.ref(self), self._wake)
        threading.Thread(target=_serve, args=arguments, name="dexnb-publisher", daemon=True).start()

    def receive(self, content: Any) -> None:
        """Take what a page says; on any thread of the kernel, with or without a loop."""
        self.route.heard()
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind in ("ready", "resync"):
            self._viewed = self._wanted = True
        elif kind == "command":
            self._viewed = True
            self._replies.take(content)
        else:
            return
        self._wake.set()

    def poke(self) -> None:
        """Look at the feed soon: something has begun."""
        self._wake.set()

    def close(self) -> None:
        """End the thread."""
        self._closed = True
        self._wake.set()

    def _answer(self, reply: Reply) -> None:
        self._answers.append(reply)
        self._wanted = True
        self._wake.set()

    def step(self) -> float | None:
        """Do what is due; give the seconds to sleep, or None at the end. For the thread alone."""
        if self._closed:
            return None
        while self._answers:
            self.route.send(self._answers.popleft())
        early = BATCH_SECONDS - (monotonic() - self._looked)
        if early > 0:
            return early
        try:
            self._publish()
            self.error = ""
        except Exception as error:  # noqa: BLE001 - a store that is busy or closed is asked again
            self.error = f"{type(error).__name__}: {error}"
        if self._viewed and self._running:
            return max(REST_SECONDS, BATCH_SECONDS - (monotonic() - self._looked))
        return IDLE_SECONDS

    def _publish(self) -> None:
        now = monotonic()
        self._credit = min(BYTES_PER_SECOND, self._credit + (now - self._looked) * BYTES_PER_SECOND)
        self._looked = now
        changes = self._feed.changes()
        ended = changes.closed not in ("", self._known_closed)
        self._running = changes.running
        if self._viewed:
            self._tell(changes, now, ended=ended)
        if ended:
            self._known_closed = changes.closed
            self._feed.ended()

    def _tell(self, changes: Changes, now: float, *, ended: bool) -> None:
        since = now - self._whole_sent
        stale = (changes.any and since >= WHOLE_SECONDS) or (self._missed and since >= self._rest)
        if self._wanted or ended or changes.whole or stale:
            self._send_whole(now)
        elif changes.any:
            self._send_batch(changes)

    def _send_whole(self, now: float) -> None:
        self._wanted = False
        page, size = bounded_page(self._feed.page())
        self._send({"kind": "snapshot", "page": page}, size)
        self._missed = False
        self._whole_sent = now
        # After a large page there is no credit for another one so soon.
        self._rest = min(max(LEAST_SECONDS, size / BYTES_PER_SECOND), WHOLE_SECONDS)

    def _send_batch(self, changes: Changes) -> None:
        batch: dict[str, Any] = {
            "kind": "batch",
            "now": changes.now,
            "events": documents(changes.events),
            "engine": documents(changes.engine),
        }
        if changes.children:
            told = changes.children.items()
            batch["children"] = {run_id: documents(events) for run_id, events in told}
        size = len(to_text(batch))
        if self._missed or size > LARGEST_BATCH or size > self._credit:
            # The next whole page has its effect.
            self._missed = True
            return
        self._send(batch, size)

    def _send(self, content: dict[str, Any], size: int) -> None:
        self._credit -= size
        self._seq += 1
        if not self.route.send({**content, "seq": self._seq}):
            self._missed = True


def _serve(reference: weakref.ref[Publisher], wake: threading.Event) -> None:
    pause: float | None = 0.0
    while pause is not None:
        wake.wait(pause)
        wake.clear()
        publisher = reference()
        if publisher is None:
            return
        pause = publisher.step()
        del publisher
