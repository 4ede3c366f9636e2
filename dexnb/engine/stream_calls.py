"""What a client does with Streams: write as somebody, wait for the next message, page back."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dexnb.clock import wall_time
from dexnb.engine.definitions import stream_of
from dexnb.engine.limit import Limit
from dexnb.errors import DefinitionError, LongPollTimeoutError, ValueMappingError
from dexnb.flow.codec import text_of
from dexnb.flow.name import name_fix
from dexnb.flow.stream import MAX_MESSAGE_BYTES, Stream, StreamMessage
from dexnb.flow.typed import check
from dexnb.model.arguments import of_type, whole
from dexnb.model.shown import shown
from dexnb.providers import RunRecord, StreamRecord, StreamWrite

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

LONG_POLL_SECONDS = 60.0
"""How long a read waits that is not told for how long."""

CHUNK = 1000
"""Messages that are read from the store at once."""

MOST_LISTED = 1000
"""Messages of the largest page."""

MOST_POSITION = 2**53
"""Place in a Stream that no message is behind."""


@dataclass(frozen=True)
class StreamMessagesPage:
    """Messages of a Stream, newest first.

    Args:
        messages: The page.
        next_page_token: Gives the page before it; empty where there are no older messages.
    """

    messages: tuple[StreamMessage, ...]
    next_page_token: str


async def write_stream(
    engine: Engine, record: RunRecord, stream: Any, source: str, value: Any
) -> None:
    """Append a message to a Stream of a Flow, open or not, under a source of the caller's own.

    Raises:
        DefinitionError: The Flow does not list the Stream, or the source cannot be one.
        ValueMappingError: The value is of another type, cannot be stored, or never fits the Stream.
        ProviderError: The store could not write it.
    """
    stream = stream_of(engine, record.flow_type, stream)
    fix = name_fix(source, reserved="")
    if fix is not None or source.startswith("#"):
        fix = fix or "begin it otherwise, because # stands before a Step's name"
        raise DefinitionError(f"Stream {stream.name} source is {shown(source)}: {fix}")
    operation = f"Stream {stream.name} write"
    document = engine.registry.codecs.call(check, value, stream.value_type, operation)
    text = text_of(document, operation, MAX_MESSAGE_BYTES)
    write = StreamWrite(
        flow_type=record.flow_type,
        stream=stream.name,
        flow_id=record.flow_id,
        run_id=record.run_id,
        source=source,
        payload=text,
        wall=wall_time(),
        capacity=stream.stream_capacity_bytes,
    )
    kept = await engine.ask(partial(engine.provider.write_stream, [write]))
    if not all(kept):
        detail = (
            f"a message of {len(text):,} bytes never fits a capacity of "
            f"{stream.stream_capacity_bytes:,}: give the Stream more, or write less"
        )
        raise ValueMappingError(operation, detail)
    engine.readers.written([write])


async def read_stream(
    engine: Engine, record: RunRecord, stream: Any, resume_token: str, limit: Limit
) -> StreamMessage:
    """Give the first message of a flow id behind a resume token, waiting for it if need be.

    Without a token, and with one of a message that was trimmed, that is the oldest one kept.

    Raises:
        LongPollTimeoutError: None came within the limit.
        DefinitionError: The Flow does not list the Stream, or the token is none.
    """
    stream = stream_of(engine, record.flow_type, stream)
    after = position_of(resume_token, "resume token")
    try:
        async with limit.rest():
            found = await engine.readers.next(record.flow_type, stream.name, record.flow_id, after)
    except TimeoutError:
        raise LongPollTimeoutError(
            f"Stream {stream.name} of {record.flow_id} had no new message within "
            f"{limit.seconds:g} s: read again with the same resume token"
        ) from None
    return engine.registry.codecs.call(message_of, found, stream)


async def list_stream_messages(
    engine: Engine, record: RunRecord, stream: Any, page_size: int, before_page_token: str
) -> StreamMessagesPage:
    """Give a page of a flow id's kept messages, newest first.

    Raises:
        DefinitionError: The Flow does not list the Stream, or the token or the size is none.
    """
    stream = stream_of(engine, record.flow_type, stream)
    whole(page_size, "page_size", least=1, most=MOST_LISTED)
    before = position_of(before_page_token, "before_page_token") or None
    # Stores read forward; one more than the page holds tells whether there is another.
    kept: deque[StreamRecord] = deque(maxlen=page_size + 1)
    after = 0
    while True:
        read = partial(
            engine.provider.read_stream,
            record.flow_type,
            stream.name,
            flow_id=record.flow_id,
            after=after,
            limit=CHUNK,
        )
        chunk = await engine.ask(read)
        kept.extend(each for each in chunk if before is None or each.position < before)
        if len(chunk) < CHUNK or (before is not None and chunk[-1].position >= before):
            break
        after = chunk[-1].position
    page = list(reversed(kept))[:page_size]
    token = str(page[-1].position) if len(kept) > page_size else ""
    with engine.registry.codecs.used():
        return StreamMessagesPage(tuple(message_of(each, stream) for each in page), token)


def message_of(record: StreamRecord, stream: Stream[Any]) -> StreamMessage:
    """Read a kept message as its Stream's type."""
    value = stream.decode(record.payload)
    return StreamMessage(value, str(record.position), record.wall, record.source)


def position_of(token: Any, name: str) -> int:
    """Give the place that a token stands for; 0 for an empty one.

    Raises:
        DefinitionError: It is none.
    """
    given = of_type(token, str, name, "a text") or "0"
    if not re.fullmatch(r"[0-9]{1,16}", given) or int(given) > MOST_POSITION:
        raise DefinitionError(f"{name} is {shown(token)}: give one that a call has given, or ''")
    return int(given)
