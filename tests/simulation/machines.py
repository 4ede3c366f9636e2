"""`Machine`: a process with one engine, which may be killed at any moment."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from dexnb import Flow
from dexnb.engine import Runtime, RuntimeOptions, capture, collector
from dexnb.engine.turn import SUBFLOW
from dexnb.errors import DefinitionError, ProviderError
from dexnb.model.event import Event
from dexnb.providers import RunRecord
from dexnb.testing import FaultyProvider
from tests.simulation.threads import SteppedLoop

T = TypeVar("T")

_owner: contextvars.ContextVar[Machine | None] = contextvars.ContextVar("machine", default=None)


ANSWER = 60.0
"""Seconds within which whoever waits for an engine that has stopped must learn of that."""


class Killed(Exception):
    """The machine died while somebody waited for it."""


def tell_tasks_apart(loop: asyncio.AbstractEventLoop) -> None:
    """Let every task of a loop belong to the machine that has made it."""

    def make(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, **options)
        context = options.get("context") or contextvars.copy_context()
        machine = context.get(_owner)
        if machine is not None:
            machine.adopt(task)
        return task

    loop.set_task_factory(make)


class Machine:
    """One life of a process: it starts once, and ends in order or not.

    Args:
        provider: Its way to the store.
        flows: The code that it knows.
        options: Of its engine.
        killed: Called when it was killed.
    """

    def __init__(
        self,
        provider: FaultyProvider,
        flows: Sequence[Flow[Any]],
        options: RuntimeOptions,
        killed: Callable[[], None] = lambda: None,
    ) -> None:
        """Switch nothing on yet."""
        self.provider = provider
        self._killed = killed
        self.runtime = Runtime(provider, options=options)
        self._flows = flows
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._context = contextvars.copy_context()
        self._context.run(_owner.set, self)
        self._watch: asyncio.Task[None] | None = None
        self._calls: dict[asyncio.Task[Any], str] = {}
        self.unanswered: list[str] = []
        self.up = False
        self.dead = asyncio.Event()
        self._gone = asyncio.Event()

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Take a task that began here; behind the death it must not run."""
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))
        if self.dead.is_set():
            task.cancel()

    async def start(self) -> bool:
        """Start the engine; tell whether it runs."""
        self._watch = asyncio.get_running_loop().create_task(self._die_when_severed())
        try:
            await self.run(self._start)
        except (Killed, ProviderError):
            await self.kill()
            return False
        self.up = not self.dead.is_set()
        return self.up

    async def _start(self) -> None:
        await self.runtime.__aenter__()
        self.runtime.register(*self._flows)

    async def run(self, call: Callable[[], Coroutine[Any, Any, T]], name: str = "") -> T:
        """Run something in the process; under a name it must be answered when that stops.

        Raises:
            Killed: It died before that was done.
        """
        if self.dead.is_set():
            raise Killed
        loop = asyncio.get_running_loop()
        task = loop.create_task(call(), context=self._context)
        if name:
            self._calls[task] = name
            task.add_done_callback(self._calls.pop)
        await asyncio.wait([task])
        if task.cancelled():
            raise Killed
        return task.result()

    def errors(self, records: Iterable[RunRecord]) -> Iterator[str]:
        """Give what its engine has told of errors, of its own and of these runs."""
        for event in self._told(records):
            if event.kind == "engine_error":
                yield event.payload["error"]

    def refused_starts(self, records: Iterable[RunRecord]) -> Iterator[str]:
        """Give why its engine has refused to start SubFlows of these runs."""
        for event in self._told(records):
            if event.kind == "attempt_ended" and event.step_execution_id.startswith(SUBFLOW):
                failure = event.payload.get("failure", {"error_type": ""})
                if failure["error_type"].endswith(DefinitionError.__name__):
                    yield failure["detail"]

    def _told(self, records: Iterable[RunRecord]) -> Iterator[Event]:
        telemetry = getattr(self.runtime.engine, "telemetry", None)
        for run_id in ("", *(record.run_id for record in records)):
            yield from telemetry.events(run_id) if telemetry else ()

    async def stop(self) -> None:
        """Stop in order; it may die over that. All calls are answered then, if only by an error."""
        self.up = False
        with contextlib.suppress(Killed):
            await self.run(self.runtime.close)
            if self._calls and not self.dead.is_set():
                await asyncio.wait(self._calls, timeout=ANSWER)
            if not self.dead.is_set():
                self.unanswered += self._calls.values()
        await self.kill()

    async def _die_when_severed(self) -> None:
        await self.provider.severed.wait()
        await self.kill()

    async def kill(self) -> None:
        """End it as `kill -9` does: nothing of it runs any more, and its leases stand."""
        if self.dead.is_set():
            await self._gone.wait()
            return
        self.up = False
        self.dead.set()
        self.provider.sever()
        while self._tasks:
            # Again and again: what cleans up behind a cancellation must not wait either.
            for task in list(self._tasks):
                task.cancel()
            await asyncio.sleep(0)
        self._silence()
        self._end_threads()
        capture.uninstall(self.runtime.engine)
        collector.uninstall(self.runtime.engine)
        await self.provider.inner.close()
        self._killed()
        if self._watch is not None:
            self._watch.cancel()
        self._gone.set()

    def look(self) -> None:
        """Let it see that another process has changed the store, as its watch does in real time."""
        self._context.run(self.runtime.engine.endings.look)

    def _end_threads(self) -> None:
        """End its threads where they pause."""
        loop = asyncio.get_running_loop()
        for thread in list(loop.threads) if isinstance(loop, SteppedLoop) else ():
            if thread.context.get(_owner) is self:
                thread.kill()

    def _silence(self) -> None:
        """Cancel what it has asked its loop to call later."""
        loop: Any = asyncio.get_running_loop()
        for handle in list(loop._scheduled):  # noqa: SLF001 - no other way to a loop's timers
            if handle._context.get(_owner) is self:  # noqa: SLF001
                handle.cancel()
