"""What clients write to Streams and read of them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from dexnb import (
    Stream,
)
from dexnb.engine import AsyncClient, Client, Runtime, Session
from dexnb.errors import (
    DefinitionError,
    LongPollTimeoutError,
    ValueMappingError,
)
from dexnb.providers.sqlite import SqliteProvider
from tests.engine.orders import (
    PAID,
    PROGRESS,
    Order,
    on_each_store,
    open_order,
)

ORDER = Order()


def now() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


@on_each_store
async def test_read_stream_waits_for_the_next_message(
    runtime: Runtime, client: AsyncClient
) -> None:
    """One at a time, by a Step and by a client; behind the token of the one before."""
    await open_order(client)
    first = asyncio.ensure_future(client.read_stream("order", PROGRESS))
    await asyncio.sleep(1)
    assert not first.done()
    await client.write_stream("order", PROGRESS, "shop", "hello")
    message = await first
    assert (message.value, message.source) == ("hello", "shop")
    assert await client.read_stream("order", PROGRESS) == message
    second = asyncio.ensure_future(client.read_stream("order", "Progress", message.resume_token))
    await client.publish("order", PAID, 1)
    found = await second
    assert (found.value, found.source) == ("a is done", "#AwaitPaid-1")
    token = found.resume_token
    began = now()
    with pytest.raises(LongPollTimeoutError, match="no new message within 5 s"):
        await client.read_stream("order", PROGRESS, token, timedelta(seconds=5))
    with pytest.raises(LongPollTimeoutError, match="no new message within 60 s"):
        await client.read_stream("order", PROGRESS, token)
    assert now() == pytest.approx(began + 65)


@on_each_store
async def test_a_token_older_than_the_head_restarts_at_the_head(
    runtime: Runtime, client: AsyncClient
) -> None:
    """What was trimmed is not waited for; the oldest message that is kept comes."""
    await open_order(client)
    await client.write_stream("order", PROGRESS, "shop", "0")
    token = (await client.read_stream("order", PROGRESS)).resume_token
    for number in range(1, 40):
        await client.write_stream("order", PROGRESS, "shop", str(number))
    page = await client.list_stream_messages("order", PROGRESS, 100)
    oldest = page.messages[-1]
    assert int(oldest.value) > 1, "the Stream's budget trims"
    assert await client.read_stream("order", PROGRESS, token) == oldest
    assert await client.read_stream("order", PROGRESS) == oldest


@on_each_store
async def test_list_stream_messages_gives_pages_newest_first(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Each page's token gives the one before it; another flow id's messages are not among them."""
    await open_order(client)
    await open_order(client, "other")
    for number in range(5):
        await client.write_stream("order", PROGRESS, "shop", str(number))
        await client.write_stream("other", PROGRESS, "shop", "x")
    pages, token = [], ""
    while True:
        page = await client.list_stream_messages("order", PROGRESS, 2, token)
        pages.append([message.value for message in page.messages])
        token = page.next_page_token
        if not token:
            break
    assert pages == [["4", "3"], ["2", "1"], ["0"]]


@on_each_store
async def test_mistakes_with_streams_are_named(runtime: Runtime, client: AsyncClient) -> None:
    """Tokens, sources, sizes, types, and a message that can never fit."""
    await open_order(client)
    for mistake, error, text in (
        (client.read_stream("order", PROGRESS, "x"), DefinitionError, "resume token is 'x'"),
        (client.read_stream("order", "Other"), DefinitionError, "no Stream 'Other'; its Streams"),
        (client.list_stream_messages("order", PROGRESS, 0), DefinitionError, "page_size is 0"),
        (client.write_stream("order", PROGRESS, "#A-1", "x"), DefinitionError, "source is '#A-1'"),
        (client.write_stream("order", PROGRESS, "", "x"), DefinitionError, "source is ''"),
        (client.write_stream("order", PROGRESS, "a", 3), ValueMappingError, "str requires str"),
        (client.write_stream("order", PROGRESS, "a", "x" * 10_000), ValueMappingError, "never fit"),
    ):
        with pytest.raises(error, match=text):
            await mistake


def test_a_stream_message_of_another_engine_ends_a_read(tmp_path: Path) -> None:
    """Two engines on one file: what the other one wrote is seen within its watch."""
    path, stream = tmp_path / "runs.db", Stream("Progress", str, 10_000)

    def other() -> Session:
        return Session(lambda: SqliteProvider(path))

    with other() as one, other() as two:
        reader, writer = Client(one, flows=[ORDER]), Client(two, flows=[ORDER])
        reader.start_flow(ORDER, "order", "a")
        reading = one.submit(AsyncClient(one.runtime).read_stream("order", stream, "", 30))
        writer.write_stream("order", stream, "other", "hello")
        assert reading.result(30).value == "hello"
        writer.stop_flow("order")


@on_each_store
async def test_a_resume_token_has_only_plain_digits(runtime: Runtime, client: AsyncClient) -> None:
    """What int() would read as a number besides is none."""
    await open_order(client)
    await client.write_stream("order", PROGRESS, "shop", "hello")
    run = await runtime.get("order")
    wrong = ("+1", "-1", "1_0", " 1", "1\n", "\uff11", "\u0661", "\u00b2", "9" * 5000, "1.0")
    for token in wrong:
        for call in (
            client.read_stream("order", PROGRESS, token),
            client.list_stream_messages("order", PROGRESS, 5, token),
            run.stream(PROGRESS, token),
        ):
            with pytest.raises(DefinitionError, match=r"token is .*: give one that a call has"):
                await call
