"""A34: outputs that would be lost are an error, in every form of a Step."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any

import pytest

from dexnb import Context, StepDecision, StepOutput, Stream, graceful_complete, heartbeat
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from tests.engine.flows import (
    failure_of,
    finished,
    flow,
    history,
    step,
    telemetry,
    with_runtime,
)

PROGRESS = Stream("Progress", str, 1 << 20)
Outputs = Generator[StepOutput, None, StepDecision]


async def un_awaited(context: AsyncContext, input: Any) -> StepDecision:
    """Beat without await."""
    context.heartbeat(1)  # type: ignore[unused-coroutine]  # the mistake under test
    return graceful_complete()


async def un_awaited_in_a_loop(context: AsyncContext, input: Any) -> StepDecision:
    """Beat without await for ever: the second call finds it out."""
    while True:
        context.heartbeat(1)  # type: ignore[unused-coroutine]  # the mistake under test
        await asyncio.sleep(1)


async def held_and_forgotten(context: AsyncContext, input: Any) -> StepDecision:
    """Keep a heartbeat that is never awaited."""
    beat = context.heartbeat(1)
    await asyncio.sleep(1)
    return graceful_complete(beat is None)


async def silent_with_a_lost_beat(context: AsyncContext, input: Any) -> StepDecision:
    """Forget the one heartbeat, then wait on: the timeout finds it out."""
    context.heartbeat(1)  # type: ignore[unused-coroutine]  # the mistake under test
    await asyncio.sleep(1000)
    return graceful_complete()


def un_yielded(context: Context, input: Any) -> Outputs:
    """Make outputs without yielding them."""
    yield heartbeat(0)
    heartbeat(1)
    PROGRESS.write(context, "lost")
    return graceful_complete()


async def generator_form_in_async(context: AsyncContext, input: Any) -> StepDecision:
    """Use the generator's heartbeat in an async Step."""
    heartbeat(1)
    return graceful_complete()


def generator_form_in_sync(context: Context, input: Any) -> StepDecision:
    """Use the generator's heartbeat in a plain sync Step."""
    heartbeat(1)
    return graceful_complete()


def async_form_in_sync(context: Context, input: Any) -> StepDecision:
    """Use the async heartbeat in a plain sync Step."""
    context.heartbeat(1)  # type: ignore[attr-defined]  # the mistake under test
    return graceful_complete()


def async_form_in_generator(context: Context, input: Any) -> Outputs:
    """Use the async heartbeat in a generator."""
    yield context.heartbeat(1)  # type: ignore[attr-defined]  # the mistake under test
    return graceful_complete()


def yields_text(context: Context, input: Any) -> Outputs:
    """Yield what is no output."""
    yield "progress"  # type: ignore[misc]  # the mistake under test
    return graceful_complete()


@pytest.mark.parametrize(
    ("mistaken", "words"),
    [
        (un_awaited, "1 heartbeat(s) were made and never awaited: write `await"),
        (un_awaited_in_a_loop, "1 heartbeat(s) were made and never awaited"),
        (held_and_forgotten, "1 heartbeat(s) were made and never awaited"),
        (silent_with_a_lost_beat, "1 heartbeat(s) were made and never awaited"),
        (un_yielded, "2 output(s) (heartbeat, stream) were made and never yielded: write `yield"),
        (generator_form_in_async, "is lost here: await context.heartbeat(...)"),
        (generator_form_in_sync, "is lost here: make the Step a generator"),
        (async_form_in_sync, "for async Steps: make the Step a generator and yield heartbeat"),
        (async_form_in_generator, "for async Steps: yield heartbeat(...)"),
        (yields_text, "must yield StepOutput values, got 'progress'"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@with_runtime
async def test_a34_a_lost_output_fails_the_step_clearly_and_at_once(
    runtime: Runtime, mistaken: Any, words: str
) -> None:
    """Never silence, never a retry: the text says what to write instead."""
    made = flow(step(mistaken, name="Lossy", heartbeat=20), streams=[PROGRESS])
    run = await runtime.start(made, "flow")
    result = await finished(run)
    assert result.status == "FAILED"
    failure = failure_of(await history(run))
    assert failure["error_type"] == "dexnb.errors.InvalidStepResultError"
    assert words in failure["detail"]
    assert len(await telemetry(run, "attempt_started")) == 1


@pytest.mark.parametrize("form", ["sync", "generator", "async"])
@with_runtime
async def test_a34_a_stream_write_works_in_every_form(runtime: Runtime, form: str) -> None:
    """Bare in async and plain sync Steps, yielded in generators."""

    async def writes(context: AsyncContext, input: Any) -> StepDecision:
        PROGRESS.write(context, "one")
        return graceful_complete()

    def writes_sync(context: Context, input: Any) -> StepDecision:
        PROGRESS.write(context, "one")
        return graceful_complete()

    def yields(context: Context, input: Any) -> Outputs:
        output = PROGRESS.write(context, "one")
        assert output is not None
        yield output
        return graceful_complete()

    forms = {"async": writes, "sync": writes_sync, "generator": yields}
    run = await runtime.start(flow(step(forms[form]), streams=[PROGRESS]), "flow")
    assert (await finished(run)).status == "COMPLETED"
    (message,) = await run.stream(PROGRESS)
    assert message.value == "one"
    assert message.source.startswith("#")


@with_runtime
async def test_outputs_made_first_and_yielded_later_are_used(runtime: Runtime) -> None:
    """A generator may collect what it yields."""

    def collects(context: Context, input: Any) -> Outputs:
        outputs = [heartbeat(number) for number in range(3)]
        yield from outputs
        return graceful_complete()

    run = await runtime.start(flow(collects), "flow")
    assert (await finished(run)).status == "COMPLETED"
    assert [e.payload["checkpoint"] for e in await telemetry(run, "heartbeat")] == ["0", "1", "2"]


@with_runtime
async def test_a_heartbeat_may_be_a_task_like_any_coroutine(runtime: Runtime) -> None:
    """`create_task`, `gather` and `wait_for` take it."""

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        task = asyncio.create_task(context.heartbeat(1))
        await context.heartbeat(2)
        await task
        await asyncio.gather(context.heartbeat(3), context.heartbeat(4))
        await asyncio.wait_for(context.heartbeat(5), 1)
        given_up = asyncio.create_task(context.heartbeat(6))
        given_up.cancel()
        await asyncio.wait([given_up])
        return graceful_complete()

    run = await runtime.start(flow(beats), "flow")
    assert (await finished(run)).status == "COMPLETED"
    shown = [event.payload["checkpoint"] for event in await telemetry(run, "heartbeat")]
    assert shown == ["2", "1", "3", "4", "5"]


@with_runtime
async def test_a_heartbeat_counts_once(runtime: Runtime) -> None:
    """Awaiting it again is an error, as with any coroutine."""

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        beat = context.heartbeat(1)
        await beat
        await beat
        return graceful_complete()

    run = await runtime.start(flow(step(beats, attempts=1)), "flow")
    assert "counts once" in (await finished(run)).error_message


@with_runtime
async def test_a_stream_that_the_flow_does_not_list_is_refused(runtime: Runtime) -> None:
    """The text names the Flow's Streams and where to add it."""

    async def writes(context: AsyncContext, input: Any) -> StepDecision:
        Stream("Other", str, 100).write(context, "x")
        return graceful_complete()

    run = await runtime.start(flow(writes, streams=[PROGRESS]), "flow")
    message = (await finished(run)).error_message
    assert "Stream Other write: is not registered with Flow TestFlow" in message
    assert "its Streams: Progress" in message
    assert len(await telemetry(run, "attempt_started")) == 1


@with_runtime
async def test_a_refused_message_is_seen_in_the_timeline(runtime: Runtime) -> None:
    """Best effort: a message over the Stream's budget fails no Step, and is not silent."""
    small = Stream("Small", str, 600)

    async def writes(context: AsyncContext, input: Any) -> StepDecision:
        small.write(context, "x" * 200)
        small.write(context, "y")
        return graceful_complete()

    run = await runtime.start(flow(writes, streams=[small]), "flow")
    assert (await finished(run)).status == "COMPLETED"
    assert [message.value for message in await run.stream(small)] == ["y"]
    (refused,) = await telemetry(run, "late_write")
    assert refused.payload["what"] == "Stream Small"
