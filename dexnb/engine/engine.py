"""`Engine`: puts dispatchers, worker, orchestrator and upkeep together on one control loop."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from dexnb.clock import Clock, wall_time
from dexnb.engine import capture, collector
from dexnb.engine.attempt import Attempt, Links
from dexnb.engine.counts import Counts
from dexnb.engine.dispatcher import Dispatcher
from dexnb.engine.endings import Endings
from dexnb.engine.execute import Outcome
from dexnb.engine.mailbox import Mailbox
from dexnb.engine.near_runs import NearRuns
from dexnb.engine.observer import Observers
from dexnb.engine.open_calls import OpenCalls
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.orchestrator import Orchestrator
from dexnb.engine.outbox import Outbox
from dexnb.engine.patience import patiently
from dexnb.engine.starting import start_flow
from dexnb.engine.step_hosts import StepHosts
from dexnb.engine.stream_readers import StreamReaders
from dexnb.engine.subflow_start import subflow_step
from dexnb.engine.taking import taker_of
from dexnb.engine.telemetry import Telemetry
from dexnb.engine.turn import SUBFLOW
from dexnb.engine.upkeep import Upkeep
from dexnb.engine.worker import Worker
from dexnb.errors import ProviderError, RuntimeClosed
from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow, Registry
from dexnb.flow.start_options import StartFlowOptions
from dexnb.model.message import Message, encode_message
from dexnb.model.run_state import RunState
from dexnb.providers import (
    Commit,
    Handlers,
    NewMessage,
    OrchestrationItem,
    Provider,
    RunRecord,
    Started,
    StreamWrite,
    WorkItem,
)

T = TypeVar("T")

STOP_PATIENCE = 5.0
"""Seconds that a stop waits for a store that does not answer."""


class Engine:
    """Runs Flows of one store; all methods belong to the control loop.

    Args:
        provider: The store; the engine opens and closes it.
        options: Its settings.
        own_step_thread: Whether async Steps run on a thread of their own.
    """

    def __init__(
        self, provider: Provider, options: RuntimeOptions, *, own_step_thread: bool
    ) -> None:
        """Prepare; `start` starts."""
        self.provider = provider
        self.options = options
        self.minimum_heartbeat = options.minimum_heartbeat_timeout.total_seconds()
        self.registry = Registry(minimum_heartbeat_timeout=self.minimum_heartbeat)
        self._own_step_thread = own_step_thread
        self.store_lost: ProviderError | None = None
        self.counts = Counts(provider)
        self.observers = Observers(self.counts)
        self._handlers = Handlers()
        self._began = False
        self._closed = False
        self.owner = uuid.uuid4().hex
        self.calls = OpenCalls()
        self._subflow_step = subflow_step(self)

    async def start(self) -> None:
        """Open the store and start to work.

        Raises:
            RuntimeClosed: It was started before; each engine works once.
            ProviderError: The store cannot be opened.
        """
        if self._began:
            message = "a runtime works once: make a new one on the same store"
            raise RuntimeClosed(message)
        self._began = True
        self._stopped = asyncio.Event()
        clock = Clock.of(asyncio.get_running_loop())
        try:
            await self.provider.open(clock, self.owner)
            self._build(clock, await self._last_telemetry(clock))
        except BaseException:
            self._closed = True
            self._stopped.set()
            await self.provider.close()
            raise
        self._start_dispatchers()
        if clock.kind == "real":
            # Elsewhere all plays shall be the same, and whether a fetch is parked is up to threads.
            self.provider.hand_over(taker_of(self, self._handlers))
        self._unlisten = self.options.listen(lambda: self.control.post(self._options_changed))
        capture.install(self)
        collector.install(self)

    def _build(self, clock: Clock, telemetry_after: int) -> None:
        loop = asyncio.get_running_loop()
        provider, options = self.provider, self.options
        store_clock = provider.clock
        self.control = Mailbox(loop)
        self.endings = Endings(provider, trusting=clock.kind == "real")
        self.readers = StreamReaders(provider)
        self.telemetry = Telemetry(
            store_clock.lease,
            lambda: wall_time(loop) - store_clock.lease(),
            options.telemetry_bytes,
            telemetry_after,
            self.observers.engine,
        )
        self.outbox = self._outbox()
        self.hosts = StepHosts(
            self.control,
            clock,
            own_thread=self._own_step_thread,
            sync_slots=lambda: options.sync_concurrency,
            ended=self._ended,
        )
        self.near = NearRuns(provider, self._committed, self.endings.doubt)
        self.worker = self._worker(loop)
        self.orchestrator = Orchestrator(
            provider, options, self.telemetry, self.near, self._turn_freed
        )
        self.upkeep = Upkeep(
            clock=clock,
            provider=provider,
            options=options,
            worker=self.worker,
            hosts=self.hosts,
            telemetry=self.telemetry,
            changed=self._store_changed,
            lost=self._store_lost,
        )

    def _worker(self, loop: asyncio.AbstractEventLoop) -> Worker:
        links = Links(
            loop.time,
            lambda: wall_time(loop),
            self._flow_of,
            self.telemetry,
            self.outbox,
            self.observers.attempt,
        )
        return Worker(
            self.provider,
            self.registry,
            self.options,
            links,
            self.hosts,
            self.near,
            self._slot_freed,
        )

    def _flow_of(self, flow: Flow[Any]) -> RegisteredFlow:
        """Give what is known of a SubFlow's code, which its instance brings along; any thread."""
        registered, is_new = self.registry.look_up(flow)
        if is_new:
            self.control.post(self.register, flow)
        return registered

    def _outbox(self) -> Outbox:
        return Outbox(
            self.provider,
            self.control,
            lost=self._lost,
            refused=self._refused,
            failed=self._tell,
            written=self.readers.written,
            lag=self.counts.beat_lag.add,
        )

    def _store_lost(self, error: ProviderError | None) -> None:
        self.store_lost = error
        if error is not None:
            self.endings.fail(error)
            self.readers.fail(error)

    def _store_changed(self) -> None:
        self.endings.look()
        self.readers.look()

    async def _last_telemetry(self, clock: Clock) -> int:
        """Give the highest number in the store where engines may follow one another in no time."""
        highest, before, provider = 0, "", self.provider
        while clock.kind != "real":
            runs = await patiently(partial(provider.list_runs, status="RUNNING", before=before))
            if not runs:
                break
            before = runs[-1].run_id
            for run in runs:
                chunks = await patiently(partial(provider.read_telemetry, run.run_id))
                highest = max(highest, *(chunk.last_seq for chunk in chunks), 0)
        return highest

    def _start_dispatchers(self) -> None:
        options, provider = self.options, self.provider

        def fetch_runs(poll_timeout: float, limit: int) -> Any:
            lock = options.orchestrator_lock_timeout.total_seconds()
            return provider.fetch_orchestration_items(lock, poll_timeout, limit)

        def fetch_work(poll_timeout: float, limit: int) -> Any:
            lock = options.worker_lock_timeout.total_seconds()
            return provider.fetch_work_items(lock, poll_timeout, self._handlers, limit)

        self.turns: Dispatcher[OrchestrationItem] = Dispatcher(
            "orchestration",
            fetch=fetch_runs,
            handle=self.orchestrator.begin,
            give_back=self.orchestrator.give_back,
            free_slots=lambda: self.orchestrator.free_slots,
            options=options,
            telemetry=self.telemetry,
        )
        self.attempts: Dispatcher[WorkItem] = Dispatcher(
            "work",
            fetch=fetch_work,
            handle=self.begin,
            give_back=self.worker.give_back,
            free_slots=lambda: self.worker.free_slots,
            options=options,
            telemetry=self.telemetry,
        )
        self.turns.start()
        self.attempts.start()

    async def stop(self) -> None:
        """Stop in order: no new work, attempts handed back, everything written, store closed.

        A second call waits for the first.
        """
        if self._closed or not self._began:
            if self._began:
                await self._stopped.wait()
            return
        self._closed = True
        try:
            self.provider.hand_over(None)
            await self.calls.end(STOP_PATIENCE)
            self.turns.stop()
            self.attempts.stop()
            self.provider.wake()
            await asyncio.gather(
                self.worker.hand_back(STOP_PATIENCE), self.turns.ended(), self.attempts.ended()
            )
            await self.orchestrator.drained(STOP_PATIENCE)
            await self.outbox.close()
            await self.upkeep.stop()
        finally:
            self._unlisten()
            self.hosts.close()
            self.calls.threads.shutdown(wait=False)
            self.endings.close()
            self.readers.close()
            capture.uninstall(self)
            collector.uninstall(self)
            await self.provider.close()
            self._stopped.set()

    def register(self, flow: Flow[Any]) -> RegisteredFlow:
        """Make a Flow's code known, in place of an earlier one of its type."""
        registered = self.registry.register(flow)
        if any(step.wait_for is not None for step in registered.steps.values()):
            registered.steps[SUBFLOW] = self._subflow_step
        names = self.registry.handlers
        if names != self._handlers.names:
            self._handlers.names = names
            if self._began:
                self.provider.wake()
                self.turns.renew()
                self.attempts.renew()
        return registered

    async def start_flow(
        self,
        flow: Flow[Any],
        flow_id: str,
        input: Any,
        overrides: dict[str, Any] | None = None,
        options: StartFlowOptions | None = None,
        *,
        attach: bool = True,
    ) -> Started:
        """Register a Flow and start a run, or attach to the open one of that flow id.

        Without `attach` an id that was used before is refused, unless the options say otherwise.

        Raises:
            RuntimeClosed: The engine is not open.
            FlowDefinitionError: The Flow, the id or an option cannot be used.
            ValueMappingError: The input or an initial value does not fit.
            FlowAlreadyStartedError: The id has an open run of another Flow, or its reuse policy
                protects the run that it has.
            DefinitionError: An override names no knob, or cannot be its value.
        """
        return await start_flow(
            self, flow, flow_id, input, overrides=overrides, options=options, attach=attach
        )

    async def send(self, run_id: str, message: Message) -> None:
        """Send a message to a run."""
        sent = NewMessage(run_id, encode_message(message))
        await self.ask(lambda: self.provider.enqueue_for_orchestrator(sent))

    async def record(self, *, run_id: str = "", flow_id: str = "") -> RunRecord | None:
        """Give a run by its id, or the newest of a flow id."""
        return await self.ask(lambda: self.provider.read_run(run_id=run_id, flow_id=flow_id))

    async def wait_closed(self, run_id: str) -> RunState:
        """Wait until a run has ended, whichever engine ends it; give what it has come to."""
        self.check_open()
        return await self.endings.wait(run_id)

    async def ask(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call to the store that may be made twice, for a while if the store is busy.

        Raises:
            RuntimeClosed: The engine is not open, or was closed meanwhile.
            ProviderError: The store cannot do it, or stays busy.
        """
        self.check_open()
        try:
            return await patiently(call)
        except ProviderError:
            self.check_open()
            raise

    def check_open(self) -> None:
        """Refuse to be used before the start and behind the stop.

        Raises:
            RuntimeClosed: It is not open.
        """
        if self._closed:
            message = "the runtime is closed: open a new one on the same store"
            raise RuntimeClosed(message)
        if not self._began:
            message = "the runtime is not open yet: use it inside `async with`"
            raise RuntimeClosed(message)

    def begin(self, work: WorkItem) -> None:
        """Begin an attempt of a locked work item."""
        self.worker.begin(work)
        self.upkeep.poke()

    def _ended(self, attempt: Attempt, outcome: Outcome) -> None:
        self.worker.ended(attempt, outcome)

    def _slot_freed(self) -> None:
        self.attempts.reconsider()

    def _turn_freed(self) -> None:
        self.turns.reconsider()

    def _options_changed(self) -> None:
        self.provider.wake()
        self.turns.reconsider()
        self.attempts.reconsider()

    def _committed(self, commit: Commit, state: RunState) -> None:
        self.observers.committed(commit)
        if commit.cancelled:
            self.worker.cancel(commit.run_id, commit.cancelled)
        if commit.closes:
            self.worker.cancel_run(commit.run_id)
        self.worker.knobs.committed(commit)
        self.orchestrator.applied(commit.run_id)
        self.endings.changed(commit, state)

    def _lost(self, tokens: frozenset[str]) -> None:
        self.worker.lose(tokens)

    def _refused(self, write: StreamWrite) -> None:
        payload = {"what": f"Stream {write.stream}", "reason": "not kept"}
        step = write.source.removeprefix("#")
        self.telemetry.record(write.run_id, write.flow_id, "late_write", step, payload=payload)

    def _tell(self, error: Exception) -> None:
        text = f"outbox: {type(error).__name__}: {error}"
        self.telemetry.record("", "", "engine_error", payload={"error": text}, size=len(text))
