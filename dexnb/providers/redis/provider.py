"""`RedisProvider`: durable runs on a Redis or Valkey server, shared by engines of any machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from dexnb.clock import Clock
from dexnb.errors import DocumentError, LeaseLost, LoopBoundError, ProviderError
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
from dexnb.providers.redis import reads
from dexnb.providers.redis.address import PREFIX, parse
from dexnb.providers.redis.arguments import (
    message_arguments,
    one,
    stream_arguments,
    stream_name,
    turn_arguments,
    work_arguments,
)
from dexnb.providers.redis.calls import abandon, ack_work, lease_of, now_of
from dexnb.providers.redis.encoding import listed, micros, optional, packed, raw, stamp, text
from dexnb.providers.redis.fetch import Fetcher, of_turns, of_work
from dexnb.providers.redis.store import Store
from dexnb.providers.redis.unsure import MARK_SECONDS

TELEMETRY_OF_A_RUN = 512_000
TELEMETRY_OF_A_STORE = 64_000_000

_NOT_STORABLE = (DocumentError, AttributeError, TypeError, ValueError, OverflowError)


class RedisProvider(Provider):
    """One engine's way to a Redis or Valkey server.

    Whatever changes the store is one script, so it is atomic, and durable as the server is: with
    `appendonly yes` and `appendfsync always` nothing that was acknowledged is lost. Everything
    stays in the server's memory: runs and their events for good, as in every store, telemetry
    within 512 kB for a run and 64 MB for all.

    Args:
        url: `redis://host:6379/0`, `rediss://`, `valkey://` or `unix:///path?db=0`.
        prefix: What keeps several stores of one server apart; `?prefix=` in the URL stands
            instead of it.

    Raises:
        DefinitionError: The URL or the prefix cannot be used.
    """

    name: ClassVar[str] = "redis"

    def __init__(self, url: str, prefix: str = PREFIX) -> None:
        """Touch nothing yet."""
        self._address = parse(url, prefix)
        self.store: Store | None = None
        """What is open, or None."""
        self._closing: asyncio.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turns: Fetcher[OrchestrationItem]
        self._work: Fetcher[WorkItem]

    @property
    def place(self) -> str:
        """Name the server, the database and a prefix of its own, without user and password."""
        return self._address.place

    def __repr__(self) -> str:
        """Name the place."""
        return f"RedisProvider({self.place!r})"

    async def open(self, clock: Clock, owner: str) -> None:
        """See `Provider.open`.

        A server that can lose what it acknowledged gives a `DexnbWarning`.

        Raises:
            ClockMismatch: The clock is not real: machines cannot share a scaled or virtual one.
        """
        if self.store is not None:
            raise ProviderError("open", f"{self.place} is open already here", retryable=False)
        store = Store(self._address, owner)
        await store.open(clock)
        self.clock = store.clock
        self._turns, self._work = of_turns(store), of_work(store)
        self._closing = None
        self._loop = asyncio.get_running_loop()
        self.store = store

    async def close(self) -> None:
        """See `Provider.close`."""
        store, self.store = self.store, None
        if store is not None:
            self._closing = asyncio.ensure_future(store.close())
        if self._closing is not None:
            await asyncio.shield(self._closing)

    async def start_run(self, commit: Commit) -> Started:
        """See `Provider.start_run`."""
        with self._call("start_run") as (store, name):
            turn = turn_arguments(name, commit)
            ids = raw(commit.flow_id), raw(commit.flow_type)
            code, answer = await store.run(name, "start_run", now_of(store), *ids, *turn)
        if code == b"open":
            return Started(text(answer), created=False)
        store.tell_dropped(answer)
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
        with self._call("fetch_orchestration_item"):
            return await self._turns.fetch(lock_timeout, poll_timeout, limit, lambda _: [])

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """See `Provider.ack_orchestration_item`."""
        with self._call("ack_orchestration_item") as (store, name):
            turn = turn_arguments(name, commit)
            times = now_of(store), lease_of(store)
            _, dropped = await store.run(name, "ack_turn", *times, raw(token), *turn, token=token)
        store.tell_dropped(dropped)

    async def abandon_orchestration_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """See `Provider.abandon_orchestration_item`."""
        with self._call("abandon_orchestration_item") as (store, name):
            await abandon(store, name, "abandon_turn", token, delay, uncounted=ignore_attempt)

    async def renew_orchestration_item_lock(self, token: str, extend_for: float) -> None:
        """See `Provider.renew_orchestration_item_lock`."""
        with self._call("renew_orchestration_item_lock") as (store, name):
            end = micros(store.clock.lease() + extend_for)
            await store.run(name, "renew_turn", lease_of(store), raw(token), end, token=token)

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

        def more(now: float) -> list[Any]:
            """Give what can be run now."""
            return [stamp(now), *listed(map(raw, sorted(handlers.names)))]

        with self._call("fetch_work_item"):
            return await self._work.fetch(lock_timeout, poll_timeout, limit, more)

    async def ack_work_item(
        self,
        token: str,
        message: NewMessage | None = None,
        retry: NewWorkItem | None = None,
        *,
        durable: bool = True,
    ) -> None:
        """See `Provider.ack_work_item`; the server alone decides when its disk has it."""
        with self._call("ack_work_item") as (store, name):
            sent = None if message is None else message_arguments(message)
            again = None if retry is None else work_arguments(retry)
            await ack_work(store, name, token, one(sent), one(again), [0])

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """See `Provider.ack_work_item_with_turn`."""
        with self._call("ack_work_item_with_turn") as (store, name):
            sent = one(message_arguments(message))
            applied = one(turn_arguments(name, turn))
            return await ack_work(store, name, token, sent, [0], applied)

    async def abandon_work_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """See `Provider.abandon_work_item`."""
        with self._call("abandon_work_item") as (store, name):
            await abandon(store, name, "abandon_work", token, delay, uncounted=ignore_attempt)

    async def renew_work_item_lock(self, token: str, extend_for: float) -> None:
        """See `Provider.renew_work_item_lock`."""
        if await self.renew_work_item_locks([token], extend_for):
            raise LeaseLost("renew_work_item_lock", token)

    async def renew_work_item_locks(
        self, tokens: Sequence[str], extend_for: float
    ) -> frozenset[str]:
        """See `Provider.renew_work_item_locks`."""
        with self._call("renew_work_item_lock") as (store, name):
            end = micros(store.clock.lease() + extend_for)
            given = listed(map(raw, tokens))
            _, lost = await store.run(name, "renew_work", lease_of(store), end, *given)
            return frozenset(map(text, lost))

    async def record_beats(self, beats: Sequence[Beat]) -> frozenset[str]:
        """See `Provider.record_beats`."""
        with self._call("record_beats") as (store, name):
            given: list[Any] = [len(beats)]
            for beat in beats:
                given += [raw(beat.token), *optional(beat.checkpoint)]
            _, lost = await store.run(name, "record_beats", lease_of(store), *given)
            return frozenset(map(text, lost))

    async def enqueue_for_orchestrator(self, message: NewMessage) -> None:
        """See `Provider.enqueue_for_orchestrator`."""
        with self._call("enqueue_for_orchestrator") as (store, name):
            given = message_arguments(message)
            with store.unsure.named(message) as mark:
                once = now_of(store), mark, MARK_SECONDS
                _, dropped = await store.run(name, "send_message", *once, *given)
        store.tell_dropped(dropped)

    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """See `Provider.write_stream`."""
        with self._call("write_stream") as (store, name):
            given: list[Any] = [len(writes)]
            for write in writes:
                given += stream_arguments(write)
            with store.unsure.named(tuple(writes)) as mark:
                once = lease_of(store), mark, MARK_SECONDS
                _, kept, damaged = await store.run(name, "write_stream", *once, *given)
        store.tell_of(damaged)
        return tuple(map(bool, kept))

    async def read_stream(
        self, flow_type: str, stream: str, *, flow_id: str = "", after: int = 0, limit: int = 1000
    ) -> tuple[StreamRecord, ...]:
        """See `Provider.read_stream`."""
        found: list[StreamRecord] = []
        with self._call("read_stream") as (store, name):
            key = self._address.base + stream_name(flow_type, stream)
            page = after
            while len(found) < limit:
                span = f"({page}", "+inf", "LIMIT", 0, limit
                answer = await store.lane.command(name, "ZRANGEBYSCORE", key, *span)
                records = [reads.to_stream_record(flow_type, stream, each) for each in answer]
                found += [each for each in records if flow_id in ("", each.flow_id)]
                if len(records) < limit:
                    break
                page = records[-1].position
        return tuple(found[: max(limit, 0)])

    async def append_telemetry(self, chunks: Sequence[TelemetryChunk]) -> None:
        """See `Provider.append_telemetry`."""
        with self._call("append_telemetry") as (store, name):
            given: list[Any] = [TELEMETRY_OF_A_RUN, TELEMETRY_OF_A_STORE, len(chunks)]
            for chunk in chunks:
                size, record = len(raw(chunk.text)), (chunk.first_seq, chunk.last_seq, chunk.text)
                given += [raw(chunk.run_id), size, packed(*record)]
            _, damaged = await store.run(name, "append_telemetry", *given)
        store.tell_of(damaged)

    async def read_telemetry(self, run_id: str) -> tuple[TelemetryChunk, ...]:
        """See `Provider.read_telemetry`."""
        with self._call("read_telemetry") as (store, name):
            key = self._address.base + b"telemetry:" + raw(run_id)
            answer = await store.lane.command(name, "LRANGE", key, 0, -1)
            return tuple(reads.to_chunk(run_id, each) for each in answer)

    async def read_run(self, *, run_id: str = "", flow_id: str = "") -> RunRecord | None:
        """See `Provider.read_run`."""
        by = ("numbers", raw(run_id)) if run_id else ("flows", raw(flow_id))
        runs = await self._read_runs("read_run", *by)
        return runs[0] if runs else None

    async def list_runs(
        self, *, status: str = "", limit: int = 100, before: str = ""
    ) -> tuple[RunRecord, ...]:
        """See `Provider.list_runs`."""
        page = max(limit, 0), raw(before)
        return await self._read_runs("list_runs", "list", raw(status), *page)

    async def read_events(self, run_id: str, after: int = 0) -> tuple[Event, ...]:
        """See `Provider.read_events`."""
        with self._call("read_events") as (store, name):
            _, answer = await store.run(name, "read_events", raw(run_id), max(after, 0))
            return reads.to_events(run_id, answer)

    async def queue_depths(self) -> QueueDepths:
        """See `Provider.queue_depths`."""
        with self._call("queue_depths") as (store, name):
            _, messages, items, leased = await store.run(name, "queue_depths", lease_of(store))
            return QueueDepths(messages, items - leased, leased)

    def wake(self) -> None:
        """See `Provider.wake`."""
        if self.store is not None:
            self.store.parking.wake()

    async def watch(self) -> bool:
        """See `Provider.watch`; asks the server nothing."""
        with self._call("watch") as (store, _):
            return store.watch()

    async def _read_runs(self, operation: str, *arguments: Any) -> tuple[RunRecord, ...]:
        with self._call(operation) as (store, name):
            _, runs, damaged = await store.run(name, "read_runs", *arguments)
            store.tell_of(damaged)
            return tuple(map(reads.to_run, runs))

    @contextmanager
    def _call(self, operation: str) -> Iterator[tuple[Store, str]]:
        """Give the open store, and judge what cannot be written or read."""
        if self.store is None:
            message = f"{self.place} is not open; open it first"
            raise ProviderError(operation, message, retryable=False)
        if asyncio.get_running_loop() is not self._loop:
            message = f"{self.place} was opened on another event loop; call it from there"
            raise LoopBoundError(message)
        try:
            yield self.store, operation
        except _NOT_STORABLE as error:
            message = f"what is given or kept cannot be used: {error}"
            raise ProviderError(operation, message, retryable=False) from error
