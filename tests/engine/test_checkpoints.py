"""Checkpoints: what the next attempt reads, after every way in which one can end."""

from __future__ import annotations

import asyncio
import enum
import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from dexnb import Context, StepDecision, StepOutput, Stream, graceful_complete, heartbeat
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import FaultyProvider
from tests.engine.flows import (
    failure_of,
    fast,
    finished,
    flow,
    history,
    options,
    step,
    telemetry,
    virtual,
    with_runtime,
)

PROGRESS = Stream("Progress", str, 1 << 20)


class Beats:
    """A Step that beats as told in its first attempt, ends it somehow, and reads in the second."""

    def __init__(self, *values: Any, then: Callable[[], Any] | None = None) -> None:
        """Beat with these values; `...` beats without one, a str `>x` writes a message."""
        self.values = values
        self.then = then
        self.began = asyncio.Event()
        self.found: list[tuple[bool, Any]] = []

    async def execute(self, context: AsyncContext, input: Any) -> StepDecision:
        """See the class."""
        if context.attempt > 1 or self.began.is_set():
            has = context.has_last_heartbeat_value()
            self.found.append((has, context.get_last_heartbeat_value(object)))
            return graceful_complete()
        for value in self.values:
            if value is ...:
                await context.heartbeat()
            elif isinstance(value, str) and value.startswith(">"):
                PROGRESS.write(context, value)
            else:
                await context.heartbeat(value)
        self.began.set()
        if self.then is not None:
            self.then()
        await asyncio.sleep(1000)
        return graceful_complete()

    def flow(self) -> Any:
        """Make the Flow of this Step alone."""

        async def beats(context: AsyncContext, input: Any) -> StepDecision:
            return await self.execute(context, input)

        return flow(step(beats, heartbeat=20, method=100, initial=1), streams=[PROGRESS])


def boom() -> None:
    """Raise an ordinary error."""
    raise ValueError("boom")


def give_up() -> None:
    """Raise what a cancelled task raises."""
    raise asyncio.CancelledError


@pytest.mark.rule("2.3/flushed-on-error", "2.3/throttled", "2.3/handed-over")
@pytest.mark.parametrize("ending", [boom, give_up, None], ids=["exception", "cancel", "heartbeat"])
def test_a01_the_newest_of_fifty_beats_is_read_after_a_failure(
    ending: Callable[[], Any] | None,
) -> None:
    """Throttling may drop writes, never the newest value; the writes stay bounded."""

    async def main() -> None:
        beats = Beats(*range(1, 51), then=ending)
        store = FaultyProvider(MemoryProvider())
        async with Runtime(store, options=fast()) as runtime:
            await finished(await runtime.start(beats.flow(), "flow"))
        assert beats.found == [(True, 50)]
        assert store.calls["record_beats"] <= 5

    virtual(main)()


@virtual
async def test_a01_the_newest_of_fifty_beats_is_read_after_a_method_timeout() -> None:
    """A Step that beats all the time and is cut leaves its very last value."""
    found: list[Any] = []

    async def polls(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt == 2:
            found.append(context.get_last_heartbeat_value(int))
            return graceful_complete()
        for number in range(1000):
            await context.heartbeat(number)
            await asyncio.sleep(0.1)
        return graceful_complete()

    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        await finished(await runtime.start(flow(step(polls, method=10.05)), "flow"))
    assert found == [100]


@virtual
async def test_a01_the_newest_of_fifty_beats_is_read_after_an_orderly_stop() -> None:
    """The engine writes what is waiting before it hands the item back."""
    beats = Beats(*range(1, 51))
    store = MemoryStore()
    first = FaultyProvider(MemoryProvider(store))
    async with Runtime(first, options=fast()) as runtime:
        await runtime.start(beats.flow(), "flow")
        await beats.began.wait()
    assert first.calls["record_beats"] <= 5

    async with Runtime(MemoryProvider(store), options=fast()) as runtime:
        runtime.register(beats.flow())
        await finished(await runtime.get("flow"))
    assert beats.found == [(True, 50)]


@with_runtime
async def test_a02_a_stream_message_keeps_the_step_alive_and_leaves_the_checkpoint(
    runtime: Runtime,
) -> None:
    """A loop that only writes messages is alive; its retry repeats at most the last of them."""
    job = ["A"] * 3 + ["B"] * 3 + ["C"] * 30

    async def watches(context: AsyncContext, input: Any) -> StepDecision:
        last = context.get_last_heartbeat_value(str)
        for state in job[3 * (context.attempt - 1) :]:
            if state != last:
                PROGRESS.write(context, state)
                last = state
                if state == "C" and context.attempt == 1:
                    raise ConnectionError
            else:
                await context.heartbeat(state)
            await asyncio.sleep(8)
            if context.attempt == 2 and state == "C":
                return graceful_complete()
        raise AssertionError

    made = flow(step(watches, heartbeat=10), streams=[PROGRESS])
    run = await runtime.start(made, "flow")
    assert (await finished(run)).status == "COMPLETED"
    messages = [message.value for message in await run.stream(PROGRESS)]
    assert messages == ["A", "B", "C", "C"]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ((1, ...), (False, None)),
        ((None,), (True, None)),
        ((), (False, None)),
        ((1, ">a"), (True, 1)),
        ((None, ">a"), (True, None)),
        ((1, ..., ">a"), (False, None)),
        ((1, None), (True, None)),
        ((..., 0), (True, 0)),
    ],
)
@pytest.mark.parametrize("ending", ["raises", "stops"])
def test_a03_absent_null_and_value_stay_distinct_over_retry_and_restart(
    values: tuple[Any, ...], found: tuple[bool, Any], ending: str
) -> None:
    """A bare beat clears, None is a value, a message in between changes neither."""

    async def main() -> None:
        store = MemoryStore()
        beats = Beats(*values, then=boom if ending == "raises" else None)
        async with Runtime(MemoryProvider(store), options=fast()) as runtime:
            run = await runtime.start(beats.flow(), "flow")
            await beats.began.wait()
            if ending == "raises":
                await finished(run)
        if ending == "stops":
            async with Runtime(MemoryProvider(store), options=fast()) as runtime:
                runtime.register(beats.flow())
                await finished(await runtime.get("flow"))
        assert beats.found == [found]

    virtual(main)()


@with_runtime
async def test_a03_the_timeline_shows_cleared_null_and_value_differently(
    runtime: Runtime,
) -> None:
    """Three payloads that no reader can mistake for one another."""
    beats = Beats(7, None, ..., then=boom)
    run = await runtime.start(beats.flow(), "flow")
    await finished(run)
    shown = [event.payload for event in await telemetry(run, "heartbeat")]
    assert shown == [
        {"checkpoint": "7", "cleared": False},
        {"checkpoint": "null", "cleared": False},
        {"checkpoint": None, "cleared": True},
    ]


@with_runtime
async def test_an_attempt_does_not_read_its_own_beats(runtime: Runtime) -> None:
    """What is read is what an earlier attempt left, for the whole attempt."""
    found: list[Any] = []

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        await context.heartbeat("own")
        found.append(context.get_last_heartbeat_value(str))
        if context.attempt == 1:
            raise ValueError
        return graceful_complete()

    await finished(await runtime.start(flow(beats), "flow"))
    assert found == [None, "own"]


@with_runtime
async def test_a_checkpoint_survives_attempts_that_never_beat(runtime: Runtime) -> None:
    """It is carried on from attempt to attempt until one replaces or clears it."""
    found: list[Any] = []

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        found.append(context.get_last_heartbeat_value(str))
        if context.attempt == 1:
            await context.heartbeat("first")
        if context.attempt < 4:
            raise ValueError
        return graceful_complete()

    await finished(await runtime.start(flow(beats), "flow"))
    assert found == [None, "first", "first", "first"]


class Colour(enum.Enum):
    """An Enum to be stored."""

    RED = "red"


@dataclass(frozen=True)
class Point:
    """A dataclass to be stored."""

    x: int
    colours: list[Colour]


def recursive() -> list[Any]:
    """Make a list that holds itself."""
    value: list[Any] = []
    value.append(value)
    return value


GOOD: list[tuple[Any, type[Any]]] = [
    (Colour.RED, Colour),
    (datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), datetime),
    (b"\x00\xff", bytes),
    (Point(1, [Colour.RED]), Point),
    (math.nan, float),
    (-math.inf, float),
    (2**80, int),
    ({1: (2, 3)}, dict),
    ("\ud800 \x00", str),
    ("x" * 1_000_000, str),
]
BAD: list[tuple[Any, str]] = [
    (object(), "object"),
    ({"client": asyncio.Event}, "['client']"),
    ("x" * 5_000_000, "over the limit of 1,048,576"),
    (recursive(), "contains itself"),
    ([1, {2}], "value[1] is a builtins.set"),
]


@pytest.mark.parametrize(("value", "type_"), GOOD, ids=lambda value: str(value)[:20])
@with_runtime
async def test_a31_a_checkpoint_comes_back_equal_and_of_its_type(
    runtime: Runtime, value: Any, type_: type[Any]
) -> None:
    """What is taken at the beat is what the next attempt reads."""
    found: list[Any] = []

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt == 1:
            await context.heartbeat(value)
            raise ValueError
        found.append(context.get_last_heartbeat_value(type_))
        return graceful_complete()

    await finished(await runtime.start(flow(beats), "flow"))
    assert type(found[0]) is type_
    assert repr(found[0]) == repr(value if type_ is not dict else {1: [2, 3]})


@pytest.mark.parametrize(("value", "named"), BAD, ids=lambda value: str(value)[:20])
@pytest.mark.parametrize("form", ["async", "generator"])
def test_a31_a_value_that_cannot_be_stored_is_refused_at_the_beat(
    value: Any, named: str, form: str
) -> None:
    """The error names type and path, is not retried, and the checkpoint before it stays."""
    errors: list[str] = []

    async def calls(context: AsyncContext, input: Any) -> StepDecision:
        await context.heartbeat("before")
        try:
            await context.heartbeat(value)
        except Exception as error:
            errors.append(str(error))
            raise
        return graceful_complete()

    def yields(context: Context, input: Any) -> Generator[StepOutput, None, StepDecision]:
        yield heartbeat("before")
        try:
            yield heartbeat(value)
        except Exception as error:
            errors.append(str(error))
            raise
        return graceful_complete()

    async def recovers(context: AsyncContext, input: Any) -> StepDecision:
        assert context.recovery_error is not None
        return graceful_complete(context.recovery_error.error_type)

    async def main() -> None:
        recovery = step(recovers)
        chosen = options(recovery=recovery)
        made = flow(step(calls if form == "async" else yields, options=chosen), recovery)
        async with Runtime(MemoryProvider()) as runtime:
            run = await runtime.start(made, "flow")
            assert (await finished(run)).output == "dexnb.errors.ValueMappingError"
            (error,) = errors
            assert named in error
            assert failure_of(await history(run))["detail"].startswith(error[:200])
            shown = [event.payload["checkpoint"] for event in await telemetry(run, "heartbeat")]
            assert shown == ['"before"']

    virtual(main)()


@with_runtime
async def test_a31_after_a_refused_value_the_next_attempt_reads_the_older_one(
    runtime: Runtime,
) -> None:
    """A Step that catches the refusal and fails for another reason has lost nothing."""
    found: list[Any] = []

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        found.append(context.get_last_heartbeat_value(str))
        if context.attempt == 2:
            return graceful_complete()
        await context.heartbeat("before")
        try:
            await context.heartbeat(object())
        except Exception as error:
            raise ConnectionError from error
        raise AssertionError

    await finished(await runtime.start(flow(beats), "flow"))
    assert found == [None, "before"]


@with_runtime
async def test_a_checkpoint_of_another_type_fails_clearly_and_is_not_retried(
    runtime: Runtime,
) -> None:
    """Code that changed its mind about the type is told so at the read."""

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt == 1:
            await context.heartbeat("text")
            raise ValueError
        context.get_last_heartbeat_value(int)
        return graceful_complete()

    run = await runtime.start(flow(beats), "flow")
    assert (await finished(run)).status == "FAILED"
    failure = failure_of(await history(run))
    assert failure["error_type"] == "dexnb.errors.ValueMappingError"
    assert "checkpoint of TestFlow.Beats-1 of flow" in failure["detail"]
    assert "must be int" in failure["detail"]
