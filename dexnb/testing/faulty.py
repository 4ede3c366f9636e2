"""`FaultyProvider`: a real store whose calls fail, hang or lose their answers on demand."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, TypeVar

from dexnb.clock import Clock
from dexnb.errors import DefinitionError, LeaseLost, ProviderError
from dexnb.model.event import Event
from dexnb.providers import (
    Beat,
    Commit,
    Handlers,
    NewMessage,
    NewWorkItem,
    OrchestrationItem,
    Provider,
    QueueDepths,
    RunRecord,
    Started,
    StreamRecord,
    StreamWrite,
    Taker,
    TelemetryChunk,
    WorkItem,
)

T = TypeVar("T")

LEASED = (
    "ack_orchestration_item",
    "abandon_orchestration_item",
    "renew_orchestration_item_lock",
    "ack_work_item",
    "ack_work_item_with_turn",
    "abandon_work_item",
    "renew_work_item_lock",
    "renew_work_item_locks",
    "record_beats",
)
"""Methods that are about leases."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with which calls of one method.

    Args:
        method: The method's name in `Provider`.
        calls: Which calls, counted from 1 since the provider was made; None for every one.
        retryable: What the injected error says of itself; None for no error, a delay alone.
        delay: Seconds on the loop's clock that pass before the call.
        applied: The store does its part and only the answer is lost, as when a connection breaks
            after the commit.
        error: Raised in place of the injected `ProviderError`.
        delay_after: Seconds on the loop's clock that pass before an answer comes.
        cut: In place of an error, the way to the store ends here as in a killed process: see
            `FaultyProvider.sever`. With `applied` the call still had its effect.
        expires: The lease that the call is about, or the first of several, runs out just before
            it, as of an owner who was held up; give `retryable=None`, and the store itself refuses.
    """

    method: str
    calls: Collection[int] | None = None
    retryable: bool | None = True
    delay: float = 0.0
    applied: bool = False
    error: Exception | None = None
    delay_after: float = 0.0
    cut: bool = False
    expires: bool = False

    def __post_init__(self) -> None:
        """Refuse what no call would ever match.

        Raises:
            DefinitionError: `Provider` has no such method, or it is not about a lease that expires.
        """
        if not callable(getattr(Provider, self.method, None)):
            raise DefinitionError(
                f"Fault.method is {self.method!r}: give the name of a Provider method"
            )
        if self.expires and self.method not in LEASED:
            raise DefinitionError(
                f"Fault.expires is True for {self.method}, which is about no lease: give one of "
                f"{', '.join(LEASED)}"
            )

    def strikes(self, method: str, call: int) -> bool:
        """Tell whether it concerns this call."""
        return method == self.method and (self.calls is None or call in self.calls)

    def failure(self, call: int) -> Exception | None:
        """Give what is raised, if anything."""
        if self.error is not None or self.retryable is None:
            return self.error
        return ProviderError(
            self.method, f"injected fault in call {call}", retryable=self.retryable
        )


class FaultyProvider(Provider):
    """Wraps a provider; passes every call on, but for those that a fault strikes.

    `faults` may be changed at any time; `calls` counts the calls of each method; `severed` is set
    when the way to the store has ended.
    """

    name: ClassVar[str] = "faulty"

    def __init__(self, inner: Provider, faults: Iterable[Fault] = ()) -> None:
        """Wrap a provider that is opened through this one, or open already."""
        self.inner = inner
        self.faults = list(faults)
        self.calls: Counter[str] = Counter()
        self.severed = asyncio.Event()
        if hasattr(inner, "clock"):
            self.clock = inner.clock

    def struck(self, method: str, number: int) -> Iterable[Fault]:
        """Give the faults that strike a call; a subclass may draw them instead.

        Args:
            method: The method's name.
            number: Which of its calls, from 1.
        """
        return [fault for fault in self.faults if fault.strikes(method, number)]

    def sever(self) -> None:
        """End the way to the store for good: every call that is not done never comes back.

        So the code that waits for it is left as in a killed process, and the store as that leaves
        it. What parks in the store already must be cancelled by the caller.
        """
        self.severed.set()

    async def _pass(
        self, method: str, call: Callable[[], Awaitable[T]], tokens: Iterable[str] = ()
    ) -> T:
        self.calls[method] += 1
        number = self.calls[method]
        struck = list(self.struck(method, number))
        await self._wait(sum(fault.delay for fault in struck))
        if any(fault.expires for fault in struck):
            await self._expire(method, tokens)
        failing = [each for each in struck if each.cut or each.failure(number) is not None]
        cut = any(fault.cut for fault in failing)
        if not failing or any(fault.applied for fault in failing):
            answer = await call()
        if cut:
            self.sever()
        await self._wait(sum(fault.delay_after for fault in struck))
        error = failing[0].failure(number) if failing else None
        if error is not None:
            raise error
        return answer

    async def _expire(self, method: str, tokens: Iterable[str]) -> None:
        inner, orchestration = self.inner, "orchestration" in method
        renew = inner.renew_orchestration_item_lock if orchestration else inner.renew_work_item_lock
        for token in list(tokens)[:1]:
            with suppress(LeaseLost):
                await renew(token, 0.0)

    async def _wait(self, seconds: float) -> None:
        """Let time pass if it must; behind the cut for ever."""
        if seconds and not self.severed.is_set():
            await asyncio.sleep(seconds)
        if self.severed.is_set():
            await asyncio.get_running_loop().create_future()

    async def open(self, clock: Clock, owner: str) -> None:
        """Open the store."""
        await self._pass("open", lambda: self.inner.open(clock, owner))
        self.clock = self.inner.clock

    async def close(self) -> None:
        """Close the store."""
        await self._pass("close", self.inner.close)

    async def start_run(self, commit: Commit) -> Started:
        """Pass on."""
        return await self._pass("start_run", lambda: self.inner.start_run(commit))

    async def fetch_orchestration_item(
        self, lock_timeout: float, poll_timeout: float
    ) -> OrchestrationItem | None:
        """Pass on."""
        return await self._pass(
            "fetch_orchestration_item",
            lambda: self.inner.fetch_orchestration_item(lock_timeout, poll_timeout),
        )

    async def fetch_orchestration_items(
        self, lock_timeout: float, poll_timeout: float, limit: int
    ) -> Sequence[OrchestrationItem]:
        """Pass on."""
        return await self._pass(
            "fetch_orchestration_items",
            lambda: self.inner.fetch_orchestration_items(lock_timeout, poll_timeout, limit),
        )

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """Pass on."""
        await self._pass(
            "ack_orchestration_item",
            lambda: self.inner.ack_orchestration_item(token, commit),
            (token,),
        )

    async def abandon_orchestration_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """Pass on."""
        await self._pass(
            "abandon_orchestration_item",
            lambda: self.inner.abandon_orchestration_item(
                token, delay, ignore_attempt=ignore_attempt
            ),
            (token,),
        )

    async def renew_orchestration_item_lock(self, token: str, extend_for: float) -> None:
        """Pass on."""
        await self._pass(
            "renew_orchestration_item_lock",
            lambda: self.inner.renew_orchestration_item_lock(token, extend_for),
            (token,),
        )

    async def fetch_work_item(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers
    ) -> WorkItem | None:
        """Pass on."""
        return await self._pass(
            "fetch_work_item",
            lambda: self.inner.fetch_work_item(lock_timeout, poll_timeout, handlers),
        )

    async def fetch_work_items(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers, limit: int
    ) -> Sequence[WorkItem]:
        """Pass on."""
        return await self._pass(
            "fetch_work_items",
            lambda: self.inner.fetch_work_items(lock_timeout, poll_timeout, handlers, limit),
        )

    async def ack_work_item(
        self,
        token: str,
        message: NewMessage | None = None,
        retry: NewWorkItem | None = None,
        *,
        durable: bool = True,
    ) -> None:
        """Pass on."""
        await self._pass(
            "ack_work_item",
            lambda: self.inner.ack_work_item(token, message, retry, durable=durable),
            (token,),
        )

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """Pass on."""
        return await self._pass(
            "ack_work_item_with_turn",
            lambda: self.inner.ack_work_item_with_turn(token, message, turn, durable=durable),
            (token,),
        )

    async def abandon_work_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """Pass on."""
        await self._pass(
            "abandon_work_item",
            lambda: self.inner.abandon_work_item(token, delay, ignore_attempt=ignore_attempt),
            (token,),
        )

    async def renew_work_item_lock(self, token: str, extend_for: float) -> None:
        """Pass on."""
        await self._pass(
            "renew_work_item_lock",
            lambda: self.inner.renew_work_item_lock(token, extend_for),
            (token,),
        )

    async def renew_work_item_locks(
        self, tokens: Sequence[str], extend_for: float
    ) -> frozenset[str]:
        """Pass on."""
        return await self._pass(
            "renew_work_item_locks",
            lambda: self.inner.renew_work_item_locks(tokens, extend_for),
            tokens,
        )

    async def record_beats(self, beats: Sequence[Beat]) -> frozenset[str]:
        """Pass on."""
        tokens = [beat.token for beat in beats]
        return await self._pass("record_beats", lambda: self.inner.record_beats(beats), tokens)

    async def enqueue_for_orchestrator(self, message: NewMessage) -> None:
        """Pass on."""
        await self._pass(
            "enqueue_for_orchestrator", lambda: self.inner.enqueue_for_orchestrator(message)
        )

    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """Pass on."""
        return await self._pass("write_stream", lambda: self.inner.write_stream(writes))

    async def read_stream(
        self, flow_type: str, stream: str, *, flow_id: str = "", after: int = 0, limit: int = 1000
    ) -> tuple[StreamRecord, ...]:
        """Pass on."""
        return await self._pass(
            "read_stream",
            lambda: self.inner.read_stream(
                flow_type, stream, flow_id=flow_id, after=after, limit=limit
            ),
        )

    async def append_telemetry(self, chunks: Sequence[TelemetryChunk]) -> None:
        """Pass on."""
        await self._pass("append_telemetry", lambda: self.inner.append_telemetry(chunks))

    async def read_telemetry(self, run_id: str) -> tuple[TelemetryChunk, ...]:
        """Pass on."""
        return await self._pass("read_telemetry", lambda: self.inner.read_telemetry(run_id))

    async def read_run(self, *, run_id: str = "", flow_id: str = "") -> RunRecord | None:
        """Pass on."""
        return await self._pass(
            "read_run", lambda: self.inner.read_run(run_id=run_id, flow_id=flow_id)
        )

    async def list_runs(
        self, *, status: str = "", limit: int = 100, before: str = ""
    ) -> tuple[RunRecord, ...]:
        """Pass on."""
        return await self._pass(
            "list_runs",
            lambda: self.inner.list_runs(status=status, limit=limit, before=before),
        )

    async def read_events(self, run_id: str, after: int = 0) -> tuple[Event, ...]:
        """Pass on."""
        return await self._pass("read_events", lambda: self.inner.read_events(run_id, after))

    async def queue_depths(self) -> QueueDepths:
        """Pass on."""
        return await self._pass("queue_depths", self.inner.queue_depths)

    def hand_over(self, taker: Taker | None) -> None:
        """Pass on; behind the cut nothing is handed over any more."""
        passing = taker and replace(taker, take=partial(self._take, taker))
        self.inner.hand_over(passing)

    def _take(self, taker: Taker, items: Sequence[WorkItem]) -> None:
        if not self.severed.is_set():
            taker.take(items)

    def wake(self) -> None:
        """Pass on; no fault strikes it."""
        self.inner.wake()

    async def watch(self) -> bool:
        """Pass on."""
        return await self._pass("watch", self.inner.watch)
