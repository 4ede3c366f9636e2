"""`Session`: an engine on threads of its own, for notebooks and plain scripts.

The control loop has a daemon thread, async Steps another, so neither a busy cell nor a blocking
Step holds up the engine. Its methods are plain calls, `wait` is awaitable on any loop.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import contextlib
import warnings
from collections.abc import Callable, Coroutine
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from dexnb.clock import Clock, monotonic, seconds_of
from dexnb.engine.control import ControlThread
from dexnb.engine.engine import Engine
from dexnb.engine.options import RuntimeOptions, options_of
from dexnb.engine.runtime import Runtime, start_or_attach
from dexnb.engine.session_run import Run
from dexnb.errors import DexnbError, DexnbWarning, LoopBoundError, RuntimeClosed
from dexnb.flow.codecs import CodecRegistry
from dexnb.flow.flow import Flow
from dexnb.flow.start_options import StartFlowOptions
from dexnb.providers import Provider

T = TypeVar("T")

EXIT_SECONDS = 0.8


class Session:
    """Runs Flows on threads of its own.

    Args:
        make_provider: Makes the store; called on the control thread.
        clock: How time passes.
        options: Settings; defaults by default.
        name: Of the store, for people.
    """

    def __init__(
        self,
        make_provider: Callable[[], Provider],
        *,
        clock: Clock | None = None,
        options: RuntimeOptions | None = None,
        name: str = "",
    ) -> None:
        """Start the threads and open the store.

        Raises:
            DefinitionError: The options are none.
            ProviderError: The store cannot be opened.
        """
        self.clock = _served(clock or Clock.real())
        self.options = options_of(options)
        self.name = name
        self._ended = False
        self._control = ControlThread(self.clock.new_event_loop(), "dexnb-control")
        try:
            self._runtime: Runtime = self._control.call(self._open(make_provider))
        except BaseException:
            self._ended = True
            self._control.stop(0.0)
            raise
        atexit.register(self._at_exit)

    def __repr__(self) -> str:
        """Name the store and the clock: the same in every session."""
        state = "open" if self.is_open else "closed"
        return (
            f"<dexnb runtime {self.name or 'memory'} on the {self.clock.identity} clock, {state}>"
        )

    def __enter__(self) -> Self:
        """Give the session."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    @property
    def is_open(self) -> bool:
        """Tell whether it still works."""
        return not self._ended and self._control.alive

    def register(self, *flows: Flow[Any]) -> None:
        """Make Flows' code known, so that their open runs go on.

        Raises:
            FlowDefinitionError: A Flow cannot be used; lists every problem.
        """
        self.call(_soon(self._runtime.register, *flows))

    def register_codecs(self, codecs: CodecRegistry | None) -> None:
        """Add codecs, each in place of an earlier one for its type; the next attempts use them.

        Raises:
            DefinitionError: They are no CodecRegistry.
        """
        self.call(_soon(self._runtime.register_codecs, codecs))

    @property
    def codecs(self) -> CodecRegistry:
        """The codecs of your own by which it stores and reads."""
        return self._runtime.codecs

    def start(
        self,
        flow: Flow[Any],
        flow_id: str,
        input: Any = None,
        *,
        overrides: dict[str, Any] | None = None,
        options: StartFlowOptions | None = None,
    ) -> Run:
        """Start a run, or attach to the open one of that flow id; returns once it is committed.

        Attaching with another input than that run's gives a `DexnbWarning`: its own one stands.

        Args:
            flow: The Flow; it is registered.
            flow_id: Your name for what is waited for. A closed one starts a new run.
            input: For the start Step.
            overrides: Knob values of this run.
            options: What the start says beside the input. An `id_reuse_policy` other than DEFAULT
                holds as it does for a client.

        Raises:
            FlowDefinitionError: The Flow, the id or an option cannot be used.
            ValueMappingError: The input or an initial value does not fit.
            FlowAlreadyStartedError: The id has an open run of another Flow, or its policy protects
                the run that it has.
        """
        start = start_or_attach(self.engine, flow, flow_id, input, overrides, options)
        run, other = self.call(start)
        if other:
            # Here, not on the control thread, so that it names the line that started.
            warnings.warn(other, DexnbWarning, stacklevel=2)
        return Run(self, run)

    def get(self, flow_id: str) -> Run:
        """Give the newest run of a flow id.

        Raises:
            RunNotFound: There is none.
        """
        return Run(self, self.call(self._runtime.get(flow_id)))

    def runs(self, *, status: str = "", limit: int = 100) -> list[Run]:
        """Give runs, newest first."""
        runs = self.call(self._runtime.runs(status=status, limit=limit))
        return [Run(self, run) for run in runs]

    def now(self) -> float:
        """Give the engine's time, on which events are stamped."""
        return self._runtime.engine.provider.clock.lease()

    @property
    def is_broken(self) -> bool:
        """Tell whether its store was taken away, so that nothing can be read or written."""
        return self.is_open and self._runtime.engine.store_lost is not None

    def close(self, timeout: float = 10.0) -> None:
        """Stop in order: attempts are handed back, open runs go on at the next start.

        Args:
            timeout: Seconds after which the threads are left to themselves.

        Raises:
            DexnbError: It is called from the session's own control thread.
        """
        if self._control.here:
            message = "a session cannot be closed from its own control thread"
            raise DexnbError(message)
        timeout = seconds_of(timeout, name="close timeout")
        if self._ended:
            return
        self._ended = True
        if not self._control.alive:
            # Of a process that was forked from the session's: it is not ours to close.
            return
        atexit.unregister(self._at_exit)
        until = monotonic() + timeout
        try:
            with contextlib.suppress(
                TimeoutError, concurrent.futures.CancelledError, RuntimeClosed
            ):
                self._control.submit(self._runtime.close()).result(timeout)
        finally:
            self._control.stop(until - monotonic())

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the control loop, and wait for its answer.

        Raises:
            RuntimeClosed: The session is closed, or was closed meanwhile.
            LoopBoundError: It is called on a loop of its own Steps, which would stand still.
        """
        self._check_open(coroutine)
        if not self._control.here and self.engine.hosts.own_this_loop():
            coroutine.close()
            raise LoopBoundError(
                "an async Step or RPC has made a plain call to the session that runs it, and would "
                "hold the loop that the answer may need: call it in a thread, as in `await "
                "asyncio.to_thread(...)`, await a run's own wait(), or make the method a plain def"
            )
        return self._control.call(coroutine)

    async def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the control loop, and await its answer on any other.

        Raises:
            RuntimeClosed: The session is closed, or was closed meanwhile.
        """
        self._check_open(coroutine)
        return await self._control.wait(coroutine)

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Begin a coroutine on the control loop; for callers that must not wait.

        Raises:
            RuntimeClosed: The session is closed.
        """
        self._check_open(coroutine)
        return self._control.submit(coroutine)

    @property
    def runtime(self) -> Runtime:
        """The runtime; its methods belong to the control loop."""
        return self._runtime

    @property
    def engine(self) -> Engine:
        """The engine; its methods belong to the control loop."""
        return self._runtime.engine

    def _check_open(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        if not self.is_open:
            coroutine.close()
            raise self._control.ended()

    async def _open(self, make_provider: Callable[[], Provider]) -> Runtime:
        runtime = Runtime(make_provider(), options=self.options, own_step_thread=True)
        return await runtime.__aenter__()

    def _at_exit(self) -> None:
        self.close(EXIT_SECONDS)


async def _soon(call: Callable[..., T], *args: Any) -> T:
    return call(*args)


def _served(clock: Clock) -> Clock:
    """Let other threads wake a virtual loop, as the calls of this session do."""
    return replace(clock, external_wakeups=True) if clock.kind == "virtual" else clock
