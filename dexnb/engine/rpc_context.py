"""`RpcContext`: what an RPC's method gets as its first parameter."""

from __future__ import annotations

from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

from dexnb.errors import ContextCallError
from dexnb.flow.context import AsyncContext, RecoveryErrorInfo
from dexnb.flow.data import FlowData
from dexnb.flow.output import OMITTED, StepOutput
from dexnb.flow.stream import Stream
from dexnb.model.run_state import RunState

ValueT = TypeVar("ValueT")


class RpcContext(AsyncContext):
    """Attributes, Channels and events of the run; what only a Step has is refused by name.

    An RPC is no Step's execution: its ids of such are empty.

    Args:
        state: The run, as it stands when the call begins.
        data: Its data, and the call's own writes.
        attempt: Which try of the call this is; a transactional one may be made again.
        began_at: Store time at which the call began.
    """

    def __init__(self, state: RunState, data: FlowData, attempt: int, began_at: float) -> None:
        """Speak for this try."""
        self._flow_id = state.flow_id
        self._run_id = state.run_id
        self._data = data
        self._attempt = attempt
        self._began_at = began_at
        self.over = False

    @property
    def flow_id(self) -> str:
        """The Flow's id."""
        return self._flow_id

    @property
    def run_id(self) -> str:
        """The run that was called."""
        return self._run_id

    @property
    def step_execution_id(self) -> str:
        """Empty: no Step runs this."""
        return ""

    @property
    def from_step_execution_id(self) -> str:
        """Empty: no Step led here."""
        return ""

    @property
    def recovery_error(self) -> RecoveryErrorInfo | None:
        """None: this is no recovery."""
        return None

    @property
    def first_attempt_at(self) -> datetime:
        """When the call began."""
        return datetime.fromtimestamp(int(self._began_at), UTC)

    @property
    def attempt(self) -> int:
        """This try's number, from 1."""
        return self._attempt

    @property
    def data(self) -> FlowData:
        """The Flow's data as this call sees it."""
        return self._data

    def is_cancellation_requested(self) -> bool:
        """Tell whether nobody waits for this call any more: what it still writes is dropped."""
        return self.over

    def end(self) -> None:
        """Refuse every later use of the data: the method has ended, or nobody waits for it."""
        self.over = True
        self._data.close()

    def heartbeat(self, value: object = OMITTED) -> Coroutine[Any, Any, None]:
        """Refuse what only Steps have.

        Raises:
            ContextCallError: Always.
        """
        _refuse("heartbeat")

    def has_last_heartbeat_value(self) -> bool:
        """Refuse what only Steps have.

        Raises:
            ContextCallError: Always.
        """
        _refuse("has_last_heartbeat_value")

    def get_last_heartbeat_value(self, value_type: type[ValueT]) -> ValueT | None:
        """Refuse what only Steps have.

        Raises:
            ContextCallError: Always.
        """
        _refuse("get_last_heartbeat_value")

    def write_stream(self, stream: Stream[Any], text: str) -> StepOutput | None:
        """Refuse what only Steps have.

        Raises:
            ContextCallError: Always.
        """
        _refuse(f"Stream {stream.name} write")

    def made(self, output: StepOutput) -> None:
        """Refuse a heartbeat(...) that was made to be yielded.

        Raises:
            ContextCallError: Always.
        """
        _refuse("heartbeat")


def _refuse(operation: str) -> NoReturn:
    fix = "needs the context of a Step: an RPC has Attributes, Channels and record_event"
    raise ContextCallError(operation, fix)
