"""`MemoryStore`: what engines in one process share when nothing is to be kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from weakref import WeakSet

from dexnb.clock import Clock
from dexnb.errors import ClockMismatch, DocumentError, LoopBoundError, ProviderError
from dexnb.model.event import Event
from dexnb.model.json_text import from_text, to_text
from dexnb.providers.items import Commit, RunRecord
from dexnb.providers.memory_messages import MessageQueue
from dexnb.providers.memory_stream import Streams, Telemetry
from dexnb.providers.memory_work import Entry, WorkQueue
from dexnb.providers.parking import FetchParking
from dexnb.providers.store_clock import StoreClock, anchor_of, clock_for, readings_for


@dataclass(slots=True)
class StoredRun:
    """A run, its events as texts, as every other store keeps them."""

    number: int
    run_id: str
    flow_id: str
    flow_type: str
    state: str
    status: str
    events: list[str] = field(default_factory=list)

    @property
    def version(self) -> int:
        """Count its events."""
        return len(self.events)

    def record(self) -> RunRecord:
        """Give the run without its history."""
        return RunRecord(
            run_id=self.run_id,
            flow_id=self.flow_id,
            flow_type=self.flow_type,
            status=self.status,
            version=len(self.events),
            state=self.state,
        )


class MemoryStore:
    """Runs, queues, Streams and telemetry in plain containers.

    It belongs to one event loop at a time: the loop of the first provider that opens it. When that
    loop has ended or all have closed it, another loop may take it over, and store time goes on.
    """

    clock: StoreClock

    def __init__(self) -> None:
        """Start empty and without a clock."""
        self.messages = MessageQueue()
        self.work = WorkQueue()
        self.streams = Streams()
        self.telemetry = Telemetry()
        self.parking = FetchParking()
        self.runs: dict[str, StoredRun] = {}
        self._order: list[StoredRun] = []
        self._newest: dict[str, StoredRun] = {}
        self._identity = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._users: WeakSet[object] = WeakSet()
        self._tokens = 0

    def attach(self, user: object, clock: Clock) -> None:
        """Let a provider in.

        Raises:
            ClockMismatch: The store was filled on another clock.
            LoopBoundError: Providers of another running loop use it.
        """
        if self._identity not in ("", clock.identity):
            raise ClockMismatch("memory store", self._identity, clock.identity)
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._users and self._loop is not None and not self._loop.is_closed():
                raise LoopBoundError(
                    "This memory store is open on another event loop; close it there first, or "
                    "give each loop a MemoryStore of its own"
                )
            self._move_to(loop, clock)
        self._users.add(user)

    def detach(self, user: object) -> None:
        """Let a provider go."""
        self._users.discard(user)

    def confine(self) -> None:
        """Refuse to be used from a foreign loop.

        Raises:
            LoopBoundError: The running loop is not the one that opened the store.
        """
        if asyncio.get_running_loop() is not self._loop:
            raise LoopBoundError(
                "This memory store was opened on another event loop; call it from there"
            )

    def new_token(self, owner: str) -> str:
        """Make a lock token that was never used."""
        self._tokens += 1
        return f"{owner}:{self._tokens}"

    def newest(self, flow_id: str) -> StoredRun | None:
        """Give the newest run of a flow id."""
        return self._newest.get(flow_id)

    def newest_first(self, before: str) -> Iterator[StoredRun]:
        """Give all runs made before a run, or simply all."""
        end = len(self._order)
        if before:
            end = self.runs[before].number if before in self.runs else 0
        for number in range(end - 1, -1, -1):
            yield self._order[number]

    def is_open(self, run_id: str) -> bool:
        """Tell whether a run exists and has not ended."""
        run = self.runs.get(run_id)
        return run is not None and run.status == "RUNNING"

    def begin(self, operation: str, commit: Commit) -> None:
        """Add a run and apply its first turn.

        Raises:
            ProviderError: Not retryable when the run exists or the turn does not fit.
        """
        if commit.run_id in self.runs:
            raise ProviderError(operation, f"run {commit.run_id} exists", retryable=False)
        run = StoredRun(
            number=len(self._order),
            run_id=commit.run_id,
            flow_id=commit.flow_id,
            flow_type=commit.flow_type,
            state=commit.state,
            status=commit.status,
        )
        texts = self.check(operation, run, commit)
        self.runs[run.run_id] = self._newest[run.flow_id] = run
        self._order.append(run)
        self.apply(run, commit, texts)

    def fits(self, commit: Commit) -> bool:
        """Tell whether a turn may be applied to its run though nobody holds the run's lock."""
        self.messages.settle(self.clock.now(), self.clock.lease())
        if not self.is_open(commit.run_id) or not self.messages.is_quiet(commit.run_id):
            return False
        return [event.seq for event in commit.events[:1]] == [self.runs[commit.run_id].version + 1]

    def check(
        self, operation: str, run: StoredRun, commit: Commit, beside: Entry | None = None
    ) -> list[str]:
        """Give the texts of a turn's events, before anything is changed.

        Args:
            operation: For errors.
            run: The run.
            commit: The turn.
            beside: A work item that will be gone.

        Raises:
            ProviderError: Not retryable: the events do not go on from the run's version or are no
                JSON, or a Step execution has a work item already.
        """
        version = len(run.events)
        given = [event.seq for event in commit.events]
        if given != list(range(version + 1, version + 1 + len(given))):
            raise ProviderError(
                operation,
                f"run {run.run_id} has {version} events, these are numbered {given}",
                retryable=False,
            )
        seen: set[tuple[str, str]] = set()
        for item in commit.work_items:
            key = (item.run_id, item.step_execution_id)
            if key in seen or self.work.holds(item, beside):
                raise ProviderError(
                    operation,
                    f"run {item.run_id} has a work item for {item.step_execution_id} already",
                    retryable=False,
                )
            seen.add(key)
        try:
            return [to_text(event.to_json()) for event in commit.events]
        except DocumentError as error:
            raise ProviderError(operation, str(error), retryable=False) from error

    def apply(self, run: StoredRun, commit: Commit, texts: list[str]) -> None:
        """Change everything that a checked turn changes, and tell who waits."""
        now = self.clock.now()
        run.events.extend(texts)
        run.state, run.status = commit.state, commit.status
        for item in commit.work_items:
            self.work.put(item, now)
        for step_execution_id in commit.cancelled:
            self.work.cancel(run.run_id, step_execution_id)
        for message in commit.messages:
            self.messages.put(message, now)
        if commit.closes:
            self.work.drop(run.run_id)
            self.messages.drop(run.run_id)
        if commit.work_items:
            self.parking.hint("work")
        if commit.messages:
            self.parking.hint("messages")

    def events(self, run_id: str, after: int) -> tuple[Event, ...]:
        """Read a run's events behind `after`.

        Raises:
            ProviderError: Not retryable when a stored event cannot be decoded.
        """
        run = self.runs.get(run_id)
        texts = [] if run is None else run.events[max(after, 0) :]
        try:
            return tuple(Event.from_json(from_text(text, "event")) for text in texts)
        except DocumentError as error:
            raise ProviderError("read_events", f"run {run_id}: {error}", retryable=False) from error

    def _move_to(self, loop: asyncio.AbstractEventLoop, clock: Clock) -> None:
        if not self._identity:
            self.clock = clock_for(clock)
        elif clock.kind != "real":
            # The host's clocks go on from loop to loop; those of other loops begin anew.
            here = anchor_of(readings_for(clock)())
            self.clock = clock_for(clock, replace(here, wall=self.clock.now()))
        self._loop, self._identity = loop, clock.identity
        self._users.clear()
        self.parking = FetchParking()
