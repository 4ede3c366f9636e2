"""`StepOutput`: what a generator Step yields while it works."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Literal, Protocol

from dexnb.flow.codec import text_of
from dexnb.flow.typed import check_own


class _Omitted:
    """The default that tells an argument left out from an explicit None."""

    def __repr__(self) -> str:
        return "<OMITTED>"


OMITTED: Any = _Omitted()


class Outlet(Protocol):
    """What watches over the outputs that a running Step makes."""

    def made(self, output: StepOutput) -> None:
        """Learn of an output that the Step has made and must yield."""


OUTLET: ContextVar[Outlet] = ContextVar("dexnb_outlet")
"""The outlet of the Step that runs in this context; none outside of Steps."""


class StepOutput:
    """A heartbeat or a Stream message, waiting to be yielded by a generator Step.

    Made by `heartbeat(...)` and `Stream.write(...)`, never directly.
    """

    __slots__ = ("checkpoint", "kind", "stream", "text")

    kind: Literal["heartbeat", "stream"]
    checkpoint: str | None
    stream: Any
    text: str | None

    def __init__(self) -> None:
        """Refuse direct construction."""
        message = "StepOutput cannot be constructed; use heartbeat(...) or Stream.write(...)"
        raise TypeError(message)

    @classmethod
    def beat(cls, value: Any) -> StepOutput:
        """Make a heartbeat; OMITTED clears the checkpoint."""
        output = object.__new__(cls)
        output.kind = "heartbeat"
        output.stream = None
        output.text = None
        output.checkpoint = encode_checkpoint(value)
        return output._tell()

    @classmethod
    def message(cls, stream: Any, text: str) -> StepOutput:
        """Make a Stream message from its encoded text."""
        output = object.__new__(cls)
        output.kind = "stream"
        output.stream = stream
        output.text = text
        output.checkpoint = None
        return output._tell()

    def _tell(self) -> StepOutput:
        outlet = OUTLET.get(None)
        if outlet is not None:
            outlet.made(self)
        return self


def encode_checkpoint(value: Any) -> str | None:
    """Encode a heartbeat's value; None stands for no checkpoint at all.

    Raises:
        ValueMappingError: The value cannot be stored; the checkpoint before it stays.
    """
    if value is OMITTED:
        return None
    return text_of(check_own(value, "heartbeat"), "heartbeat")


def heartbeat(value: object = OMITTED) -> StepOutput:
    """Make a heartbeat for a generator Step to yield; async Steps await `context.heartbeat(...)`.

    With a value, that is the new checkpoint (None too); without one, the checkpoint is cleared.

    Raises:
        ValueMappingError: The value cannot be stored.
    """
    return StepOutput.beat(value)
