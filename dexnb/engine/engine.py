"""`Engine`: puts dispatchers, worker, orchestrator and upkeep together on one control loop."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from dexnb.clock import Clock, wall_time
from dexnb.engine import capture
from dexnb.engine.attempt import Attempt, Links
from dexnb.engine.dispatcher import Dispatcher
from dexnb.engine.execute import Outcome
from dexnb.engine.mailbox import Mailbox
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.orchestrator import Orchestrator
from dexnb.engine.outbox import Outbox
from dexnb.engine.step_hosts import StepHosts
from dexnb.engine.telemetry import Telemetry
from dexnb.engine.turn import start_run
from dexnb.engine.upkeep import Upkeep
from dexnb.engine.worker import Worker
from dexnb.errors import FlowAlreadyStartedError, RuntimeClosed
from dexnb.flow.flow import Flow
from dexnb.flow.mapping import map_start
from dexnb.flow.registry import RegisteredFlow, Registry
from dexnb.model.message import Message, encode_message
from dexnb.model.run_state import RunState
from dexnb.providers import (
    Commit,
    Handlers,
    NewMessage,
    OrchestrationItem,
    Provider,
    Started,
    StreamWrite,
    WorkItem,
)


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
        self.registry = Registry(
            minimum_heartbeat_timeout=options.minimum_heartbeat_timeout.total_seconds()
        )
        self._own_step_thread = own_step_thread
        self._handlers = Handlers()
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._checking: asyncio.Task[None] | None = None
        self._closed = False

    async def start(self) -> None:
        """Open the store and start to work."""
        loop = asyncio.get_running_loop()
        clock = Clock.of(loop)
        self.owner = uuid.uuid4().hex
        await self.provider.open(clock, self.owner)
        store_clock = self.provider.clock
        self.control = Mailbox(loop)
        self.telemetry = Telemetry(
            store_clock.lease,
            lambda: wall_time(loop) - store_clock.lease(),
            self.options.telemetry_bytes,
        )
        outbox = Outbox(self.provider, self.control, self._lost, self._refused)
        links = Links(loop.time, lambda: wall_time(loop), self.telemetry, outbox)
        self.outbox = outbox
        self.hosts = StepHosts(
            self.control, clock, own_thread=self._own_step_thread, ended=self._ended
        )
        self.worker = Worker(
            self.provider, self.registry, self.options, links, self.hosts, self._slot_freed
        )
        self.orchestrator = Orchestrator(
            self.provider, self.options, self.telemetry, self._committed, self._turn_freed
        )
        self.upkeep = Upkeep(
            clock=clock,
            provider=self.provider,
            options=self.options,
            worker=self.worker,
            hosts=self.hosts,
            telemetry=self.telemetry,
            changed=self._changed,
        )
        self._start_dispatchers()
        capture.install()

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
            handle=self._begin,
            give_back=self.worker.give_back,
            free_slots=lambda: self.worker.free_slots,
            options=options,
            telemetry=self.telemetry,
        )
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self.turns.run(), name="dexnb orchestration dispatcher"),
            loop.create_task(self.attempts.run(), name="dexnb work dispatcher"),
        ]

    async def stop(self) -> None:
        """Stop in order: no new work, attempts handed back, everything written, store closed."""
        if self._closed:
            return
        self._closed = True
        for dispatcher in (self.turns, self.attempts):
            dispatcher.stop()
        self.provider.wake()
        await self.worker.hand_back()
        _, parked = await asyncio.wait(self._tasks, timeout=1.0)
        for task in parked:
            task.cancel()
        await self.orchestrator.drained()
        await self.upkeep.stop()
        self.hosts.close()
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.set_exception(RuntimeClosed("the runtime was closed during the wait"))
        await self.provider.close()
        capture.uninstall()

    def register(self, flow: Flow[Any]) -> RegisteredFlow:
        """Make a Flow's code known, in place of an earlier one of its type."""
        registered = self.registry.register(flow)
        names = self.registry.handlers
        if names != self._handlers.names:
            self._handlers.names = names
            self.provider.wake()
        return registered

    async def start_flow(
        self, flow: Flow[Any], flow_id: str, input: Any, overrides: dict[str, Any] | None = None
    ) -> Started:
        """Register a Flow and start a run, or attach to the open one of that flow id.

        Raises:
            FlowDefinitionError: The Flow or the id cannot be used.
            ValueMappingError: The input does not fit.
            FlowAlreadyStartedError: The id has an open run of another Flow.
        """
        self._check_open()
        registered = self.register(flow)
        start = map_start(registered, flow_id, input, overrides)
        commit = start_run(
            start, uuid.uuid4().hex, time=self.provider.clock.lease(), wall=wall_time()
        )
        started = await self.provider.start_run(commit)
        if started.created:
            self._committed(commit)
        else:
            await self._check_type(started.run_id, flow_id, registered.flow_type)
        return started

    async def _check_type(self, run_id: str, flow_id: str, flow_type: str) -> None:
        record = await self.provider.read_run(run_id=run_id)
        if record is not None and record.flow_type != flow_type:
            message = (
                f"flow id {flow_id} has an open run of {record.flow_type}, not of {flow_type}: "
                "use another flow id, or stop that run"
            )
            raise FlowAlreadyStartedError(message)

    async def send(self, run_id: str, message: Message) -> None:
        """Send a message to a run."""
        self._check_open()
        await self.provider.enqueue_for_orchestrator(NewMessage(run_id, encode_message(message)))

    async def state(self, run_id: str) -> RunState | None:
        """Give a run's state."""
        self._check_open()
        record = await self.provider.read_run(run_id=run_id)
        return None if record is None else RunState.from_text(record.state)

    async def wait_closed(self, run_id: str) -> None:
        """Wait until a run has ended, whichever engine ends it."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(run_id, set()).add(future)
        try:
            record = await self.provider.read_run(run_id=run_id)
            if record is None or record.status == "RUNNING":
                self._check_open()
                await future
        finally:
            waiting = self._waiting.get(run_id, set())
            waiting.discard(future)
            if not waiting:
                self._waiting.pop(run_id, None)

    def _check_open(self) -> None:
        if self._closed:
            message = "the runtime is closed: open a new one on the same store"
            raise RuntimeClosed(message)

    def _begin(self, work: WorkItem) -> None:
        self.worker.begin(work)
        self.upkeep.poke()

    def _ended(self, attempt: Attempt, outcome: Outcome) -> None:
        self.worker.ended(attempt, outcome)

    def _slot_freed(self) -> None:
        self.attempts.slot_freed()

    def _turn_freed(self) -> None:
        self.turns.slot_freed()

    def _committed(self, commit: Commit) -> None:
        if commit.cancelled:
            self.worker.cancel(commit.run_id, commit.cancelled)
        if commit.closes:
            self._resolve(commit.run_id)

    def _resolve(self, run_id: str) -> None:
        for future in self._waiting.get(run_id, ()):
            if not future.done():
                future.set_result(None)

    def _changed(self) -> None:
        """Another process changed the store: look whether it ended a run that is waited for."""
        if self._waiting and self._checking is None:
            self._checking = asyncio.get_running_loop().create_task(self._check_waiting())

    async def _check_waiting(self) -> None:
        try:
            for run_id in list(self._waiting):
                record = await self.provider.read_run(run_id=run_id)
                if record is not None and record.status != "RUNNING":
                    self._resolve(run_id)
        finally:
            self._checking = None

    def _lost(self, tokens: frozenset[str]) -> None:
        self.worker.lose(tokens)

    def _refused(self, write: StreamWrite) -> None:
        payload = {"what": f"Stream {write.stream}", "reason": "not kept", "value": write.payload}
        self.telemetry.record(
            write.run_id,
            write.flow_id,
            "late_write",
            write.source.removeprefix("#"),
            payload=payload,
            size=len(write.payload),
        )
