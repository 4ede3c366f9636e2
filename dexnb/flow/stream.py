"""`Stream`: messages out of a run, best effort, for people and programs that watch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Generic, TypeVar, get_origin, overload

from dexnb.errors import DefinitionError
from dexnb.flow.buffered_text import (
    DEFAULT_BYTES,
    DEFAULT_INTERVAL,
    AsyncBufferedTextStream,
    BufferedTextStream,
    TextBuffer,
    check_buffer,
)
from dexnb.flow.codec import natural, text_of
from dexnb.flow.context import AsyncContext, Context, checked
from dexnb.flow.name import name_fix
from dexnb.flow.output import StepOutput
from dexnb.flow.shape import is_any, name_of, unwrap
from dexnb.flow.typed import check, decode
from dexnb.model.json_text import from_text
from dexnb.model.shown import shown

ValueT = TypeVar("ValueT")

MAX_MESSAGE_BYTES = 102_400
"""Largest Stream message: 100 KiB of JSON text."""

MAX_CAPACITY = 2**53 - 1
"""Largest byte budget: the largest integer that every reader of JSON keeps exact."""


class Stream(Generic[ValueT]):
    """A named, typed outlet of a Flow.

    Args:
        name: Unique within the Flow.
        value_type: What `write` takes.
        stream_capacity_bytes: Byte budget that all runs of the Flow share; when it is nearly
            used up, the oldest messages are trimmed.

    Raises:
        DefinitionError: The name is empty or unprintable, the type is none, or the capacity is not
            a positive int.
    """

    def __init__(self, name: str, value_type: type[ValueT], stream_capacity_bytes: int) -> None:
        """Define the Stream; it works once it is in the Flow's persistence schema."""
        _check_definition(name, value_type, stream_capacity_bytes)
        self.name = name
        self.value_type = value_type
        self.stream_capacity_bytes = stream_capacity_bytes

    def write(self, context: Context, value: ValueT) -> StepOutput | None:
        """Send a message; it counts as a sign of life and leaves the checkpoint alone.

        Acts at once in async and plain sync Steps and gives None; in a generator Step it gives a
        `StepOutput` that must be yielded. Best effort: a full or failed store drops the message and
        not the Step.

        Raises:
            DefinitionError: The context is none.
            ValueMappingError: The value is of another type, cannot be stored, or is larger than
                `MAX_MESSAGE_BYTES`.
            asyncio.CancelledError: The attempt is over.
        """
        operation = f"Stream {self.name} write"
        context = checked(context, operation)
        document = check(value, self.value_type, operation)
        return context.write_stream(self, text_of(document, operation, MAX_MESSAGE_BYTES))

    @overload  # an AsyncContext is a Context, too: the first that fits counts
    def buffered_text(  # type: ignore[overload-overlap]
        self: Stream[str],
        context: AsyncContext,
        *,
        flush_interval: timedelta = ...,
        max_buffered_bytes: int = ...,
    ) -> AsyncBufferedTextStream: ...

    @overload
    def buffered_text(
        self: Stream[str],
        context: Context,
        *,
        flush_interval: timedelta = ...,
        max_buffered_bytes: int = ...,
    ) -> BufferedTextStream: ...

    def buffered_text(
        self: Stream[str],
        context: Context,
        *,
        flush_interval: timedelta = DEFAULT_INTERVAL,
        max_buffered_bytes: int = DEFAULT_BYTES,
    ) -> AsyncBufferedTextStream | BufferedTextStream:
        """Give a buffer that gathers chunks of text into messages of this Stream.

        Args:
            context: The context that the method got.
            flush_interval: How long a chunk waits at most.
            max_buffered_bytes: JSON text at which a message is written at once.

        Raises:
            TypeError: The Stream is not one of str.
            DefinitionError: The context is none, or a setting cannot hold.
            ContextCallError: This is no Step.
        """
        if self.value_type is not str:
            kind = name_of(self.value_type)
            raise TypeError(f"Stream {self.name} buffered_text: it is a Stream of {kind}, not str")
        context = checked(context, f"Stream {self.name} buffered_text")
        seconds = check_buffer(flush_interval, max_buffered_bytes, MAX_MESSAGE_BYTES - len('""'))
        buffer = TextBuffer(partial(self.write, context), max_buffered_bytes)
        context.on_return(buffer.flush)
        if isinstance(context, AsyncContext):
            return AsyncBufferedTextStream(buffer, seconds)
        return BufferedTextStream(buffer, seconds)

    def decode(self, text: str) -> ValueT:
        """Read a kept message's text."""
        value: ValueT = decode(from_text(text), self.value_type, f"Stream {self.name} read")
        return value

    def __repr__(self) -> str:
        """Show the definition."""
        return f"Stream({self.name!r}, {name_of(self.value_type)}, {self.stream_capacity_bytes})"


@dataclass(frozen=True)
class StreamMessage:
    """A message that was read.

    Args:
        value: The value, as the Stream's type when it was read through a Stream.
        resume_token: Where to go on reading.
        created_time: Seconds since the epoch on the wall clock.
        source: `#StepType-N` for a Step's message.
    """

    value: Any
    resume_token: str
    created_time: float
    source: str


def natural_value(text: str) -> Any:
    """Read a kept message without its Stream."""
    return natural(from_text(text))


def _check_definition(name: Any, value_type: Any, capacity: Any) -> None:
    fix = name_fix(name, reserved="")
    if fix is not None:
        message = f"Stream name is {shown(name)}: {fix}"
        raise DefinitionError(message)
    known = isinstance(unwrap(value_type), type) or is_any(value_type) or get_origin(value_type)
    if not known:
        fix = "give a type such as str, JobStatus or list[int]"
        message = f"Stream {name} value_type is {shown(value_type)}: {fix}"
        raise DefinitionError(message)
    if type(capacity) is not int or not 0 < capacity <= MAX_CAPACITY:
        message = (
            f"Stream {name} stream_capacity_bytes must be positive and at most 2**53 - 1, got "
            f"{shown(capacity)}: give a number of bytes such as 1 << 20"
        )
        raise DefinitionError(message)
