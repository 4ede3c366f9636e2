"""What only real threads show: Steps that block, and attempts that outlive their end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Generator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

import dexnb
from dexnb import Context, StepDecision, StepOutput, Stream, graceful_complete, heartbeat
from dexnb.engine import RuntimeOptions
from dexnb.flow.context import AsyncContext
from tests.engine.flows import fast, flow, step

pytestmark = pytest.mark.timing

PROGRESS = Stream("Progress", str, 1 << 20)


def settings(**given: Any) -> RuntimeOptions:
    """Make options for short tests."""
    return fast(cancellation_grace=timedelta(milliseconds=100), **given)


def of_kind(run: Any, *kinds: str) -> list[Any]:
    """Give a run's events of these kinds."""
    return [event for event in run.events() if event.kind in kinds]


@pytest.mark.parametrize("form", ["sync", "generator"])
def test_a07_an_attempt_stuck_in_a_thread_changes_nothing_when_it_wakes(form: str) -> None:
    """Its beat, message and result are refused and told once; the second attempt's stand."""
    late: list[str] = []
    over = threading.Event()

    def stuck(context: Context, input: Any) -> StepDecision:
        if context.attempt == 1:
            time.sleep(1)
            assert context.is_cancellation_requested()
            try:
                PROGRESS.write(context, "late")
            except asyncio.CancelledError as error:
                late.append(str(error))
            over.set()
            return graceful_complete("late")
        PROGRESS.write(context, "second")
        return graceful_complete(context.attempt)

    def stuck_generating(context: Context, input: Any) -> Generator[StepOutput, None, StepDecision]:
        if context.attempt == 1:
            time.sleep(1)
            assert context.is_cancellation_requested()
            try:
                yield heartbeat("late")
            except asyncio.CancelledError as error:
                late.append(str(error))
            over.set()
            return graceful_complete("late")
        output = PROGRESS.write(context, "second")
        assert output is not None
        yield output
        return graceful_complete(context.attempt)

    chosen = stuck if form == "sync" else stuck_generating
    made = flow(step(chosen, heartbeat=0.3, initial=0.05), streams=[PROGRESS])
    with dexnb.open("memory:", options=settings()) as session:
        run = session.start(made, "flow")
        assert run.wait_sync(20).output == 2
        assert not late, "the first attempt was to wake up last"
        assert over.wait(10)
        time.sleep(0.1)
        assert run.wait_sync().output == 2
        assert [message.value for message in run.stream(PROGRESS)] == ["second"]
        (told,) = of_kind(run, "late_write")
        assert (told.attempt, told.payload["reason"]) == (1, "failed")
        assert of_kind(run, "heartbeat") == []
    assert "the attempt is over (failed)" in late[0]


def test_a_generator_is_alive_by_its_messages_too() -> None:
    """A Stream write that is yielded counts, and leaves the checkpoint."""
    found: list[Any] = []

    def writes(context: Context, input: Any) -> Generator[StepOutput, None, StepDecision]:
        found.append(context.get_last_heartbeat_value(int))
        if context.attempt == 2:
            return graceful_complete()
        yield heartbeat(1)
        for number in range(12):
            time.sleep(0.1)
            output = PROGRESS.write(context, str(number))
            assert output is not None
            yield output
        raise ValueError

    made = flow(step(writes, heartbeat=0.6, initial=0.01), streams=[PROGRESS])
    with dexnb.open("memory:", options=settings()) as session:
        run = session.start(made, "flow")
        run.wait_sync(20)
        assert [
            event.payload["failure"]["error_type"] for event in of_kind(run, "attempt_ended")[:1]
        ] == ["builtins.ValueError"]
    assert found == [None, 1]


def test_a12_a_blocking_async_step_is_named_and_holds_up_its_neighbours_once() -> None:
    """Sync Steps and the control side go on; its next attempt has a loop of its own."""
    polls: dict[str, list[float]] = {"async": [], "sync": []}
    stop = threading.Event()

    async def blocks(context: AsyncContext, input: Any) -> StepDecision:
        time.sleep(1)  # noqa: ASYNC251 - the mistake under test
        return graceful_complete(threading.current_thread().name)

    async def polls_async(context: AsyncContext, input: Any) -> StepDecision:
        while not stop.is_set():
            polls["async"].append(time.monotonic())
            await context.heartbeat()
            await asyncio.sleep(0.05)
        return graceful_complete(context.attempt)

    def polls_sync(context: Context, input: Any) -> Generator[StepOutput, None, StepDecision]:
        while not stop.is_set():
            polls["sync"].append(time.monotonic())
            yield heartbeat()
            stop.wait(0.05)
        return graceful_complete(context.attempt)

    def quick(context: Context, input: Any) -> StepDecision:
        return graceful_complete()

    with dexnb.open("memory:", options=settings()) as session:
        made = step(polls_async, heartbeat=0.7, attempts=1), step(polls_sync, heartbeat=0.7)
        watched = [session.start(flow(each, name=each.__name__), each.__name__) for each in made]
        time.sleep(0.5)
        blocking = flow(step(blocks, heartbeat=5), name="Blocking")
        first = session.start(blocking, "first")
        time.sleep(0.2)
        began = time.monotonic()
        session.start(flow(quick, name="Quick"), "quick").wait_sync(10)
        assert time.monotonic() - began < 0.6
        assert first.wait_sync(10).output == "dexnb-steps"
        (stall,) = of_kind(first, "stall")
        assert stall.payload["step"] == "Blocking.Blocks"
        assert stall.payload["seconds"] == pytest.approx(1, abs=0.3)
        assert stall.payload["line"] == blocks.__code__.co_firstlineno + 1

        time.sleep(0.3)
        again = time.monotonic()
        second = session.start(blocking, "second").wait_sync(10)
        assert second.output == "dexnb-Blocks-1"
        stop.set()
        assert [run.wait_sync(10).output for run in watched] == [1, 1]

    def longest(kind: str, after: float) -> float:
        times = [at for at in polls[kind] if at >= after]
        return max(later - earlier for earlier, later in pairwise(times))

    assert longest("sync", 0) < 0.5
    assert longest("async", 0) >= 0.9
    assert longest("async", again) < 0.5


@pytest.mark.parametrize("thing", ["future", "queue"])
def test_an_object_of_another_loop_is_recognised_and_named(thing: str) -> None:
    """What a cell made cannot be awaited in a Step: told at once, with the way out, not retried."""
    made: list[Any] = []

    async def asks(context: AsyncContext, input: Any) -> StepDecision:
        await (made[0] if thing == "future" else made[0].get())
        return graceful_complete()

    async def cell() -> None:
        made.append(asyncio.get_running_loop().create_future() if thing == "future" else queue)
        if thing == "queue":
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(queue.get(), 0.01)
        with dexnb.open("memory:") as session:
            result = await session.start(flow(asks), "flow").wait(10)
        assert "Asks-1 of flow uses an object of another event loop" in result.error_message
        assert "inside the Step" in result.error_message

    queue: asyncio.Queue[None] = asyncio.Queue()
    asyncio.run(cell())
