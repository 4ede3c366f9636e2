"""Text in small chunks: gathered into messages by time, by size and at the Step's return."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from datetime import timedelta
from typing import Any

import pytest

from dexnb import Context, StepDecision, StepOutput, Stream, graceful_complete
from dexnb.engine import Runtime
from dexnb.errors import ContextCallError, DefinitionError
from dexnb.flow.context import AsyncContext
from dexnb.flow.stream import MAX_MESSAGE_BYTES
from tests.engine.flows import finished, flow, step, with_runtime

WORDS = Stream("Words", str, 1 << 20)
Outputs = Generator[StepOutput, None, StepDecision]


async def messages(runtime: Runtime, method: Any, **settings: Any) -> list[str]:
    """Run a Step; give the messages of the Stream."""
    run = await runtime.start(flow(step(method, **settings), streams=(WORDS,)), "flow")
    await finished(run)
    return [each.value for each in await run.stream(WORDS)]


@with_runtime
async def test_an_async_step_writes_by_a_timer_and_at_its_return(runtime: Runtime) -> None:
    """One message a second of all chunks in it, and the rest at the end."""

    async def talks(context: AsyncContext, input: Any) -> StepDecision:
        text = WORDS.buffered_text(context)
        for word in ("a", "b", "c", "d"):
            text.write(word)
            await asyncio.sleep(0.6)
        return graceful_complete()

    assert await messages(runtime, talks) == ["ab", "cd"]


@with_runtime
async def test_what_is_left_is_written_at_the_return(runtime: Runtime) -> None:
    """Though no timer has come."""

    async def talks(context: AsyncContext, input: Any) -> StepDecision:
        WORDS.buffered_text(context).write("last words")
        return graceful_complete()

    assert await messages(runtime, talks) == ["last words"]


@with_runtime
async def test_what_is_left_of_a_failed_attempt_is_dropped(runtime: Runtime) -> None:
    """As its other writes are; the retry says it again."""

    async def talks(context: AsyncContext, input: Any) -> StepDecision:
        WORDS.buffered_text(context).write(f"attempt {context.attempt}")
        if context.attempt == 1:
            raise ConnectionError
        return graceful_complete()

    assert await messages(runtime, talks, attempts=2) == ["attempt 2"]


@with_runtime
async def test_a_full_buffer_is_written_at_once(runtime: Runtime) -> None:
    """A chunk that is too large goes in pieces; nothing is lost and no message is too large."""

    async def talks(context: AsyncContext, input: Any) -> StepDecision:
        text = WORDS.buffered_text(context, max_buffered_bytes=20)
        text.write("0123456789")
        text.write("abcdefghijk")
        text.write("é" * 10)
        return graceful_complete()

    parts = await messages(runtime, talks)
    assert "".join(parts) == "0123456789abcdefghijk" + "é" * 10
    assert parts[0] == "0123456789"
    assert all(len(part.encode("ascii", "backslashreplace")) <= 40 for part in parts)


@pytest.mark.parametrize("settings", [{"flush_interval": timedelta(0)}, {"max_buffered_bytes": 1}])
@with_runtime
async def test_a_setting_that_cannot_hold_is_named(
    runtime: Runtime, settings: dict[str, Any]
) -> None:
    """With what to give instead."""
    seen: list[str] = []

    async def talks(context: AsyncContext, input: Any) -> StepDecision:
        with pytest.raises(DefinitionError) as caught:
            WORDS.buffered_text(context, **settings)
        seen.append(str(caught.value))
        with pytest.raises(TypeError, match=r"Stream Numbers buffered_text: .* of int, not str"):
            Stream("Numbers", int, 9).buffered_text(context)  # type: ignore[misc]
        with pytest.raises(DefinitionError, match="chunk is 7: give a str"):
            WORDS.buffered_text(context).write(7)  # type: ignore[arg-type]
        return graceful_complete()

    await messages(runtime, talks)
    name, value = next(iter(settings.items()))
    assert f"buffered_text {name} is" in seen[0]
    assert "give" in seen[0]
    assert value is not None


@with_runtime
async def test_a_plain_step_writes_when_it_is_full_or_asked(runtime: Runtime) -> None:
    """And the rest at its return; there is nothing to yield."""

    def talks(context: Context, input: Any) -> StepDecision:
        text = WORDS.buffered_text(context, max_buffered_bytes=16)
        assert text.write("0123456789abcdef") == ()
        assert text.write("x") == ()
        assert text.flush() == ()
        text.write("rest")
        return graceful_complete()

    assert await messages(runtime, talks) == ["0123456789abcdef", "x", "rest"]


@with_runtime
async def test_a_generator_step_yields_what_it_gives(runtime: Runtime) -> None:
    """What is left is written at its return."""

    def talks(context: Context, input: Any) -> Outputs:
        text = WORDS.buffered_text(context, max_buffered_bytes=16)
        yield from text.write("0123456789abcdef")
        yield from text.write("x")
        yield from text.flush()
        yield from text.write("rest")
        return graceful_complete()

    assert await messages(runtime, talks) == ["0123456789abcdef", "x", "rest"]


def test_a_message_is_never_larger_than_a_stream_takes() -> None:
    """The largest buffer that may be asked for fits with its quotes."""
    with pytest.raises(DefinitionError, match=f"from 16 to {MAX_MESSAGE_BYTES - 2}"):
        WORDS.buffered_text(_NoStep(), max_buffered_bytes=MAX_MESSAGE_BYTES)
    with pytest.raises(ContextCallError, match="for the methods of Steps"):
        WORDS.buffered_text(_NoStep())


class _NoStep(Context):
    """A context of no Step, such as an RPC's."""

    flow_id = run_id = step_execution_id = from_step_execution_id = ""
    recovery_error = None
    first_attempt_at = data = None  # type: ignore[assignment]
    attempt = 1

    def has_last_heartbeat_value(self) -> bool:
        """Tell that there is none."""
        return False

    def get_last_heartbeat_value(self, value_type: type[Any]) -> None:
        """Give none."""

    def is_cancellation_requested(self) -> bool:
        """Tell that it goes on."""
        return False

    def write_stream(self, stream: Stream[Any], text: str) -> None:
        """Drop the message."""
