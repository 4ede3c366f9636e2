"""`AsyncClient`: everything that code outside a run can ask of it, awaited."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from dexnb.clock import seconds_of
from dexnb.engine import run_calls, run_data, step_calls, stream_calls
from dexnb.engine.addressing import newest_run, open_run
from dexnb.engine.flow_info import FlowInfo, SearchFlowsPage, info_of
from dexnb.engine.limit import Limit
from dexnb.engine.rpc_call import invoke_rpc
from dexnb.engine.runtime import Runtime
from dexnb.engine.search import search_flows
from dexnb.engine.stream_calls import LONG_POLL_SECONDS, StreamMessagesPage
from dexnb.engine.time_travel import time_travel
from dexnb.errors import LoopBoundError, RuntimeClosed
from dexnb.flow.attribute_match import AttributeMatch, no_match
from dexnb.flow.client_options import (
    StepExecutionId,
    StopFlowOptions,
    TimerId,
    WaitForAttributeOptions,
    WaitForStepCompletionOptions,
)
from dexnb.flow.flow import Flow
from dexnb.flow.flow_config import FlowConfig
from dexnb.flow.result import FlowResult
from dexnb.flow.rpc import RPCInvokeOptions
from dexnb.flow.start_options import StartFlowOptions
from dexnb.flow.stream import Stream, StreamMessage
from dexnb.flow.time_travel import TimeTravelOptions
from dexnb.model.arguments import of_type
from dexnb.model.run_state import RunState

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


class AsyncClient:
    """Starts Flows and talks to their runs, on the loop of an open Runtime.

    Methods and options are Dex's. The constructor is not: there are no registry, blob cache and
    server address to give, because the runtime has the Flows' code and the store. RPCs run in this
    process, so that a method's own exception reaches its caller as it is.

    A flow id stands for its newest run. Calls that change a run return once the run's history has
    the change, so that whatever reads next sees it.

    Args:
        runtime: Open, on the running loop.
    """

    def __init__(self, runtime: Runtime) -> None:
        """Use this runtime; closing the client leaves it open.

        Raises:
            DefinitionError: It is none.
        """
        fix = "an open Runtime, or dexnb.Client(...) a session or an address"
        of_type(runtime, Runtime, "runtime", fix)
        self._runtime = runtime
        self._closed = False

    async def __aenter__(self) -> Self:
        """Give the client."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """End the client; the runtime goes on."""
        self._closed = True

    async def start_flow(
        self,
        flow: Flow[Any],
        flow_id: str,
        input: Any = None,
        options: StartFlowOptions | None = None,
    ) -> str:
        """Start a run; give its id once the start is committed. The Flow is registered.

        Args:
            flow: The Flow.
            flow_id: Your name for what is waited for; one that was used before is refused, unless
                the options' `id_reuse_policy` says otherwise.
            input: For the start Step.
            options: What the start says beside it.

        Raises:
            FlowDefinitionError: The Flow, the id or an option cannot be used.
            ValueMappingError: The input or an initial value does not fit.
            FlowAlreadyStartedError: The policy protects the run that the id has.
        """
        started = await self._engine.start_flow(flow, flow_id, input, None, options, attach=False)
        return started.run_id

    async def invoke_rpc(
        self,
        rpc_method: Any,
        flow_id: str,
        input: Any = None,
        *,
        run_id: str = "",
        options: RPCInvokeOptions | None = None,
    ) -> Any:
        """Call an RPC of an open run; give its output.

        Plain methods run in a thread, async ones on the loop of the Steps. One that only reads
        leaves nothing in the history.

        Args:
            rpc_method: A method under `@rpc`, of the class or of an instance; or its name.
            flow_id: Whose run is called.
            input: For a method that takes one.
            run_id: Of a certain run; the newest one by default.
            options: Instances that this call locks and loads beside what `@rpc(...)` says.

        Raises:
            FlowNotActiveOrNotFoundError: There is no open run, or it ended meanwhile.
            RpcLockConflictError: What it locks is held, or the run changed under a transactional
                one again and again.
            RequestTimeoutError: It took longer than its timeout.
            ChannelMessageNotFoundError: A transactional one deleted a message that is not pending.
            DefinitionError: The method is no RPC of the run's Flow, or that is not registered here.
            ValueMappingError: The input does not fit.
            Exception: Whatever the method raises; nothing is written then.
        """
        return await invoke_rpc(
            self._engine, rpc_method, flow_id, input, run_id=run_id, options=options
        )

    async def publish(self, flow_id: str, channel: Any, value: Any, instance: str = "") -> None:
        """Put a message into a Channel of an open run.

        Args:
            flow_id: Whose run.
            channel: The Channel or ChannelMap, or its name.
            value: The message.
            instance: Of a ChannelMap.

        Raises:
            FlowNotActiveOrNotFoundError: There is no open run, or it ended meanwhile.
            DefinitionError: The Flow does not list the Channel, or the instance does not fit.
            ValueMappingError: The value is of another type or cannot be stored.
        """
        record = await open_run(self._engine, flow_id)
        await run_data.publish(self._engine, record, channel, value, instance)

    async def write_stream(
        self, flow_id: str, stream: Stream[Any] | str, source: str, value: Any
    ) -> None:
        """Append a message to a Stream, open or not; `source` is your name for who writes.

        Raises:
            FlowNotFoundError: The flow id was never started.
            DefinitionError: The Flow does not list the Stream, or the source cannot be one.
            ValueMappingError: The value is of another type, cannot be stored, or never fits.
        """
        record = await newest_run(self._engine, flow_id)
        await stream_calls.write_stream(self._engine, record, stream, source, value)

    async def read_stream(
        self,
        flow_id: str,
        stream: Stream[Any] | str,
        resume_token: str = "",
        timeout: timedelta | float | None = None,
    ) -> StreamMessage:
        """Give the next message of a Stream, waiting for one if there is none yet.

        Args:
            flow_id: Whose messages.
            stream: The Stream, or its name.
            resume_token: Of the message before; empty, or of one that was trimmed since, for the
                oldest that is kept.
            timeout: How long to wait; a minute by default.

        Raises:
            FlowNotFoundError: The flow id was never started.
            LongPollTimeoutError: No message came.
            DefinitionError: The Flow does not list the Stream, or the token is none.
        """
        seconds = LONG_POLL_SECONDS if timeout is None else seconds_of(timeout, name="timeout")
        limit = Limit.of_poll(seconds)
        record = await limit.newest_run(self._engine, flow_id)
        return await stream_calls.read_stream(self._engine, record, stream, resume_token, limit)

    async def list_stream_messages(
        self,
        flow_id: str,
        stream: Stream[Any] | str,
        page_size: int,
        before_page_token: str = "",
    ) -> StreamMessagesPage:
        """Give kept messages of a Stream, newest first, a page at a time.

        Raises:
            FlowNotFoundError: The flow id was never started.
            DefinitionError: The Flow does not list the Stream, or the token or size is none.
        """
        record = await newest_run(self._engine, flow_id)
        return await stream_calls.list_stream_messages(
            self._engine, record, stream, page_size, before_page_token
        )

    async def wait_for_flow(
        self, flow_id: str, timeout: timedelta | float | None = None
    ) -> FlowResult:
        """Wait until the newest run of a flow id has ended; a failed one is a result too.

        Raises:
            FlowNotFoundError: The flow id was never started.
            LongPollTimeoutError: It runs on after the timeout.
        """
        seconds = None if timeout is None else seconds_of(timeout, name="timeout")
        limit = Limit.of_poll(seconds)
        record = await limit.newest_run(self._engine, flow_id)
        return await run_calls.wait_for_run(self._engine, record, limit)

    async def stop_flow(self, flow_id: str, options: StopFlowOptions | None = None) -> None:
        """End an open run; CANCEL by default. Returns once it has ended.

        Raises:
            FlowNotActiveOrNotFoundError: There is no open run.
        """
        options = StopFlowOptions() if options is None else options
        of_type(options, StopFlowOptions, "stop_flow options", "StopFlowOptions(...)")
        record = await open_run(self._engine, flow_id)
        await run_calls.stop_run(self._engine, record, options)

    async def describe_flow(self, flow_id: str) -> FlowInfo:
        """Give the newest run of a flow id in short.

        Raises:
            FlowNotFoundError: The flow id was never started.
        """
        record = await newest_run(self._engine, flow_id)
        return info_of(RunState.from_text(record.state))

    async def search_flows(
        self,
        query: str,
        page_size: int,
        next_page_token: str = "",
        *,
        include_continued_as_new: bool = False,
    ) -> SearchFlowsPage:
        """Find runs, newest first, a page at a time: `status = "FAILED" AND customer = "ACME"`.

        Fields, comparisons and the rest of the language stand in `dexnb.engine.search` and
        `dexnb.engine.search_query`.

        Args:
            query: What to find; an empty one finds every run.
            page_size: Runs at most.
            next_page_token: Of the page before.
            include_continued_as_new: Taken for code that gives it; no run here is continued as
                another one.

        Raises:
            DefinitionError: The query cannot be read, or asks what no run can tell; the text names
                the place.
        """
        return await search_flows(self._engine, query, page_size, next_page_token)

    async def time_travel(self, flow_id: str, options: TimeTravelOptions) -> str:
        """Go on from a point in the newest run's past, as a new run; give that run's id.

        A run that is open is terminated first. Messages and RPCs' writes from outside that came
        behind the point are written again, unless the options say otherwise. A run whose SubFlow
        it is waits for the end of the new run.

        Raises:
            FlowNotFoundError: The flow id was never started.
            DefinitionError: The run has no such point, or had ended by then.
            FlowAlreadyStartedError: Somebody else started a run of that flow id meanwhile.
            ProviderError: The store cannot do it. If the open run has been terminated by then, the
                text says so, and that calling again works.
        """
        return await time_travel(self._engine, await newest_run(self._engine, flow_id), options)

    async def skip_timer(
        self, flow_id: str, step_execution_id: StepExecutionId, timer_id: TimerId
    ) -> None:
        """Let a Timer of a waiting Step count as fired.

        Raises:
            FlowNotActiveOrNotFoundError: There is no open run, or it ended meanwhile.
            DefinitionError: The execution does not wait, or has no such Timer.
        """
        record = await open_run(self._engine, flow_id)
        await step_calls.skip_timer(self._engine, record, step_execution_id, timer_id)

    async def wait_for_step_completion(
        self,
        flow_id: str,
        step_execution_id: StepExecutionId,
        options: WaitForStepCompletionOptions | None = None,
    ) -> None:
        """Wait until an execution of a Step has ended, well or not; it need not have begun.

        Raises:
            FlowNotFoundError: The flow id was never started.
            FlowNotActiveOrNotFoundError: The run ended without that execution.
            RequestTimeoutError: It took longer than `request_timeout`.
        """
        options = WaitForStepCompletionOptions() if options is None else options
        fix = "WaitForStepCompletionOptions(...)"
        of_type(options, WaitForStepCompletionOptions, "options", fix)
        limit = Limit.of_request(options.seconds)
        record = await limit.newest_run(self._engine, flow_id)
        await step_calls.wait_for_step_completion(self._engine, record, step_execution_id, limit)

    async def wait_for_attribute_match(
        self,
        flow_id: str,
        attribute: Any,
        *instance_and_match: Any,
        match: AttributeMatch | None = None,
        options: WaitForAttributeOptions | None = None,
    ) -> Any:
        """Wait until an Attribute's value matches; give the value.

        Written as `(flow_id, attribute, match)` or `(flow_id, attribute_map, instance, match)`,
        each with options behind if there are any.

        Raises:
            FlowNotFoundError: The flow id was never started.
            FlowNotActiveOrNotFoundError: The run ended without a match.
            RequestTimeoutError: It took longer than `request_timeout`.
            DefinitionError: The Flow does not list the Attribute, or it could never match.
        """
        instance, match, options = _wanted(instance_and_match, match, options)
        limit = Limit.of_request(options.seconds)
        record = await limit.newest_run(self._engine, flow_id)
        return await run_data.matched_value(self._engine, record, attribute, instance, match, limit)

    async def update_flow_config(self, flow_id: str, config: FlowConfig) -> None:
        """Change what an open run asks of the runtime; what is left out stays.

        Raises:
            FlowNotActiveOrNotFoundError: There is no open run, or it ended meanwhile.
            DefinitionError: A value cannot hold.
        """
        document = run_calls.read_config(config)
        record = await open_run(self._engine, flow_id)
        await run_calls.update_config(self._engine, record, document)

    async def health_check(self) -> bool:
        """Give True if the runtime is open and its store answers.

        Raises:
            RuntimeClosed: The client or the runtime is closed.
            ProviderError: The store does not answer.
        """
        await self._engine.ask(self._engine.provider.queue_depths)
        return True

    @property
    def _engine(self) -> Engine:
        if self._closed:
            raise RuntimeClosed("the client is closed: make a new one on the same runtime")
        engine = self._runtime.engine
        engine.check_open()
        if engine.control.loop is not asyncio.get_running_loop():
            raise LoopBoundError(
                "this AsyncClient belongs to the event loop of its runtime: await it there, or use "
                "dexnb.Client(session), whose plain calls work everywhere"
            )
        return engine


def _wanted(
    given: tuple[Any, ...], match: Any, options: Any
) -> tuple[str, AttributeMatch, WaitForAttributeOptions]:
    """Read the two forms in which a match is asked for."""
    rest = list(given)
    if options is None and rest and isinstance(rest[-1], WaitForAttributeOptions):
        options = rest.pop()
    if match is None and rest and isinstance(rest[-1], AttributeMatch):
        match = rest.pop()
    if len(rest) > 1 or not isinstance(match, AttributeMatch):
        raise no_match(rest[-1] if match is None and rest else match)
    options = WaitForAttributeOptions() if options is None else options
    of_type(options, WaitForAttributeOptions, "options", "WaitForAttributeOptions(...)")
    return (rest[0] if rest else ""), match, options
