"""`Provider`: the one contract between the engine and every store.

A store holds runs, their durable events, two queues (messages to runs, attempts of Steps), locks,
Streams and telemetry. It never makes an event, never reads a payload and never decides. Fetch takes
a lock (peek-lock: an item stays until it is acknowledged), so a Step runs at least once and a turn
applies exactly once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dexnb.clock import Clock
from dexnb.errors import LeaseLost
from dexnb.model.event import Event
from dexnb.providers.items import (
    Beat,
    Commit,
    NewMessage,
    NewWorkItem,
    OrchestrationItem,
    QueueDepths,
    RunRecord,
    Started,
    StreamRecord,
    StreamWrite,
    TelemetryChunk,
    WorkItem,
)
from dexnb.providers.store_clock import StoreClock


class Handlers:
    """The Steps that an engine can run now, as `FlowType/StepType`; read anew at every try."""

    def __init__(self, names: Collection[str] = ()) -> None:
        """Start with these names; assign `names` to change the set."""
        self.names = frozenset(names)


@dataclass(frozen=True, slots=True)
class Taker:
    """Takes work that its own turns enqueue, at once and without a fetch.

    Args:
        handlers: The Steps that it can run.
        lock_timeout: Gives the seconds of a lease.
        room: Gives how many items it can take now.
        take: Called on the store's loop with items that were locked for it, behind the commit.
    """

    handlers: Handlers
    lock_timeout: Callable[[], float]
    room: Callable[[], int]
    take: Callable[[Sequence[WorkItem]], None]


class Provider(ABC):
    """A store of durable runs.

    All methods are called on the loop that ran `open`, and concurrently. Whatever changes the store
    is atomic per call. Times are store time (`clock`), never read by the store itself:
    `clock.now()` for when something is due, `clock.lease()` for locks.

    A fetch that finds nothing returns empty: after at most `poll_timeout` for stores that can wait
    for work, at once for those that ignore it, and at once for every store when it is 0. Empty
    means that nothing is eligible now, not that a race was lost. A negative poll timeout is refused
    by an error whose text has `poll_timeout` and the value. A fetch that is cancelled keeps nothing
    locked: what it took is handed back, uncounted.

    Raises (every method):
        ProviderError: `retryable` says whether the same call may succeed later.
        LeaseLost: The token is unknown, expired (though nobody took the item again) or was taken;
            nothing was changed.
    """

    name: ClassVar[str]
    clock: StoreClock

    @abstractmethod
    async def open(self, clock: Clock, owner: str) -> None:
        """Connect, set `clock`, and refuse a store that belongs to another clock.

        Args:
            clock: How time passes for the engine; its identity is kept in the store.
            owner: This engine's unique name, kept with its locks.

        Raises:
            ClockMismatch: The store was written on another clock.
        """

    @abstractmethod
    async def close(self) -> None:
        """Write what is pending and disconnect; a second call does nothing."""

    @abstractmethod
    async def start_run(self, commit: Commit) -> Started:
        """Apply a run's first turn, unless its flow id has an open run already.

        With an open run nothing is written and that run is returned with `created` False.

        Raises:
            ProviderError: Not retryable when the run id is in use, or the events do not begin at 1.
        """

    @abstractmethod
    async def fetch_orchestration_item(
        self, lock_timeout: float, poll_timeout: float
    ) -> OrchestrationItem | None:
        """Lock the run whose visible message is oldest, with all its visible messages.

        Messages that arrive under the lock stay for the next turn; they cannot be fetched until the
        lock ends. Each message's attempt count goes up by one. Messages for a run that does not
        exist, or is closed, are dropped.
        """

    @abstractmethod
    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """Apply a turn: append the events, replace the state, delete just the fetched messages.

        Raises:
            ProviderError: Not retryable when an event's `seq` does not go on from the run's
                version, the turn is another run's, or a Step execution that it enqueues has a work
                item already; nothing is changed and the lock stays then.
        """

    @abstractmethod
    async def abandon_orchestration_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """Give the run back: its fetched messages are visible again after `delay` seconds.

        Args:
            token: The lock token.
            delay: Seconds; only the fetched messages are delayed.
            ignore_attempt: Take back one attempt count of each, never below zero.
        """

    @abstractmethod
    async def renew_orchestration_item_lock(self, token: str, extend_for: float) -> None:
        """Hold a live lock for `extend_for` seconds from now."""

    @abstractmethod
    async def fetch_work_item(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers
    ) -> WorkItem | None:
        """Lock the oldest free and visible work item that one of the handlers runs."""

    @abstractmethod
    async def ack_work_item(
        self,
        token: str,
        message: NewMessage | None = None,
        retry: NewWorkItem | None = None,
        *,
        durable: bool = True,
    ) -> None:
        """Delete the item, and in the same transaction send the message or enqueue the retry.

        Args:
            token: The lock token.
            message: What the run is told.
            retry: The next attempt.
            durable: Whether to wait until the disk has it, where the store can tell the difference:
                without it a power cut may bring the item back.
        """

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """Delete the item and apply the turn that its message leads to, in one transaction.

        The turn is applied if its run is open and not locked, its events go on from the run's
        version, and no visible message waits for the run. Otherwise the message is sent, as by
        `ack_work_item`; this default always does so. Stores that can spare the turn of its own
        override it.

        Args:
            token: The lock token.
            message: What the run is told, if not by the turn.
            turn: The turn of that message; it has events.
            durable: As for `ack_work_item`; a turn that closes the run waits for the disk anyhow.

        Returns:
            Whether the turn was applied.
        """
        await self.ack_work_item(token, message, durable=durable)
        return False

    @abstractmethod
    async def abandon_work_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """Give the item back, visible after `delay` seconds, its checkpoint kept.

        Args:
            token: The lock token.
            delay: Seconds.
            ignore_attempt: This delivery does not count as an attempt.
        """

    @abstractmethod
    async def renew_work_item_lock(self, token: str, extend_for: float) -> None:
        """Hold a live lock for `extend_for` seconds from now; its failure is the cancel signal."""

    @abstractmethod
    async def record_beats(self, beats: Sequence[Beat]) -> frozenset[str]:
        """Store checkpoints; give the tokens that are not live (their beats are not stored)."""

    @abstractmethod
    async def enqueue_for_orchestrator(self, message: NewMessage) -> None:
        """Send a message to a run; never creates one."""

    @abstractmethod
    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """Append Stream messages, best effort; tell for each whether it was kept.

        Refused: a message whose token is not live, one over 100 KiB, one over the Stream's own
        budget. When a Stream (flow type and name, all runs together) passes 90 % of its budget,
        oldest messages are trimmed down to 80 %, the newest never; each message counts 512 bytes
        more than its text.
        """

    @abstractmethod
    async def read_stream(
        self, flow_type: str, stream: str, *, flow_id: str = "", after: int = 0, limit: int = 1000
    ) -> tuple[StreamRecord, ...]:
        """Read kept messages in order, behind position `after`; of one flow id, or of all."""

    @abstractmethod
    async def append_telemetry(self, chunks: Sequence[TelemetryChunk]) -> None:
        """Keep chunks of runs' telemetry: at most 512 kB per run, oldest first out."""

    @abstractmethod
    async def read_telemetry(self, run_id: str) -> tuple[TelemetryChunk, ...]:
        """Give the kept chunks of a run in order."""

    @abstractmethod
    async def read_run(self, *, run_id: str = "", flow_id: str = "") -> RunRecord | None:
        """Give one run by its id, or the newest run of a flow id."""

    @abstractmethod
    async def list_runs(
        self, *, status: str = "", limit: int = 100, before: str = ""
    ) -> tuple[RunRecord, ...]:
        """Give runs, newest first, of one status or all.

        Args:
            status: The status, or empty for all.
            limit: How many at most.
            before: The run id to go on behind, or empty; behind an unknown one there are none.
        """

    @abstractmethod
    async def read_events(self, run_id: str, after: int = 0) -> tuple[Event, ...]:
        """Give a run's durable events behind `seq` `after`, in order.

        Raises:
            ProviderError: Not retryable when a stored event cannot be decoded; the text names the
                run.
        """

    @abstractmethod
    async def queue_depths(self) -> QueueDepths:
        """Count what waits in both queues."""

    async def fetch_work_items(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers, limit: int
    ) -> Sequence[WorkItem]:
        """Fetch up to `limit` items at once; stores with batches override this."""
        item = await self.fetch_work_item(lock_timeout, poll_timeout, handlers)
        return () if item is None else (item,)

    async def fetch_orchestration_items(
        self, lock_timeout: float, poll_timeout: float, limit: int
    ) -> Sequence[OrchestrationItem]:
        """Fetch up to `limit` runs at once; stores with batches override this."""
        item = await self.fetch_orchestration_item(lock_timeout, poll_timeout)
        return () if item is None else (item,)

    async def renew_work_item_locks(
        self, tokens: Sequence[str], extend_for: float
    ) -> frozenset[str]:
        """Renew many locks; give the tokens that are not live any more."""
        lost = set()
        for token in tokens:
            try:
                await self.renew_work_item_lock(token, extend_for)
            except LeaseLost:
                lost.add(token)
        return frozenset(lost)

    def hand_over(self, taker: Taker | None) -> None:  # noqa: B027  most stores are fetched from
        """Let a turn's commit lock the work that it enqueues for this engine, which spares a fetch.

        A store may do so while a fetch of work is parked, which means that nothing older waits, and
        no other engine uses it, which would have its share. What it locks is like fetched: first
        delivered now, in its attempt 1, under a lease. With None it stops, and what is locked but
        not yet handed over goes back uncounted.
        """

    def wake(self) -> None:  # noqa: B027  a store that never parks has nothing to do
        """End parked fetches after one more try; called when handlers or options change."""

    async def watch(self) -> bool:
        """Look for what other processes did; tell whether anything changed.

        The engine calls it every 500 ms of real time. A store may wake parked fetches here, and
        take over the locks of owners that are known to be dead.
        """
        return False
