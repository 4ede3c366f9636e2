"""The Context objects that Step methods get, over an `Attempt`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

from dexnb.engine.attempt import Attempt
from dexnb.errors import InvalidStepResultError, ValueMappingError
from dexnb.flow.context import AsyncContext, Context, RecoveryErrorInfo
from dexnb.flow.data import FlowData
from dexnb.flow.output import OMITTED, StepOutput, encode_checkpoint
from dexnb.flow.stream import Stream
from dexnb.flow.typed import decode
from dexnb.model.decision import Failure
from dexnb.model.json_text import from_text

ValueT = TypeVar("ValueT")


class StepContext(Context):
    """The context of plain sync Steps and of generators."""

    def __init__(self, attempt: Attempt) -> None:
        """Speak for this attempt."""
        self._attempt = attempt
        # The value at the start: a Step's own beats are no earlier attempt's checkpoint.
        self._last_checkpoint = attempt.checkpoint
        self.unused: list[StepOutput] = []
        self._at_return: list[Callable[[], Iterable[StepOutput]]] = []
        attempt.context = self
        self._data: FlowData | None = None
        self._ended = False

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

    @property
    def data(self) -> FlowData:
        """The Flow's data as this attempt sees it."""
        if self._data is None:
            payload = self._attempt.payload
            self._data = FlowData(
                self._attempt.flow.persistence,
                payload.snapshot,
                results=payload.results,
                local_values=payload.local_values,
            )
            if self._ended:
                self._data.close()
        return self._data

    def writes(self) -> dict[str, Any]:
        """Give what the method has changed, when it has ended; most change nothing."""
        self.end()
        return {} if self._data is None else self._data.writes()

    def end(self) -> None:
        """Refuse every later use of the data: the method has ended."""
        self._ended = True
        if self._data is not None:
            self._data.close()

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
        if self._attempt.handler.mode == "generator":
            return StepOutput.message(stream, text)
        self._attempt.write_stream(stream, text)
        return None

    def on_return(self, flush: Callable[[], Iterable[StepOutput]]) -> None:
        """Deliver what `flush` gives when the method returns."""
        self._at_return.append(flush)

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
        mode = self._attempt.handler.mode
        if mode != "generator":
            raise self.invalid(f"heartbeat(...) makes an output that is lost here: {_FIXES[mode]}")
        self.unused.append(output)

    def heartbeat(self, value: object = OMITTED) -> Any:
        """Refuse what only async Steps have.

        Raises:
            InvalidStepResultError: Always; the text says how this Step beats.
        """
        fix = _FIXES[self._attempt.handler.mode]
        raise self.invalid(f"context.heartbeat(...) is for async Steps: {fix}")

    def lost_outputs(self) -> InvalidStepResultError | None:
        """Give the error of outputs that were made and never used, if there are such."""
        if not self.unused:
            return None
        kinds = ", ".join(sorted({output.kind for output in self.unused}))
        return self.invalid(
            f"{len(self.unused)} output(s) ({kinds}) were made and never yielded: "
            "write `yield heartbeat(...)` and `yield stream.write(...)`"
        )

    def finish(self) -> None:
        """Write what is buffered, and refuse outputs that were made and never used.

        Raises:
            InvalidStepResultError: There are such.
        """
        for flush in self._at_return:
            for output in flush():
                self.deliver(output)
        if (error := self.lost_outputs()) is not None:
            raise error

    def invalid(self, detail: str) -> InvalidStepResultError:
        """Make the error that names this Step."""
        item = self._attempt.item
        return InvalidStepResultError(
            item.flow_type, item.step_type, self._attempt.payload.method, detail
        )

    def _check_registered(self, stream: Stream[Any]) -> None:
        flow = self._attempt.flow
        if stream.name not in flow.streams:
            names = ", ".join(sorted(flow.streams)) or "none"
            detail = (
                f"is not registered with Flow {flow.flow_type}; its Streams: {names}; "
                "list it in get_persistence_schema()"
            )
            raise ValueMappingError(f"Stream {stream.name} write", detail)


_FIXES = {
    "async": "await context.heartbeat(...)",
    "sync": "make the Step a generator and yield heartbeat(...)",
    "generator": "yield heartbeat(...)",
}


class AsyncStepContext(StepContext, AsyncContext):
    """The context of async Steps."""

    def __init__(self, attempt: Attempt) -> None:
        """Speak for this attempt; no heartbeat is lost or on its way."""
        super().__init__(attempt)
        self._lost = 0
        self._pending = 0

    def heartbeat(self, value: object = OMITTED) -> Coroutine[Any, Any, None]:
        """Show that the attempt lives; must be awaited."""
        if (error := self.lost_outputs()) is not None:
            raise error
        beat = _Beat(self, encode_checkpoint(value))
        self._pending += 1
        return beat

    def lost_outputs(self) -> InvalidStepResultError | None:
        """Give the error of heartbeats that were made and forgotten, if there are such."""
        if not self._lost:
            return None
        detail = f"{self._lost} heartbeat(s) were made and never awaited"
        return self.invalid(f"{detail}: write `await context.heartbeat(...)`")

    def finish(self) -> None:
        """Refuse heartbeats that are still not sent, too: their task has not run yet."""
        self._lost += self._pending
        super().finish()

    def settle(self, beat: _Beat, *, sent: bool, lost: bool = False) -> None:
        """Take a heartbeat that is awaited, given up or forgotten."""
        self._pending -= 1
        self._lost += lost
        if sent:
            self._attempt.beat(beat.checkpoint)


class _Beat(Coroutine[Any, Any, None]):
    """A heartbeat that counts once it is awaited; may be handed to `asyncio.create_task`, too."""

    __slots__ = ("_context", "_open", "checkpoint")

    def __init__(self, context: AsyncStepContext, checkpoint: str | None) -> None:
        self._context = context
        self._open = True
        self.checkpoint = checkpoint

    def __await__(self) -> Any:
        self._send()
        return
        yield

    def send(self, value: Any) -> Any:
        """Send it: the whole of its work."""
        self._send()
        raise StopIteration

    def _send(self) -> None:
        if not self._open:
            message = "a heartbeat counts once: call context.heartbeat(...) again"
            raise RuntimeError(message)
        self._settle(sent=True)

    def throw(self, *error: Any) -> Any:
        """Give it up, with a task that was cancelled before it began."""
        self.close()
        return super().throw(*error)

    def close(self) -> None:
        """Give it up."""
        self._settle(sent=False)

    def __del__(self) -> None:
        self._settle(sent=False, lost=True)

    def _settle(self, *, sent: bool, lost: bool = False) -> None:
        if self._open:
            self._open = False
            self._context.settle(self, sent=sent, lost=lost)


def _error_info(failure: Failure | None) -> RecoveryErrorInfo | None:
    if failure is None:
        return None
    return RecoveryErrorInfo(failure.detail, failure.error_type, _error_info(failure.last_error))
