"""`PostgresProvider`: durable runs in a schema that engines of many machines share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from dexnb.clock import Clock
from dexnb.errors import ClockMismatch, DocumentError, LeaseLost, LoopBoundError, ProviderError
from dexnb.model.event import Event
from dexnb.providers.base import Handlers, Provider
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
from dexnb.providers.postgres import operations as ops
from dexnb.providers.postgres import rows
from dexnb.providers.postgres import turn as encode
from dexnb.providers.postgres.encoding import data, micros, optional
from dexnb.providers.postgres.link import Row
from dexnb.providers.postgres.opening import check_loop
from dexnb.providers.postgres.place import SCHEMA, place_of
from dexnb.providers.postgres.store import Store, closed

_NOT_STORABLE = (DocumentError, AttributeError, TypeError, ValueError, OverflowError)
REAL = Clock.real()


class PostgresProvider(Provider):
    """One engine's way to a schema of a PostgreSQL database.

    Calls that come together are committed together: one transaction, however many they are. A
    server that restarts is waited for. The engine has three connections: for what changes the
    store, for look-ups, and for hearing what other engines commit. The last one needs a session of
    its own, so a pooler between must not share sessions among transactions.

    Store time is the server's clock at open plus what has passed on this machine since, so that
    engines on many machines agree on leases. Only the real clock can be shared like this.

    Args:
        url: `postgresql://user:password@host:port/database`; a parameter `schema` of it counts
            more than the argument. The password is never shown.
        schema: Whose tables are used, one for each app; made where it is missing.

    Raises:
        DefinitionError: The address or the schema cannot be one.
    """

    name: ClassVar[str] = "postgres"

    def __init__(self, url: str, schema: str = SCHEMA) -> None:
        """Touch nothing yet."""
        self.place = place_of(url, schema)
        self._store: Store | None = None
        self._closing: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"PostgresProvider({self.place.name!r})"

    async def open(self, clock: Clock, owner: str) -> None:
        """See `Provider.open`."""
        if self._store is not None:
            raise ProviderError("open", f"{self.place.name} is open already here", retryable=False)
        if clock.kind != REAL.kind:
            raise ClockMismatch(self.place.name, REAL.identity, clock.identity)
        check_loop()
        store = Store(self.place)
        await store.open(owner)
        self.clock = store.clock
        self._closing = None
        self._loop = asyncio.get_running_loop()
        self._store = store

    async def close(self) -> None:
        """See `Provider.close`."""
        store, self._store = self._store, None
        if store is not None:
            self._closing = asyncio.ensure_future(store.close())
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def start_run(self, commit: Commit) -> Started:
        """See `Provider.start_run`."""
        name = "start_run"
        started: Started = await self._ask(
            name, lambda: ops.StartRun(name, encode.turn(name, commit))
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
            "messages", name, poll_timeout, lambda: ops.FetchTurns(name, lock_timeout, limit)
        )
        return items

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """See `Provider.ack_orchestration_item`."""
        name = "ack_orchestration_item"
        await self._ask(name, lambda: ops.AckTurn(name, token, encode.turn(name, commit)))

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

        def make() -> ops.Fetch:
            """Read the handlers anew at every try."""
            # Sorted, so that callers with the same handlers share a statement.
            names = tuple(sorted(map(data, handlers.names)))
            return ops.FetchWork(name, lock_timeout, limit, names)

        items: Sequence[WorkItem] = await self._fetch("work", name, poll_timeout, make)
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
                None if message is None else encode.letter(message),
                None if retry is None else encode.work(retry),
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
                name, token, encode.letter(message), encode.turn(name, turn), wait=durable
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

        def make() -> ops.Operation:
            """Keep the newest beat of each token."""
            newest = {beat.token: optional(beat.checkpoint) for beat in beats}
            return ops.RecordBeats(name, newest)

        lost: frozenset[str] = await self._ask(name, make)
        return lost

    async def enqueue_for_orchestrator(self, message: NewMessage) -> None:
        """See `Provider.enqueue_for_orchestrator`."""
        name = "enqueue_for_orchestrator"
        await self._ask(name, lambda: ops.SendMessage(name, encode.letter(message)))

    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """See `Provider.write_stream`."""
        name = "write_stream"
        kept: tuple[bool, ...] = await self._ask(
            name, lambda: ops.WriteStream(name, [(write, data(write.payload)) for write in writes])
        )
        return kept

    async def read_stream(
        self, flow_type: str, stream: str, *, flow_id: str = "", after: int = 0, limit: int = 1000
    ) -> tuple[StreamRecord, ...]:
        """See `Provider.read_stream`."""
        texts = {"flow_type": flow_type, "stream": stream, "flow_id": flow_id}
        found = await self._read("read_stream", texts, after=after, limit=max(limit, 0))
        return tuple(map(rows.stream_record, found))

    async def append_telemetry(self, chunks: Sequence[TelemetryChunk]) -> None:
        """See `Provider.append_telemetry`."""
        name = "append_telemetry"

        def make() -> ops.Operation:
            """Encode the chunks."""
            encoded = [
                (data(chunk.run_id), chunk.first_seq, chunk.last_seq, data(chunk.text))
                for chunk in chunks
            ]
            return ops.AppendTelemetry(name, encoded)

        await self._ask(name, make)

    async def read_telemetry(self, run_id: str) -> tuple[TelemetryChunk, ...]:
        """See `Provider.read_telemetry`."""
        return tuple(map(rows.chunk, await self._read("read_telemetry", {"run_id": run_id})))

    async def read_run(self, *, run_id: str = "", flow_id: str = "") -> RunRecord | None:
        """See `Provider.read_run`."""
        statement = "run_by_id" if run_id else "newest_run"
        texts = {"run_id": run_id} if run_id else {"flow_id": flow_id}
        found = await self._read("read_run", texts, statement)
        return rows.run_record(found[0]) if found else None

    async def list_runs(
        self, *, status: str = "", limit: int = 100, before: str = ""
    ) -> tuple[RunRecord, ...]:
        """See `Provider.list_runs`."""
        statement = "list_runs_of_status" if status else "list_runs"
        texts = {"before": before, **({"status": status} if status else {})}
        found = await self._read("list_runs", texts, statement, limit=max(limit, 0))
        return tuple(map(rows.run_record, found))

    async def read_events(self, run_id: str, after: int = 0) -> tuple[Event, ...]:
        """See `Provider.read_events`."""
        return rows.events(run_id, await self._read("read_events", {"run_id": run_id}, after=after))

    async def queue_depths(self) -> QueueDepths:
        """See `Provider.queue_depths`."""
        now = micros(self._opened("queue_depths").clock.lease())
        ((messages, items, leased),) = await self._read("queue_depths", {}, now=now)
        return QueueDepths(messages, items - leased, leased)

    def wake(self) -> None:
        """See `Provider.wake`."""
        if self._store is not None:
            self._store.parking.wake()

    async def watch(self) -> bool:
        """See `Provider.watch`; asks nothing of the server."""
        return self._opened("watch").watch()

    def _opened(self, name: str) -> Store:
        if self._store is None:
            raise closed(name, self.place)
        if asyncio.get_running_loop() is not self._loop:
            message = f"{self.place.name} was opened on another event loop; call it from there"
            raise LoopBoundError(message)
        return self._store

    async def _ask(self, name: str, make: Callable[[], ops.Operation]) -> Any:
        store = self._opened(name)
        try:
            operation = make()
        except _NOT_STORABLE as error:
            message = f"what is given cannot be stored: {error}"
            raise ProviderError(name, message, retryable=False) from error
        return await store.ask(operation)

    async def _read(
        self, name: str, texts: dict[str, str], statement: str = "", **numbers: int
    ) -> list[Row]:
        reader = self._opened(name).reader
        encoded = {key: data(value) for key, value in texts.items()}
        return await reader.rows(name, statement or name, **encoded, **numbers)

    async def _fetch(
        self, queue: Queue, name: str, poll_timeout: float, make: Callable[[], ops.Fetch]
    ) -> Any:
        store = self._opened(name)

        async def attempt() -> tuple[Sequence[Any], float | None]:
            if self._store is not store:
                return (), None
            found: tuple[Sequence[Any], float | None] = await self._ask(name, make)
            return found

        return await store.parking.fetch(queue, attempt, poll_timeout, store.clock.now)
