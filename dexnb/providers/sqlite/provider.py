"""`SqliteProvider`: durable runs in one file, shared by every engine of this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Literal

from dexnb.clock import Clock
from dexnb.errors import DocumentError, LeaseLost, LoopBoundError, ProviderError
from dexnb.model.event import Event
from dexnb.providers.base import Handlers, Provider, Taker
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
from dexnb.providers.parking import Queue
from dexnb.providers.sqlite import operations as ops
from dexnb.providers.sqlite import reads
from dexnb.providers.sqlite.place import check_installation, checked_path
from dexnb.providers.sqlite.rows import micros, size_of, stored
from dexnb.providers.sqlite.store import Store, closed
from dexnb.providers.sqlite.turn_rows import message_row, run_row, turn_rows, work_row

Durability = Literal["full", "normal"]

_NOT_STORABLE = (DocumentError, AttributeError, TypeError, ValueError, OverflowError)


class SqliteProvider(Provider):
    """One engine's way to an SQLite file.

    Calls that come together are committed together: one transaction, one visit to the database
    thread, however many they are.

    Args:
        path: The file; it and missing folders are made for their owner alone.
        durability: Whether acks and client writes wait until the disk has them (`full`), or may be
            lost with the machine's power, though never with the process (`normal`). Fetches,
            renewals, checkpoints, Streams and telemetry never wait.

    Raises:
        ProviderError: The path names no file, or SQLite is older than 3.40.
    """

    name: ClassVar[str] = "sqlite"

    def __init__(self, path: str | os.PathLike[str], *, durability: Durability = "full") -> None:
        """Touch nothing yet."""
        check_installation()
        if durability not in ("full", "normal"):
            message = f"durability is {durability!r}; give 'full' or 'normal'"
            raise ProviderError("open", message, retryable=False)
        self.path = checked_path(path)
        self.durability = durability
        self._store: Store | None = None
        self._closing: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self, clock: Clock, owner: str) -> None:
        """See `Provider.open`."""
        if self._store is not None:
            raise ProviderError("open", f"{self.path} is open already here", retryable=False)
        store = Store(self.path, clock, full=self.durability == "full")
        await store.open(owner)
        self.clock = store.clock
        self._closing = None
        self._loop = asyncio.get_running_loop()
        self._store = store

    async def close(self) -> None:
        """See `Provider.close`; the last one to leave the file leaves no -wal."""
        store, self._store = self._store, None
        if store is not None:
            self._closing = asyncio.ensure_future(store.close())
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def start_run(self, commit: Commit) -> Started:
        """See `Provider.start_run`."""
        name = "start_run"
        started: Started = await self._ask(
            name,
            lambda: ops.StartRun(
                name, stored(commit.flow_id), run_row(commit), turn_rows(name, commit)
            ),
        )
        return started

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
        name = "fetch_orchestration_item"
        items: Sequence[OrchestrationItem] = await self._fetch(
            "messages", poll_timeout, lambda: ops.FetchTurns(name, lock_timeout, limit)
        )
        return items

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """See `Provider.ack_orchestration_item`."""
        name = "ack_orchestration_item"
        await self._ask(name, lambda: ops.AckTurn(name, token, turn_rows(name, commit)))

    async def abandon_orchestration_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """See `Provider.abandon_orchestration_item`."""
        name = "abandon_orchestration_item"
        await self._ask(name, lambda: ops.AbandonTurn(name, token, delay, ignore_attempt))

    async def renew_orchestration_item_lock(self, token: str, extend_for: float) -> None:
        """See `Provider.renew_orchestration_item_lock`."""
        name = "renew_orchestration_item_lock"
        await self._ask(name, lambda: ops.RenewTurn(name, token, extend_for))

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
        name = "fetch_work_item"
        room = self._opened(name).handing.room
        items: Sequence[WorkItem] = await self._fetch(
            "work",
            poll_timeout,
            lambda: ops.FetchWork(name, lock_timeout, room(limit), frozenset(handlers.names)),
        )
        return items

    async def ack_work_item(
        self,
        token: str,
        message: NewMessage | None = None,
        retry: NewWorkItem | None = None,
        *,
        durable: bool = True,
    ) -> None:
        """See `Provider.ack_work_item`."""
        name = "ack_work_item"
        await self._ask(
            name,
            lambda: ops.AckWork(
                name,
                token,
                None if message is None else message_row(message),
                None if retry is None else work_row(retry),
                wait=durable,
            ),
        )

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """See `Provider.ack_work_item_with_turn`."""
        name = "ack_work_item_with_turn"
        applied: bool = await self._ask(
            name,
            lambda: ops.AckWorkWithTurn(
                name, token, message_row(message), turn_rows(name, turn), wait=durable
            ),
        )
        return applied

    async def abandon_work_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """See `Provider.abandon_work_item`."""
        name = "abandon_work_item"
        await self._ask(name, lambda: ops.AbandonWork(name, token, delay, ignore_attempt))

    async def renew_work_item_lock(self, token: str, extend_for: float) -> None:
        """See `Provider.renew_work_item_lock`."""
        name = "renew_work_item_lock"
        if await self._ask(name, lambda: ops.RenewWork(name, (token,), extend_for)):
            raise LeaseLost(name, token)

    async def renew_work_item_locks(
        self, tokens: Sequence[str], extend_for: float
    ) -> frozenset[str]:
        """See `Provider.renew_work_item_locks`."""
        name = "renew_work_item_lock"
        lost: frozenset[str] = await self._ask(
            name, lambda: ops.RenewWork(name, tuple(tokens), extend_for)
        )
        return lost

    async def record_beats(self, beats: Sequence[Beat]) -> frozenset[str]:
        """See `Provider.record_beats`."""
        name = "record_beats"
        lost: frozenset[str] = await self._ask(
            name,
            lambda: ops.RecordBeats(
                name,
                {
                    beat.token: None if beat.checkpoint is None else stored(beat.checkpoint)
                    for beat in beats
                },
            ),
        )
        return lost

    async def enqueue_for_orchestrator(self, message: NewMessage) -> None:
        """See `Provider.enqueue_for_orchestrator`."""
        name = "enqueue_for_orchestrator"
        await self._ask(name, lambda: ops.SendMessage(name, message_row(message)))

    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """See `Provider.write_stream`."""
        name = "write_stream"
        kept: tuple[bool, ...] = await self._ask(name, lambda: ops.WriteStream(name, tuple(writes)))
        return kept

    async def read_stream(
        self, flow_type: str, stream: str, *, flow_id: str = "", after: int = 0, limit: int = 1000
    ) -> tuple[StreamRecord, ...]:
        """See `Provider.read_stream`."""
        texts = {"flow_type": flow_type, "stream": stream, "flow_id": flow_id}
        found: tuple[StreamRecord, ...] = await self._read(
            "read_stream", reads.to_stream_records, texts, after=after, limit=max(limit, 0)
        )
        return found

    async def append_telemetry(self, chunks: Sequence[TelemetryChunk]) -> None:
        """See `Provider.append_telemetry`."""
        name = "append_telemetry"
        await self._ask(name, lambda: ops.AppendTelemetry(name, [_chunk_row(c) for c in chunks]))

    async def read_telemetry(self, run_id: str) -> tuple[TelemetryChunk, ...]:
        """See `Provider.read_telemetry`."""
        found: tuple[TelemetryChunk, ...] = await self._read(
            "read_telemetry", reads.to_chunks, {"run_id": run_id}
        )
        return found

    async def read_run(self, *, run_id: str = "", flow_id: str = "") -> RunRecord | None:
        """See `Provider.read_run`."""
        statement = "run_by_id" if run_id else "newest_run"
        texts = {"run_id": run_id} if run_id else {"flow_id": flow_id}
        run: RunRecord | None = await self._read("read_run", reads.to_run, texts, statement)
        return run

    async def list_runs(
        self, *, status: str = "", limit: int = 100, before: str = ""
    ) -> tuple[RunRecord, ...]:
        """See `Provider.list_runs`."""
        statement = "list_runs_of_status" if status else "list_runs"
        texts = {"status": status, "before": before}
        runs: tuple[RunRecord, ...] = await self._read(
            "list_runs", reads.to_runs, texts, statement, limit=max(limit, 0)
        )
        return runs

    async def read_events(self, run_id: str, after: int = 0) -> tuple[Event, ...]:
        """See `Provider.read_events`."""
        events: tuple[Event, ...] = await self._read(
            "read_events", reads.to_events(run_id), {"run_id": run_id}, after=after
        )
        return events

    async def queue_depths(self) -> QueueDepths:
        """See `Provider.queue_depths`."""
        lease = micros(self._opened("queue_depths").clock.lease())
        depths: QueueDepths = await self._read("queue_depths", reads.to_depths, {}, lease=lease)
        return depths

    def hand_over(self, taker: Taker | None) -> None:
        """See `Provider.hand_over`."""
        if self._store is not None:
            self._store.handing.taker = taker

    def wake(self) -> None:
        """See `Provider.wake`."""
        if self._store is not None:
            self._store.parking.wake()

    async def watch(self) -> bool:
        """See `Provider.watch`; two system calls and no other thread while nothing changes."""
        return await self._opened("watch").watch()

    def _opened(self, name: str) -> Store:
        if self._store is None:
            raise closed(name, self.path)
        if asyncio.get_running_loop() is not self._loop:
            message = f"{self.path} was opened on another event loop; call it from there"
            raise LoopBoundError(message)
        return self._store

    def _ask(self, name: str, make: Callable[[], ops.Operation]) -> Awaitable[Any]:
        store = self._opened(name)
        try:
            operation = make()
        except _NOT_STORABLE as error:
            message = f"what is given cannot be stored: {error}"
            raise ProviderError(name, message, retryable=False) from error
        return store.ask(operation)

    async def _read(
        self,
        name: str,
        decode: Callable[[Any], Any],
        texts: dict[str, str],
        statement: str = "",
        **numbers: int,
    ) -> Any:
        def make() -> ops.Read:
            parameters = {key: stored(text) for key, text in texts.items()}
            return ops.Read(name, statement or name, {**parameters, **numbers}, decode)

        return await self._ask(name, make)

    async def _fetch(self, queue: Queue, poll_timeout: float, make: Callable[[], ops.Fetch]) -> Any:
        store = self._opened(make().name)

        async def attempt() -> tuple[Sequence[Any], float | None]:
            if self._store is not store or (fetch := make()).limit <= 0:
                return (), None
            found: tuple[Sequence[Any], float | None] = await store.ask(fetch)
            return found

        return await store.parking.fetch(queue, attempt, poll_timeout, store.clock.now)


def _chunk_row(chunk: TelemetryChunk) -> list[Any]:
    text = stored(chunk.text)
    return [stored(chunk.run_id), chunk.first_seq, chunk.last_seq, size_of(text), text]
