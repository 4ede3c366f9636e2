"""The Context objects that Step methods get, over an `Attempt`."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from datetime import UTC, datetime
from typing import Any, TypeVar

from dexnb.engine.attempt import Attempt
from dexnb.errors import InvalidStepResultError, ValueMappingError
from dexnb.flow.context import AsyncContext, Context, RecoveryErrorInfo
from dexnb.flow.output import OMITTED, StepOutput, encode_checkpoint
from dexnb.flow.stream import Stream
from dexnb.flow.typed import decode
from dexnb.model.json_text import from_text
from dexnb.model.message import Failure

ValueT = TypeVar("ValueT")


class StepContext(Context):
    """The context of plain sync Steps and of generators."""

    def __init__(self, attempt: Attempt) -> None:
        """Speak for this attempt."""
        self._attempt = attempt
        # The value at the start: a Step's own beats are no earlier attempt's checkpoint.
        self._last_checkpoint = attempt.checkpoint
        self.unused: list[Any] = []

    @property
    def flow_id(self) -> str:
        """The Flow's id."""
        return self._attempt.item.flow_id

    @property
    def run_id(self) -> str:
        """This run of the Flow."""
        return self._attempt.item.run_id

    @property
    def step_execution_id(self) -> str:
        """This execution of the Step."""
        return self._attempt.item.step_execution_id

    @property
    def from_step_execution_id(self) -> str:
        """The execution that led here."""
        return self._attempt.payload.from_step_execution_id

    @property
    def recovery_error(self) -> RecoveryErrorInfo | None:
        """Why the failed Step ended."""
        return _error_info(self._attempt.payload.recovery_error)

    @property
    def first_attempt_at(self) -> datetime:
        """When the first attempt was delivered."""
        seconds = int(self._attempt.item.first_attempt_at or 0)
        return datetime.fromtimestamp(seconds, UTC)

    @property
    def attempt(self) -> int:
        """This attempt's number."""
        return self._attempt.item.attempt

    def has_last_heartbeat_value(self) -> bool:
        """Tell whether an earlier attempt left a checkpoint."""
        return self._last_checkpoint is not None

    def get_last_heartbeat_value(self, value_type: type[ValueT]) -> ValueT | None:
        """Give the checkpoint that an earlier attempt left."""
        if self._last_checkpoint is None:
            return None
        document = from_text(self._last_checkpoint, "checkpoint")
        if document is None:
            return None
        value: ValueT = decode(document, value_type, f"checkpoint of {self._attempt.who}")
        return value

    def is_cancellation_requested(self) -> bool:
        """Tell whether this attempt is over."""
        return self._attempt.closing is not None

    def write_stream(self, stream: Stream[Any], text: str) -> StepOutput | None:
        """Take an encoded message."""
        self._check_registered(stream)
        if self._attempt.step.handler.mode == "generator":
            return StepOutput.message(stream, text)
        self._attempt.write_stream(stream, text)
        return None

    def deliver(self, output: StepOutput) -> None:
        """Take what a generator Step yielded."""
        if output in self.unused:
            self.unused.remove(output)
        if output.kind == "heartbeat":
            self._attempt.beat(output.checkpoint)
        else:
            self._check_registered(output.stream)
            self._attempt.write_stream(output.stream, output.text or "")

    def made(self, output: StepOutput) -> None:
        """Remember an output until it is yielded.

        Raises:
            InvalidStepResultError: This Step has no way to yield it.
        """
        if self._attempt.step.handler.mode != "generator":
            fix = (
                "await context.heartbeat(...)"
                if self._attempt.step.handler.mode == "async"
                else "make the Step a generator and yield heartbeat(...)"
            )
            raise self.invalid(f"heartbeat(...) makes an output that is lost here: {fix}")
        self.unused.append(output)

    def check_unused(self) -> None:
        """Refuse outputs that were made and never used.

        Raises:
            InvalidStepResultError: There are such.
        """
        if self.unused:
            kinds = ", ".join(sorted({output.kind for output in self.unused}))
            detail = f"{len(self.unused)} output(s) ({kinds}) were made and never "
            raise self.invalid(detail + self._use)

    _use = "yielded: write `yield heartbeat(...)` and `yield stream.write(...)`"

    def invalid(self, detail: str) -> InvalidStepResultError:
        """Make the error that names this Step."""
        item = self._attempt.item
        return InvalidStepResultError(item.flow_type, item.step_type, "execute", detail)

    def _check_registered(self, stream: Stream[Any]) -> None:
        flow = self._attempt.flow
        if stream.name not in flow.streams:
            names = ", ".join(sorted(flow.streams)) or "none"
            detail = (
                f"is not registered with Flow {flow.flow_type}; its Streams: {names}; "
                "list it in get_persistence_schema()"
            )
            raise ValueMappingError(f"Stream {stream.name} write", detail)


class AsyncStepContext(StepContext, AsyncContext):
    """The context of async Steps."""

    _use = "awaited: write `await context.heartbeat(...)`"

    def heartbeat(self, value: object = OMITTED) -> Awaitable[None]:
        """Show that the attempt lives; must be awaited."""
        self.check_unused()
        beat = _Beat(self, encode_checkpoint(value))
        self.unused.append(beat)
        return beat

    def used(self, beat: _Beat) -> None:
        """Take an awaited heartbeat."""
        if beat in self.unused:
            self.unused.remove(beat)
        self._attempt.beat(beat.checkpoint)


class _Beat:
    """A heartbeat that counts once it is awaited."""

    __slots__ = ("_context", "checkpoint")
    kind = "heartbeat"

    def __init__(self, context: AsyncStepContext, checkpoint: str | None) -> None:
        self._context = context
        self.checkpoint = checkpoint

    def __await__(self) -> Generator[Any, None, None]:
        self._context.used(self)
        return
        yield


def _error_info(failure: Failure | None) -> RecoveryErrorInfo | None:
    if failure is None:
        return None
    return RecoveryErrorInfo(failure.detail, failure.error_type, _error_info(failure.last_error))
