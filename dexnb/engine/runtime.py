"""`Runtime`: an engine on the caller's own loop, for scripts and services."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Any, Self, get_args

from dexnb.engine.engine import Engine
from dexnb.engine.options import RuntimeOptions, options_of
from dexnb.engine.other_input import other_input
from dexnb.engine.run import AsyncRun
from dexnb.errors import DexnbWarning, RunNotFound, RuntimeClosed
from dexnb.flow.codecs import CodecRegistry
from dexnb.flow.flow import Flow
from dexnb.flow.start_options import StartFlowOptions
from dexnb.model.arguments import of_type, one_of, whole
from dexnb.model.run_state import RunStatus
from dexnb.model.shown import shown
from dexnb.providers import Provider


class Runtime:
    """Runs Flows on the running loop: `async with Runtime(provider) as rt: ...`.

    Steps share the loop with the caller. Time passes as the loop's clock says (`Clock.of`).

    Args:
        provider: The store; opened and closed by the runtime.
        options: Settings; defaults by default.
        own_step_thread: Run async Steps on a thread of their own, apart from the engine.
        codecs: Codecs of your own, for types that cannot be stored by themselves.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        options: RuntimeOptions | None = None,
        own_step_thread: bool = False,
        codecs: CodecRegistry | None = None,
    ) -> None:
        """Prepare; entering the block starts.

        Raises:
            DefinitionError: The options or the codecs are none.
        """
        self.options = options_of(options)
        self.name = type(provider).__name__
        """What to show as its store."""
        self.engine = Engine(provider, self.options, own_step_thread=own_step_thread)
        self.register_codecs(codecs)

    def __repr__(self) -> str:
        """Name the store."""
        try:
            self.engine.check_open()
        except RuntimeClosed:
            return f"<dexnb runtime {self.name}, closed>"
        return f"<dexnb runtime {self.name}, open>"

    async def __aenter__(self) -> Self:
        """Open the store and start to work."""
        await self.engine.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop in order."""
        await self.close()

    async def close(self) -> None:
        """Stop in order: attempts are handed back, open runs go on at the next start."""
        await self.engine.stop()

    def register(self, *flows: Flow[Any]) -> None:
        """Make Flows' code known, so that their open runs go on.

        Raises:
            FlowDefinitionError: A Flow cannot be used; lists every problem.
        """
        for flow in flows:
            self.engine.register(flow)

    def register_codecs(self, codecs: CodecRegistry | None) -> None:
        """Add codecs, each in place of an earlier one for its type; the next attempts use them.

        Raises:
            DefinitionError: They are no CodecRegistry.
        """
        self.engine.registry.register_codecs(codecs)

    @property
    def codecs(self) -> CodecRegistry:
        """The codecs of your own by which it stores and reads."""
        return self.engine.registry.codecs

    async def start(
        self,
        flow: Flow[Any],
        flow_id: str,
        input: Any = None,
        *,
        overrides: dict[str, Any] | None = None,
        options: StartFlowOptions | None = None,
    ) -> AsyncRun:
        """Start a run, or attach to the open one of that flow id.

        Attaching with another input than that run's gives a `DexnbWarning`: its own one stands.

        Args:
            flow: The Flow; it is registered.
            flow_id: Your name for what is waited for.
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
        run, other = await start_or_attach(self.engine, flow, flow_id, input, overrides, options)
        if other:
            warnings.warn(other, DexnbWarning, stacklevel=2)
        return run

    async def get(self, flow_id: str) -> AsyncRun:
        """Give the newest run of a flow id.

        Raises:
            RunNotFound: There is none.
        """
        of_type(flow_id, str, "flow_id", "the text that the run was started with")
        record = await self.engine.record(flow_id=flow_id)
        if record is None:
            message = f"no run of flow id {shown(flow_id)} is in this store"
            raise RunNotFound(message)
        return AsyncRun(self.engine, flow_id, record.run_id, record.flow_type)

    async def runs(self, *, status: str = "", limit: int = 100) -> list[AsyncRun]:
        """Give runs, newest first.

        Args:
            status: RUNNING, COMPLETED, FAILED, CANCELED or TERMINATED; all by default.
            limit: At most how many.
        """
        one_of(status, ("", *get_args(RunStatus)), "status")
        whole(limit, "limit", least=1)
        provider = self.engine.provider
        records = await self.engine.ask(lambda: provider.list_runs(status=status, limit=limit))
        return [AsyncRun(self.engine, r.flow_id, r.run_id, r.flow_type) for r in records]


async def start_or_attach(
    engine: Engine,
    flow: Flow[Any],
    flow_id: str,
    input: Any,
    overrides: dict[str, Any] | None,
    options: StartFlowOptions | None,
) -> tuple[AsyncRun, str]:
    """Do what `Runtime.start` does; give what to warn of as a text, for who knows the caller.

    Raises:
        DexnbError: As `Runtime.start`.
    """
    started = await engine.start_flow(flow, flow_id, input, overrides, options)
    run = AsyncRun(engine, flow_id, started.run_id, flow.get_flow_type())
    registered = engine.registry.get(run.flow_type)
    if started.created or registered is None:
        return run, ""
    state = await run.state()
    return run, engine.registry.codecs.call(other_input, state, registered, input)
