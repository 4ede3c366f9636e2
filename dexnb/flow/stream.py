"""`Stream`: messages out of a run, best effort, for people and programs that watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dexnb.errors import DefinitionError
from dexnb.flow.codec import natural
from dexnb.flow.context import Context
from dexnb.flow.output import StepOutput
from dexnb.flow.typed import check, decode
from dexnb.model.json_text import from_text, to_text

ValueT = TypeVar("ValueT")

MAX_MESSAGE_BYTES = 102_400
"""Largest Stream message: 100 KiB of JSON text."""


class Stream(Generic[ValueT]):
    """A named, typed outlet of a Flow.

    Args:
        name: Unique within the Flow.
        value_type: What `write` takes.
        stream_capacity_bytes: Byte budget that all runs of the Flow share; when it is nearly
            used up, the oldest messages are trimmed.

    Raises:
        DefinitionError: The capacity is not a positive int, or the name is empty.
    """

    def __init__(self, name: str, value_type: type[ValueT], stream_capacity_bytes: int) -> None:
        """Define the Stream; it works once it is in the Flow's persistence schema."""
        if not isinstance(name, str) or not name:
            message = f"Stream name is {name!r}: give a non-empty str"
            raise DefinitionError(message)
        whole = isinstance(stream_capacity_bytes, int) and type(stream_capacity_bytes) is not bool
        if not whole or stream_capacity_bytes <= 0:
            message = (
                f"Stream {name} stream_capacity_bytes must be positive, got "
                f"{stream_capacity_bytes!r}: give a number of bytes such as 1 << 20"
            )
            raise DefinitionError(message)
        self.name = name
        self.value_type = value_type
        self.stream_capacity_bytes = stream_capacity_bytes

    def write(self, context: Context, value: ValueT) -> StepOutput | None:
        """Send a message; it counts as a sign of life and leaves the checkpoint alone.

        Acts at once in async and plain sync Steps and gives None; in a generator Step it gives a
        `StepOutput` that must be yielded. Best effort: a full or failed store drops the message and
        not the Step.

        Raises:
            ValueMappingError: The value is of another type or cannot be stored.
            asyncio.CancelledError: The attempt is over.
        """
        operation = f"Stream {self.name} write"
        return context.write_stream(self, to_text(check(value, self.value_type, operation)))

    def decode(self, text: str) -> ValueT:
        """Read a kept message's text."""
        value: ValueT = decode(from_text(text), self.value_type, f"Stream {self.name} read")
        return value

    def __repr__(self) -> str:
        """Show the definition."""
        kind = getattr(self.value_type, "__name__", str(self.value_type))
        return f"Stream({self.name!r}, {kind}, {self.stream_capacity_bytes})"


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
