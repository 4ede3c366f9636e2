"""`MemoryProvider`: the exact contract without a file, for tests, tutorials and simulations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import ClassVar

from dexnb.clock import Clock
from dexnb.errors import ProviderError
from dexnb.model.event import Event
from dexnb.providers.base import Handlers, Provider
from dexnb.providers.items import (
    Beat,
    Commit,
    NewMessage,
    NewWorkItem,
    OrchestrationItem,
    QueueDepths,
    QueuedMessage,
    RunRecord,
    Started,
    StreamRecord,
    StreamWrite,
    TelemetryChunk,
    WorkItem,
)
from dexnb.providers.memory_lease import Lease
from dexnb.providers.memory_messages import Mailbox
from dexnb.providers.memory_store import MemoryStore


class MemoryProvider(Provider):
    """One engine's way to a `MemoryStore`; several engines of a process may share a store.

    No method is ever suspended, but a fetch that waits for work: what one does is done before
    anybody else sees the store.
    """

    name: ClassVar[str] = "memory"

    def __init__(self, store: MemoryStore | None = None) -> None:
        """Use this store, or one of its own."""
        self.store = MemoryStore() if store is None else store
        self._owner = ""
        self._open = False

    async def open(self, clock: Clock, owner: str) -> None:
        """Join the store; see `Provider.open`.

        Raises:
            ClockMismatch: The store was filled on another clock.
            LoopBoundError: The store is in use on another event loop.
        """
        if self._open:
            raise ProviderError("open", f"it is open already, by {self._owner}", retryable=False)
        self.store.attach(self, clock)
        self.clock = self.store.clock
        self._owner = owner
        self._open = True

    async def close(self) -> None:
        """Leave the store, which keeps everything; parked fetches return empty."""
        if self._open:
            self._open = False
            self.store.detach(self)
            self.store.parking.wake()

    async def start_run(self, commit: Commit) -> Started:
        """See `Provider.start_run`."""
        store = self._opened("start_run")
        newest = store.newest(commit.flow_id)
        if newest is not None and store.is_open(newest.run_id):
            return Started(newest.run_id, created=False)
        store.begin("start_run", commit)
        return Started(commit.run_id, created=True)

    async def fetch_orchestration_item(
        self, lock_timeout: float, poll_timeout: float
    ) -> OrchestrationItem | None:
        """See `Provider.fetch_orchestration_item`."""
        items = await self.fetch_orchestration_items(lock_timeout, poll_timeout, 1)
        return items[0] if items else None

    async def fetch_orchestration_items(
        self, lock_timeout: float, poll_timeout: float, limit: int
    ) -> Sequence[OrchestrationItem]:
        """See `Provider.fetch_orchestration_items`."""
        store = self._opened("fetch_orchestration_item")

        async def attempt() -> tuple[Sequence[OrchestrationItem], float | None]:
            """Take what is free now, and say when more will be."""
            return self._take_runs(lock_timeout, limit)

        return await store.parking.fetch("messages", attempt, poll_timeout, self.clock.now)

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """See `Provider.ack_orchestration_item`."""
        operation = "ack_orchestration_item"
        store = self._opened(operation)
        lease = store.messages.tokens.live(operation, token, self.clock.lease())
        run_id = lease.held.run_id
        if commit.run_id != run_id:
            raise ProviderError(
                operation,
                f"lock token {token} is for run {run_id}, not for {commit.run_id}",
                retryable=False,
            )
        texts = store.check(operation, store.runs[run_id], commit)
        store.messages.ack(lease)
        store.apply(store.runs[run_id], commit, texts)
        # What has come under the lock can be fetched now.
        store.parking.hint("messages")

    async def abandon_orchestration_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """See `Provider.abandon_orchestration_item`."""
        operation = "abandon_orchestration_item"
        store, now = self._opened(operation), self.clock.now()
        lease = store.messages.tokens.live(operation, token, self.clock.lease())
        store.messages.abandon(lease, now + delay, now, ignore_attempt=ignore_attempt)
        store.parking.hint("messages")

    async def renew_orchestration_item_lock(self, token: str, extend_for: float) -> None:
        """See `Provider.renew_orchestration_item_lock`."""
        operation = "renew_orchestration_item_lock"
        store, now = self._opened(operation), self.clock.lease()
        store.messages.renew(store.messages.tokens.live(operation, token, now), now + extend_for)

    async def fetch_work_item(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers
    ) -> WorkItem | None:
        """See `Provider.fetch_work_item`."""
        items = await self.fetch_work_items(lock_timeout, poll_timeout, handlers, 1)
        return items[0] if items else None

    async def fetch_work_items(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers, limit: int
    ) -> Sequence[WorkItem]:
        """See `Provider.fetch_work_items`."""
        store = self._opened("fetch_work_item")

        async def attempt() -> tuple[Sequence[WorkItem], float | None]:
            """Take what is free now, and say when more will be."""
            return self._take_work(lock_timeout, handlers, limit)

        return await store.parking.fetch("work", attempt, poll_timeout, self.clock.now)

    async def ack_work_item(
        self,
        token: str,
        message: NewMessage | None = None,
        retry: NewWorkItem | None = None,
        *,
        durable: bool = True,
    ) -> None:
        """See `Provider.ack_work_item`."""
        operation = "ack_work_item"
        store, now = self._opened(operation), self.clock.now()
        entry = store.work.tokens.live(operation, token, self.clock.lease()).held
        if retry is not None and store.work.holds(retry, beside=entry):
            raise ProviderError(
                operation,
                f"run {retry.run_id} has a work item for {retry.step_execution_id} already",
                retryable=False,
            )
        store.work.remove(entry)
        if retry is not None:
            store.work.put(retry, now)
            store.parking.hint("work")
        if message is not None:
            store.messages.put(message, now)
            store.parking.hint("messages")

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """See `Provider.ack_work_item_with_turn`."""
        operation = "ack_work_item_with_turn"
        store = self._opened(operation)
        entry = store.work.tokens.live(operation, token, self.clock.lease()).held
        if not store.fits(turn):
            await self.ack_work_item(token, message, durable=durable)
            return False
        run = store.runs[turn.run_id]
        texts = store.check(operation, run, turn, beside=entry)
        store.work.remove(entry)
        store.apply(run, turn, texts)
        return True

    async def abandon_work_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """See `Provider.abandon_work_item`."""
        operation = "abandon_work_item"
        store, now = self._opened(operation), self.clock.now()
        lease = store.work.tokens.live(operation, token, self.clock.lease())
        store.work.abandon(lease, now + delay, now, ignore_attempt=ignore_attempt)
        store.parking.hint("work")

    async def renew_work_item_lock(self, token: str, extend_for: float) -> None:
        """See `Provider.renew_work_item_lock`."""
        operation = "renew_work_item_lock"
        store, now = self._opened(operation), self.clock.lease()
        store.work.renew(store.work.tokens.live(operation, token, now), now + extend_for)

    async def record_beats(self, beats: Sequence[Beat]) -> frozenset[str]:
        """See `Provider.record_beats`."""
        store, now = self._opened("record_beats"), self.clock.lease()
        lost = set()
        for beat in beats:
            lease = store.work.tokens.find(beat.token, now)
            if lease is None:
                lost.add(beat.token)
            else:
                lease.held.record(beat.checkpoint)
        return frozenset(lost)

    async def enqueue_for_orchestrator(self, message: NewMessage) -> None:
        """See `Provider.enqueue_for_orchestrator`."""
        store = self._opened("enqueue_for_orchestrator")
        store.messages.put(message, self.clock.now())
        store.parking.hint("messages")

    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """See `Provider.write_stream`."""
        store, now = self._opened("write_stream"), self.clock.lease()
        return tuple(
            (write.token is None or store.work.tokens.find(write.token, now) is not None)
            and store.streams.write(write)
            for write in writes
        )

    async def read_stream(
        self, flow_type: str, stream: str, *, flow_id: str = "", after: int = 0, limit: int = 1000
    ) -> tuple[StreamRecord, ...]:
        """See `Provider.read_stream`."""
        store = self._opened("read_stream")
        return store.streams.read(flow_type, stream, flow_id, after, limit)

    async def append_telemetry(self, chunks: Sequence[TelemetryChunk]) -> None:
        """See `Provider.append_telemetry`."""
        self._opened("append_telemetry").telemetry.append(chunks)

    async def read_telemetry(self, run_id: str) -> tuple[TelemetryChunk, ...]:
        """See `Provider.read_telemetry`."""
        return self._opened("read_telemetry").telemetry.read(run_id)

    async def read_run(self, *, run_id: str = "", flow_id: str = "") -> RunRecord | None:
        """See `Provider.read_run`."""
        store = self._opened("read_run")
        run = store.runs.get(run_id) if run_id else store.newest(flow_id)
        return None if run is None else run.record()

    async def list_runs(
        self, *, status: str = "", limit: int = 100, before: str = ""
    ) -> tuple[RunRecord, ...]:
        """See `Provider.list_runs`."""
        runs = self._opened("list_runs").newest_first(before)
        found = (run.record() for run in runs if status in ("", run.status))
        return tuple(islice(found, limit))

    async def read_events(self, run_id: str, after: int = 0) -> tuple[Event, ...]:
        """See `Provider.read_events`."""
        return self._opened("read_events").events(run_id, after)

    async def queue_depths(self) -> QueueDepths:
        """See `Provider.queue_depths`."""
        store = self._opened("queue_depths")
        store.work.settle(None, self.clock.now(), self.clock.lease())
        leased = len(store.work.tokens)
        return QueueDepths(len(store.messages), len(store.work) - leased, leased)

    def wake(self) -> None:
        """See `Provider.wake`; other engines on the store look once more, too."""
        self.store.parking.wake()

    def _opened(self, operation: str) -> MemoryStore:
        if not self._open:
            raise ProviderError(operation, "the store is not open; call open", retryable=False)
        self.store.confine()
        return self.store

    def _take_runs(
        self, lock_timeout: float, limit: int
    ) -> tuple[list[OrchestrationItem], float | None]:
        items: list[OrchestrationItem] = []
        if not self._open:
            return items, None
        queue, now, lease_now = self.store.messages, self.clock.now(), self.clock.lease()
        queue.settle(now, lease_now)
        while len(items) < limit:
            token = self.store.new_token(self._owner)
            lease = queue.take(token, lease_now + lock_timeout, self.store.is_open)
            if lease is None:
                break
            items.append(self._item(lease))
        return items, queue.next_due(now, lease_now)

    def _item(self, lease: Lease[Mailbox]) -> OrchestrationItem:
        run = self.store.runs[lease.held.run_id]
        letters = lease.held.fetched
        return OrchestrationItem(
            token=lease.token,
            run_id=run.run_id,
            flow_id=run.flow_id,
            flow_type=run.flow_type,
            state=run.state,
            version=len(run.events),
            messages=tuple(QueuedMessage(letter.text, letter.attempts) for letter in letters),
        )

    def _take_work(
        self, lock_timeout: float, handlers: Handlers, limit: int
    ) -> tuple[list[WorkItem], float | None]:
        items: list[WorkItem] = []
        if not self._open:
            return items, None
        queue, now, lease_now = self.store.work, self.clock.now(), self.clock.lease()
        queue.settle(handlers.names, now, lease_now)
        while len(items) < limit:
            token = self.store.new_token(self._owner)
            item = queue.take(handlers.names, token, lease_now + lock_timeout, now)
            if item is None:
                break
            items.append(item)
        return items, queue.next_due(handlers.names, now, lease_now)
