"""Streams of real Steps and clients: best effort, one budget, tokens, pages."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import AsyncContext, RetryPolicy, StepDecision, StepOptions, Stream, graceful_complete
from dexnb.engine import Runtime
from dexnb.engine.async_client import AsyncClient
from dexnb.errors import LongPollTimeoutError, ValueMappingError
from dexnb.providers import MemoryProvider, StreamWrite
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import failure_of, fast, finished, history, telemetry, virtual
from tests.engine.rules.made import clock, flow_of, on_stores, started, waits

OVERHEAD = 512
ROOMY = Stream("Roomy", str, 1 << 20)
NARROW = Stream("Narrow", str, 10_000)
TIGHT = Stream("Tight", str, 600)
KEEPS = (ROOMY, NARROW, TIGHT)
ONCE = StepOptions(execute_retry=RetryPolicy(maximum_attempts=1))


def writing(*messages: tuple[Stream[str], str], name: str = "TestFlow") -> Any:
    """Make a Flow whose Step writes these."""

    async def writes(context: AsyncContext, input: Any) -> StepDecision:
        for stream, text in messages:
            stream.write(context, text)
        return graceful_complete()

    return flow_of(waits(writes, options=ONCE), keeps=KEEPS, name=name)


def cost(text: str) -> int:
    """Give what a message costs of its Stream's capacity."""
    return len(text) + 2 + OVERHEAD


@pytest.mark.rule("2.13/best-effort", "2.13/too-large")
@on_stores
async def test_a_message_that_never_fits_is_dropped_and_the_step_goes_on(runtime: Runtime) -> None:
    """Only the timeline tells of it."""
    run = await started(runtime, writing((TIGHT, "x" * 200), (TIGHT, "fits")))
    assert (await finished(run)).status == "COMPLETED"
    assert [message.value for message in await run.stream(TIGHT)] == ["fits"]
    assert len(await telemetry(run, "late_write")) == 1


@pytest.mark.rule("2.13/best-effort")
@virtual
async def test_a_store_that_takes_no_messages_fails_no_step() -> None:
    """Progress is worth less than the work."""
    store = FaultyProvider(MemoryProvider())
    store.faults.append(Fault("write_stream"))
    async with Runtime(store, options=fast()) as runtime:
        run = await started(runtime, writing((ROOMY, "lost")))
        assert (await finished(run)).status == "COMPLETED"
        assert await run.stream(ROOMY) == ()


@pytest.mark.rule("2.1/stream-message")
@pytest.mark.parametrize(("letters", "fits"), [(102_398, True), (102_399, False)])
@on_stores
async def test_a_message_has_at_most_a_hundred_kibibytes(
    runtime: Runtime, letters: int, fits: bool
) -> None:
    """As JSON, with its quotes; the write says so at once."""
    run = await started(runtime, writing((ROOMY, "x" * letters)))
    result = await finished(run)
    if fits:
        assert [len(message.value) for message in await run.stream(ROOMY)] == [letters]
    else:
        assert "102,400" in result.error_message
        assert failure_of(await history(run))["error_type"] == "dexnb.errors.ValueMappingError"


@pytest.mark.rule("2.1/stream-trim", "2.1/stream-overhead", "2.13/shared")
@on_stores
async def test_a_full_stream_loses_the_oldest_messages_of_all_runs(runtime: Runtime) -> None:
    """Over 90 % of the capacity, down to 80 %; each message costs 512 bytes beside its own."""
    text = "x" * (1000 - 2 - OVERHEAD)
    assert cost(text) == 1000
    for number in range(3):
        made = writing(*[(NARROW, text)] * 3)
        await finished(await started(runtime, made, flow_id=f"flow-{number}"))
    left = [len(await (await runtime.get(f"flow-{n}")).stream(NARROW)) for n in range(3)]
    assert left == [3, 3, 3]
    await finished(await started(runtime, writing((NARROW, text)), flow_id="last"))
    left = [len(await (await runtime.get(f"flow-{n}")).stream(NARROW)) for n in range(3)]
    assert left == [1, 3, 3]
    assert len(await (await runtime.get("last")).stream(NARROW)) == 1


@pytest.mark.rule("2.13/shared")
@on_stores
async def test_another_flow_type_has_a_budget_of_its_own(runtime: Runtime) -> None:
    """The same name of a Stream does not make it the same Stream."""
    text = "x" * (1000 - 2 - OVERHEAD)
    first = await started(runtime, writing(*[(NARROW, text)] * 9))
    await finished(first)
    other = await started(runtime, writing(*[(NARROW, text)] * 9, name="Another"), flow_id="other")
    await finished(other)
    assert len(await first.stream(NARROW)) == len(await other.stream(NARROW)) == 9


@pytest.mark.rule("2.13/client-refused", "2.1/stream-refuse")
@on_stores
async def test_a_client_is_told_of_a_message_that_never_fits(runtime: Runtime) -> None:
    """A Step's one is dropped, a client's one is refused."""
    await finished(await started(runtime, writing()))
    async with AsyncClient(runtime) as client:
        with pytest.raises(ValueMappingError, match="never fits a capacity of 600"):
            await client.write_stream("flow", TIGHT, "me", "x" * (600 - OVERHEAD))
        await client.write_stream("flow", TIGHT, "me", "x" * (600 - OVERHEAD - 2))


@pytest.mark.rule("2.13/source", "2.3/liveness-stream", "2.3/async-streams")
@on_stores
async def test_a_message_tells_who_wrote_it(runtime: Runtime) -> None:
    """A Step by its execution, a client by the name that it gives."""
    run = await started(runtime, writing((ROOMY, "a")))
    await finished(run)
    async with AsyncClient(runtime) as client:
        await client.write_stream("flow", ROOMY, "me", "b")
    assert [(each.value, each.source) for each in await run.stream(ROOMY)] == [
        ("a", "#Writes-1"),
        ("b", "me"),
    ]


@pytest.mark.rule("2.13/token-empty", "2.13/one", "2.13/list")
@on_stores
async def test_a_client_reads_forward_one_by_one_and_lists_backward(runtime: Runtime) -> None:
    """Each token leads to the next message; a page leads to the one before it."""
    await finished(await started(runtime, writing(*[(ROOMY, str(n)) for n in range(5)])))
    async with AsyncClient(runtime) as client:
        read, token = [], ""
        for _ in range(5):
            message = await client.read_stream("flow", ROOMY, token)
            read.append(message.value)
            token = message.resume_token
        assert read == ["0", "1", "2", "3", "4"]
        page = await client.list_stream_messages("flow", ROOMY, 3)
        older = await client.list_stream_messages("flow", ROOMY, 3, page.next_page_token)
        assert [message.value for message in page.messages] == ["4", "3", "2"]
        assert [message.value for message in older.messages] == ["1", "0"]
        assert older.next_page_token == ""


@pytest.mark.rule("2.13/token-old", "2.13/token-empty")
@on_stores
async def test_a_token_of_a_message_that_was_trimmed_begins_with_the_oldest_kept(
    runtime: Runtime,
) -> None:
    """A reader that was away too long misses messages, and no more than those."""
    await finished(await started(runtime, writing((NARROW, "first"))))
    async with AsyncClient(runtime) as client:
        token = (await client.read_stream("flow", NARROW)).resume_token
        for number in range(40):
            await client.write_stream("flow", NARROW, "me", f"{number:02}")
        kept = (await client.list_stream_messages("flow", NARROW, 100)).messages
        oldest = kept[-1].value
        assert 0 < len(kept) < 20
        assert (await client.read_stream("flow", NARROW, token)).value == oldest
        assert (await client.read_stream("flow", NARROW)).value == oldest


@pytest.mark.rule("2.1/long-poll")
@on_stores
async def test_a_read_waits_for_a_minute_or_for_as_long_as_it_is_told(runtime: Runtime) -> None:
    """There is no server that would end it earlier."""
    await finished(await started(runtime, writing()))
    async with AsyncClient(runtime) as client:
        with pytest.raises(LongPollTimeoutError, match="within 60 s"):
            await client.read_stream("flow", ROOMY)
        assert clock() == pytest.approx(60)
        with pytest.raises(LongPollTimeoutError, match="within 600 s"):
            await client.read_stream("flow", ROOMY, timeout=timedelta(minutes=10))
        assert clock() == pytest.approx(660)
        waiting = asyncio.create_task(client.read_stream("flow", ROOMY))
        await asyncio.sleep(30)
        await client.write_stream("flow", ROOMY, "me", "come")
        assert (await waiting).value == "come"
        assert clock() == pytest.approx(690)


@pytest.mark.rule("2.1/stream-page")
@on_stores
async def test_one_read_gives_at_most_a_thousand_messages(runtime: Runtime) -> None:
    """A page that asks for more is refused by name."""
    await finished(await started(runtime, writing()))
    writes = [
        StreamWrite("TestFlow", "Roomy", "flow", "run", "#A-1", f'"{number}"', 0.0, 1 << 20)
        for number in range(1100)
    ]
    assert all(await runtime.engine.provider.write_stream(writes))
    async with AsyncClient(runtime) as client:
        page = await client.list_stream_messages("flow", ROOMY, 1000)
        assert (len(page.messages), page.messages[0].value) == (1000, "1099")
        older = await client.list_stream_messages("flow", ROOMY, 1000, page.next_page_token)
        assert len(older.messages) == 100
        with pytest.raises(Exception, match="page_size is 1001"):
            await client.list_stream_messages("flow", ROOMY, 1001)
