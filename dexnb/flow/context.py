"""`Context`: what a Step method is told about its attempt, and how it shows that it lives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from dexnb.errors import ContextCallError, DefinitionError
from dexnb.flow.output import OMITTED, StepOutput
from dexnb.model.shown import shown

if TYPE_CHECKING:
    from dexnb.flow.data import FlowData
    from dexnb.flow.stream import Stream

ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class RecoveryErrorInfo:
    """Why the Step that led to a recovery Step ended.

    Args:
        detail: The error's text, or the sentence of a timeout.
        error_type: `module.QualName` of an exception, or `StartToClose`, `Heartbeat`,
            `ScheduleToClose`, `WorkerLost`.
        last_error: The last error of the Step's own code, where the attempt ended otherwise.
    """

    detail: str
    error_type: str
    last_error: RecoveryErrorInfo | None = None


class Context(ABC):
    """What a sync Step method gets as its first parameter."""

    @property
    @abstractmethod
    def flow_id(self) -> str:
        """The Flow's id: stable over retries, so the right name for an idempotent request."""

    @property
    @abstractmethod
    def run_id(self) -> str:
        """This run of the Flow."""

    @property
    @abstractmethod
    def step_execution_id(self) -> str:
        """This execution of the Step: `StepType-N`."""

    @property
    @abstractmethod
    def from_step_execution_id(self) -> str:
        """The execution that led here; empty for the start Step."""

    @property
    @abstractmethod
    def recovery_error(self) -> RecoveryErrorInfo | None:
        """Why the failed Step ended, in a recovery Step; None elsewhere."""

    @property
    @abstractmethod
    def first_attempt_at(self) -> datetime:
        """When the first attempt was delivered (UTC, whole seconds): the same for all retries."""

    @property
    @abstractmethod
    def attempt(self) -> int:
        """This attempt's number, from 1."""

    @property
    @abstractmethod
    def data(self) -> FlowData:
        """The Flow's data as this call sees it; Attributes and Channels work through it."""

    @abstractmethod
    def has_last_heartbeat_value(self) -> bool:
        """Tell whether an earlier attempt left a checkpoint (None counts as one)."""

    @abstractmethod
    def get_last_heartbeat_value(self, value_type: type[ValueT]) -> ValueT | None:
        """Give the checkpoint that an earlier attempt left, or None without one.

        Raises:
            ValueMappingError: The checkpoint is no `value_type`.
        """

    @abstractmethod
    def is_cancellation_requested(self) -> bool:
        """Tell whether this attempt was cancelled or timed out: what it still writes is refused."""

    def has_timer_fired(self, index: int | None = None) -> bool:
        """Tell whether a Timer of this Step's wait has fired, or any of them without an index.

        The index counts the Timers alone, from 0, as the wait lists them. Without a wait, and
        after one that failed, none has.

        Raises:
            ContextCallError: The wait has no Timer of that index, or this is no Step.
        """
        return self.data.wait_results("has_timer_fired").has_timer_fired(index)

    def wait_for_method_failed(self) -> bool:
        """Tell whether wait_for failed for good and its policy lets execute run nevertheless.

        Raises:
            ContextCallError: This is no Step.
        """
        return self.data.wait_results("wait_for_method_failed").failed

    def set_step_execution_local(self, key: str, value: object) -> None:
        """Keep a value for this Step execution alone: what wait_for sets, its execute can get.

        Raises:
            ContextCallError: This is no Step.
            DefinitionError: The key is no printable, non-empty str.
            ValueMappingError: The value cannot be stored.
        """
        self.data.set_local(key, value)

    def get_step_execution_local(self, key: str, value_type: type[ValueT]) -> ValueT | None:
        """Give a value that this Step execution has set, in this method or before; else None.

        Raises:
            ContextCallError: This is no Step.
            ValueMappingError: The value is no `value_type`.
        """
        return self.data.get_local(key, value_type)

    def record_event(self, name: str, value: object) -> None:
        """Put an event of your own into the Flow's history, once for each name in a call.

        Raises:
            ContextCallError: This call has recorded one of that name (a ValueError too).
            DefinitionError: The name is no printable, non-empty str.
            ValueMappingError: The value cannot be stored.
        """
        self.data.record_event(name, value)

    def on_return(self, flush: Callable[[], Iterable[StepOutput]]) -> None:
        """Call `flush` when the method returns, from `Stream.buffered_text`; not for direct use.

        Raises:
            ContextCallError: This is no Step.
        """
        raise ContextCallError("buffered_text", "is for the methods of Steps: write from a Step")

    @abstractmethod
    def write_stream(self, stream: Stream[Any], text: str) -> StepOutput | None:
        """Take an encoded message from `Stream.write`; not for direct use."""


class AsyncContext(Context):
    """What an async Step method gets as its first parameter."""

    @abstractmethod
    def heartbeat(self, value: object = OMITTED) -> Coroutine[Any, Any, None]:
        """Show that the attempt lives; must be awaited.

        With a value, that is the new checkpoint (None too); without one, the checkpoint is cleared.

        Raises:
            ValueMappingError: The value cannot be stored; the checkpoint before it stays.
            asyncio.CancelledError: The attempt is over.
        """


def checked(context: Context, operation: str) -> Context:
    """Give back the context of a call that works through one.

    Raises:
        DefinitionError: It is none.
    """
    given: object = context
    if not isinstance(given, Context):
        fix = "give the context that the method got"
        raise DefinitionError(f"{operation} context is {shown(given)}: {fix}")
    return given
