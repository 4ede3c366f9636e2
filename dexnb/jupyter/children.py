"""`Children`: the SubFlows of a run that its page shows, and theirs, bounded in number."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from dexnb.clock import monotonic
from dexnb.engine import Run, Session
from dexnb.engine.run import AsyncRun
from dexnb.errors import DexnbError, ProviderError
from dexnb.jupyter.followed import Followed
from dexnb.model.event import Event

MOST_CHILDREN = 24
"""SubFlows whose own events are followed; of the others a page tells what their parent knows."""

MOST_OF_GENERATION = 16
"""So that many children leave room for those of a child."""

DEEPEST = 3
"""Generations below the run of the page."""

MOST_NEW = 6
"""Logs that are read from their begin in one go; the others come with the next ones."""

PAUSE_SECONDS = 0.25
"""Least time between two looks at what the store has of a child that says nothing itself."""

View = dict[str, Any]


class Children:
    """Follows the SubFlows of one run; for the thread of its feed.

    Those that run come first, and of these the ones that are followed already; then the newest of
    those that have ended.

    Args:
        session: Where all of them are.
    """

    def __init__(self, session: Session) -> None:
        """Follow none."""
        self._session = session
        self._followed: dict[str, Followed] = {}
        self._looked: dict[str, float] = {}
        self._turn = 0
        self.more = False
        """Whether there are some that are to be followed and are not yet."""

    @property
    def views(self) -> dict[str, View]:
        """What is known of each, by its run id."""
        return {run_id: child.view for run_id, child in self._followed.items()}

    @property
    def waits_for_code(self) -> dict[str, str]:
        """Why each that no code of this process can run stands still, by its run id."""
        registry = self._session.engine.registry
        return {
            run_id: f"no Flow named {view['flow_type']} is registered in this process"
            for run_id, view in self.views.items()
            if view["status"] == "RUNNING" and registry.get(view["flow_type"]) is None
        }

    def choose(self, view: View, *, all_new: bool = False) -> bool:
        """Follow those that count now; tell whether they are others than before.

        Args:
            view: Of the run of the page.
            all_new: Read every log that is new, however long that takes.
        """
        changed = False
        left = MOST_CHILDREN if all_new else MOST_NEW
        for _ in range(DEEPEST):
            chosen = self._chosen(view)
            gone = [run_id for run_id in self._followed if run_id not in chosen]
            new = [run_id for run_id in chosen if run_id not in self._followed]
            for run_id in gone:
                del self._followed[run_id]
                self._looked.pop(run_id, None)
            for run_id in new[:left]:
                self._begin(run_id, chosen[run_id])
            changed = changed or bool(gone or new[:left])
            left -= len(new[:left])
            if not new or not left:
                break
        self.more = left == 0
        return changed

    def read(self, *, look: bool, committed: bool) -> Iterator[tuple[str, list[Event]]]:
        """Fold in what is new of each; give it by run id.

        Args:
            look: Ask the store for all; another process may run them.
            committed: The engine has written since the last call.
        """
        mine = {run_id: child.telemetry() for run_id, child in self._followed.items()}
        due = [] if not (look or committed) else self._due(mine, look=look)
        durable = self._session.call(self._durable(due)) if due else {}
        if look:
            durable |= self._one_whole(mine)
        for run_id, child in self._followed.items():
            if new := child.take([*durable.get(run_id, ()), *mine[run_id]]):
                yield run_id, new

    def _chosen(self, view: View) -> dict[str, str]:
        """Give the flow ids of those to follow by their run ids, parents before their children."""
        chosen: dict[str, str] = {}
        parents = [view]
        for _ in range(DEEPEST):
            found = {run_id: each for parent in parents for run_id, each in _subflows(parent)}
            wanted = sorted(found, key=lambda run_id: self._rank(run_id, found[run_id][1]))
            room = min(MOST_OF_GENERATION, MOST_CHILDREN - len(chosen))
            level = [each for each in wanted if each not in chosen][:room]
            chosen |= {run_id: found[run_id][0] for run_id in level}
            parents = [self._followed[each].view for each in level if each in self._followed]
        return chosen

    def _rank(self, run_id: str, told: View) -> tuple[int, float]:
        if told["status"] == "RUNNING":
            return (0 if run_id in self._followed else 1), told["began_at"]
        return 2, -told["changed_at"]

    def _begin(self, run_id: str, flow_id: str) -> None:
        run = Run(self._session, AsyncRun(self._session.engine, flow_id, run_id, ""))
        child = self._followed[run_id] = Followed(self._session, run)
        # Of one that cannot be read, what its parent knows is shown.
        with contextlib.suppress(DexnbError):
            child.take(child.stored())

    def _due(self, mine: dict[str, list[Event]], *, look: bool) -> list[Followed]:
        now = monotonic()
        due = [
            child
            for run_id, child in self._followed.items()
            if not child.done
            and (look or mine[run_id] or now - self._looked.get(run_id, -1e9) >= PAUSE_SECONDS)
        ]
        self._looked |= {child.run_id: now for child in due}
        return due

    async def _durable(self, due: Sequence[Followed]) -> dict[str, Sequence[Event]]:
        provider = self._session.engine.provider
        found: dict[str, Sequence[Event]] = {}
        for child in due:
            with contextlib.suppress(ProviderError):
                found[child.run_id] = await provider.read_events(child.run_id, child.durable_seq)
        return found

    def _one_whole(self, mine: dict[str, list[Event]]) -> dict[str, Sequence[Event]]:
        """Read one log with the telemetry that another process has written, each time another."""
        silent = [
            child for run_id, child in self._followed.items() if not (child.done or mine[run_id])
        ]
        if not silent:
            return {}
        self._turn += 1
        child = silent[self._turn % len(silent)]
        with contextlib.suppress(DexnbError):
            return {child.run_id: child.stored()}
        return {}


def _subflows(view: View) -> Iterator[tuple[str, tuple[str, View]]]:
    """Give each SubFlow that a run has been told of: its run id, its flow id and that."""
    for step in view["steps"].values():
        for flow_id, told in step["subflows"].items():
            if told["run_id"]:
                yield told["run_id"], (flow_id, told)
