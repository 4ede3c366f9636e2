"""Text that a Step writes in small chunks, gathered into fewer Stream messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from dexnb.clock import monotonic
from dexnb.errors import DefinitionError
from dexnb.flow.output import StepOutput
from dexnb.model.json_text import to_text
from dexnb.model.shown import shown

DEFAULT_INTERVAL = timedelta(seconds=1)
DEFAULT_BYTES = 16_384
LEAST_BYTES = 16
"""The longest that one character can be in a message."""

Write = Callable[[str], StepOutput | None]


class TextBuffer:
    """What waits to be written, and in which pieces.

    Args:
        write: Writes a message of the Stream.
        limit: Bytes of a message's JSON text.
    """

    def __init__(self, write: Write, limit: int) -> None:
        """Start empty."""
        self._write = write
        self._limit = limit
        self._chunks: list[str] = []
        self._size = 0

    def add(self, chunk: str) -> list[StepOutput]:
        """Take a chunk; give what must be yielded of the messages that it has filled."""
        if not isinstance(chunk, str):
            raise DefinitionError(f"buffered_text chunk is {shown(chunk)}: give a str")
        made: list[StepOutput] = []
        for piece, size in _pieces(chunk, self._limit):
            if self._size + size > self._limit:
                made += self.flush()
            self._chunks.append(piece)
            self._size += size
        return made + self.flush() if self._size >= self._limit else made

    def flush(self) -> list[StepOutput]:
        """Write what waits; give what must be yielded."""
        text = "".join(self._chunks)
        self.drop()
        output = self._write(text) if text else None
        return [] if output is None else [output]

    def drop(self) -> None:
        """Forget what waits."""
        self._chunks, self._size = [], 0


class BufferedTextStream:
    """The buffer of a sync Step: its interval is looked at when the next chunk is written.

    A generator Step must yield what `write` and `flush` give; elsewhere they give nothing. What is
    left when the Step returns is written then; of an attempt that fails it is dropped.
    """

    def __init__(self, buffer: TextBuffer, seconds: float) -> None:
        """Write at least every so many seconds."""
        self._buffer = buffer
        self._seconds = seconds
        self._flushed = monotonic()

    def write(self, chunk: str) -> tuple[StepOutput, ...]:
        """Take a chunk of text.

        Raises:
            DefinitionError: It is no str.
        """
        made = self._buffer.add(chunk)
        return (*made, *self.flush()) if monotonic() - self._flushed >= self._seconds else (*made,)

    def flush(self) -> tuple[StepOutput, ...]:
        """Write what waits."""
        self._flushed = monotonic()
        return tuple(self._buffer.flush())


class AsyncBufferedTextStream:
    """The buffer of an async Step, written by a timer too.

    What is left when the Step returns is written then; of an attempt that fails or is cancelled it
    is dropped.
    """

    def __init__(self, buffer: TextBuffer, seconds: float) -> None:
        """Write every so many seconds while there is anything."""
        self._buffer = buffer
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def write(self, chunk: str) -> None:
        """Take a chunk of text.

        Raises:
            DefinitionError: It is no str.
            asyncio.CancelledError: The attempt is over.
        """
        self._buffer.add(chunk)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._seconds, self._on_time)

    def flush(self) -> None:
        """Write what waits.

        Raises:
            asyncio.CancelledError: The attempt is over.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._buffer.flush()

    def _on_time(self) -> None:
        try:
            self.flush()
        except asyncio.CancelledError:
            self._buffer.drop()


def check_buffer(flush_interval: Any, max_buffered_bytes: Any, most: int) -> float:
    """Check the two settings of a buffer; give the interval in seconds.

    Raises:
        DefinitionError: One of them cannot hold.
    """
    if not isinstance(flush_interval, timedelta) or flush_interval <= timedelta():
        fix = "give a timedelta above zero"
        raise DefinitionError(f"buffered_text flush_interval is {shown(flush_interval)}: {fix}")
    if type(max_buffered_bytes) is not int or not LEAST_BYTES <= max_buffered_bytes <= most:
        fix = f"give a whole number from {LEAST_BYTES} to {most}"
        text = f"buffered_text max_buffered_bytes is {shown(max_buffered_bytes)}: {fix}"
        raise DefinitionError(text)
    return flush_interval.total_seconds()


def _pieces(text: str, limit: int) -> Iterator[tuple[str, int]]:
    """Cut a text into pieces that fit into a message, with the bytes of each."""
    size = len(to_text(text)) - len('""')
    if size <= limit:
        if text:
            yield text, size
        return
    middle = len(text) // 2
    yield from _pieces(text[:middle], limit)
    yield from _pieces(text[middle:], limit)
