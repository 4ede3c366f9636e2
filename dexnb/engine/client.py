"""`Client`: everything that code outside a run can ask of it, by plain calls."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from dexnb.engine.async_client import AsyncClient
from dexnb.engine.flow_info import FlowInfo, SearchFlowsPage
from dexnb.engine.session import Session
from dexnb.engine.stream_calls import StreamMessagesPage
from dexnb.errors import DefinitionError
from dexnb.flow.attribute_match import AttributeMatch
from dexnb.flow.client_options import (
    StepExecutionId,
    StopFlowOptions,
    TimerId,
    WaitForAttributeOptions,
    WaitForStepCompletionOptions,
)
from dexnb.flow.codecs import CodecRegistry
from dexnb.flow.flow import Flow
from dexnb.flow.flow_config import FlowConfig
from dexnb.flow.result import FlowResult
from dexnb.flow.rpc import RPCInvokeOptions
from dexnb.flow.start_options import StartFlowOptions
from dexnb.flow.stream import Stream, StreamMessage
from dexnb.flow.time_travel import TimeTravelOptions
from dexnb.model.arguments import of_type
from dexnb.model.shown import shown

T = TypeVar("T")


class Client:
    """Starts Flows and talks to their runs, from plain code and cells.

    Each method does what `AsyncClient`'s of the same name does, and raises the same: its arguments
    and errors are told there, as by `help(dexnb.AsyncClient.search_flows)`. It waits for the answer
    and stays interruptible. What an interrupted call had begun goes on.

    Args:
        session: An open one.
        flows: Flows to register.
        codecs: Codecs of your own that the session gets.
        release: Called once, when the client is closed; for whoever has opened the session.
    """

    def __init__(
        self,
        session: Session,
        *,
        flows: Iterable[Flow[Any]] = (),
        codecs: CodecRegistry | None = None,
        release: Callable[[], None] | None = None,
    ) -> None:
        """Use this session.

        Raises:
            DefinitionError: The session, the Flows or the codecs are none.
            FlowDefinitionError: A Flow cannot be used; lists every problem.
        """
        of_type(session, Session, "session", "what dexnb.open(...) gives")
        given = flows_of(flows)
        self._session = session
        self._release = release
        self._client = AsyncClient(session.runtime)
        session.register_codecs(codecs)
        session.register(*given)

    def __enter__(self) -> Self:
        """Give the client."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """End the client, and with it a session that it has opened and nobody else uses."""
        if self._session.is_open:
            self._call(self._client.close())
        release, self._release = self._release, None
        if release is not None:
            release()

    def start_flow(
        self,
        flow: Flow[Any],
        flow_id: str,
        input: Any = None,
        options: StartFlowOptions | None = None,
    ) -> str:
        """Start a run; give its id once the start is committed."""
        return self._call(self._client.start_flow(flow, flow_id, input, options))

    def invoke_rpc(
        self,
        rpc_method: Any,
        flow_id: str,
        input: Any = None,
        *,
        run_id: str = "",
        options: RPCInvokeOptions | None = None,
    ) -> Any:
        """Call an RPC of an open run; give its output."""
        return self._call(
            self._client.invoke_rpc(rpc_method, flow_id, input, run_id=run_id, options=options)
        )

    def publish(self, flow_id: str, channel: Any, value: Any, instance: str = "") -> None:
        """Put a message into a Channel of an open run."""
        self._call(self._client.publish(flow_id, channel, value, instance))

    def write_stream(
        self, flow_id: str, stream: Stream[Any] | str, source: str, value: Any
    ) -> None:
        """Append a message to a Stream, open or not; `source` is your name for who writes."""
        self._call(self._client.write_stream(flow_id, stream, source, value))

    def read_stream(
        self,
        flow_id: str,
        stream: Stream[Any] | str,
        resume_token: str = "",
        timeout: timedelta | float | None = None,
    ) -> StreamMessage:
        """Give the next message of a Stream, waiting for one if there is none yet."""
        return self._call(self._client.read_stream(flow_id, stream, resume_token, timeout))

    def list_stream_messages(
        self,
        flow_id: str,
        stream: Stream[Any] | str,
        page_size: int,
        before_page_token: str = "",
    ) -> StreamMessagesPage:
        """Give kept messages of a Stream, newest first, a page at a time."""
        return self._call(
            self._client.list_stream_messages(flow_id, stream, page_size, before_page_token)
        )

    def wait_for_flow(self, flow_id: str, timeout: timedelta | float | None = None) -> FlowResult:
        """Wait until the newest run of a flow id has ended; a failed one is a result too."""
        return self._call(self._client.wait_for_flow(flow_id, timeout))

    def stop_flow(self, flow_id: str, options: StopFlowOptions | None = None) -> None:
        """End an open run; CANCEL by default. Returns once it has ended."""
        self._call(self._client.stop_flow(flow_id, options))

    def describe_flow(self, flow_id: str) -> FlowInfo:
        """Give the newest run of a flow id in short."""
        return self._call(self._client.describe_flow(flow_id))

    def search_flows(
        self,
        query: str,
        page_size: int,
        next_page_token: str = "",
        *,
        include_continued_as_new: bool = False,
    ) -> SearchFlowsPage:
        """Find runs, newest first, a page at a time: `status = "FAILED" AND customer = "ACME"`.

        The language: fields of runs and indexed Attributes, `=`, `!=`, `<` and the like, AND, OR;
        all of it stands in `dexnb.engine.search` and `dexnb.engine.search_query`.
        """
        return self._call(self._client.search_flows(query, page_size, next_page_token))

    def time_travel(self, flow_id: str, options: TimeTravelOptions) -> str:
        """Go on from a point in the newest run's past, as a new run; give that run's id."""
        return self._call(self._client.time_travel(flow_id, options))

    def skip_timer(
        self, flow_id: str, step_execution_id: StepExecutionId, timer_id: TimerId
    ) -> None:
        """Let a Timer of a waiting Step count as fired."""
        self._call(self._client.skip_timer(flow_id, step_execution_id, timer_id))

    def wait_for_step_completion(
        self,
        flow_id: str,
        step_execution_id: StepExecutionId,
        options: WaitForStepCompletionOptions | None = None,
    ) -> None:
        """Wait until an execution of a Step has ended, well or not."""
        self._call(self._client.wait_for_step_completion(flow_id, step_execution_id, options))

    def wait_for_attribute_match(
        self,
        flow_id: str,
        attribute: Any,
        *instance_and_match: Any,
        match: AttributeMatch | None = None,
        options: WaitForAttributeOptions | None = None,
    ) -> Any:
        """Wait until an Attribute's value matches; give the value."""
        return self._call(
            self._client.wait_for_attribute_match(
                flow_id, attribute, *instance_and_match, match=match, options=options
            )
        )

    def update_flow_config(self, flow_id: str, config: FlowConfig) -> None:
        """Change what an open run asks of the runtime; what is left out stays."""
        self._call(self._client.update_flow_config(flow_id, config))

    def health_check(self) -> bool:
        """Give True if the session is open and its store answers."""
        return self._call(self._client.health_check())

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._session.call(coroutine)


def flows_of(given: Any) -> tuple[Any, ...]:
    """Give the Flows that a caller has given; whether each is one, their registration tells.

    Raises:
        DefinitionError: They are no list of any kind.
    """
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | type):
        return tuple(given)
    one = given if isinstance(given, type) else type(given)
    example = f"{one.__name__}()" if issubclass(one, Flow) else "YourFlow()"
    raise DefinitionError(f"flows is {shown(given)}: give a list, flows=[{example}]")
