"""Rounds: what a Step's suspensions are taken for, without a change to its code."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from tests.engine import elsewhere
from tests.engine.flows import finished, flow, step, telemetry, with_runtime

Work = Callable[[], Awaitable[Any]]


async def rounds_of(runtime: Runtime, work: Work) -> list[tuple[str, str]]:
    """Run a Step that does this work; give kind and name of each of its rounds."""

    async def works(context: AsyncContext, input: Any) -> StepDecision:
        await work()
        return graceful_complete()

    run = await runtime.start(flow(works), "flow")
    assert (await finished(run)).status == "COMPLETED"
    events = await telemetry(run, "round_call", "round_sleep")
    return [(event.kind.removeprefix("round_"), event.payload["what"]) for event in events]


async def own_helper() -> None:
    """Sleep in a function of the Step's module."""
    await asyncio.sleep(1)


async def own_poll() -> str:
    """Call and sleep, two functions deep."""
    state = await elsewhere.status()
    await own_helper()
    return state


async def own_lines() -> AsyncIterator[int]:
    """Call and sleep in an async generator of the Step's module."""
    for number in range(2):
        await elsewhere.status()
        await asyncio.sleep(1)
        yield number


@asynccontextmanager
async def own_block() -> AsyncIterator[None]:
    """Call on the way in."""
    await elsewhere.status()
    yield


async def asyncio_sleep() -> None:
    """Sleep by asyncio, once for a time and once for a turn."""
    await asyncio.sleep(1)
    await asyncio.sleep(0)


async def anyio_sleep() -> None:
    """Sleep by anyio, in its three ways."""
    await anyio.sleep(1)
    await anyio.sleep_until(anyio.current_time() + 1)


async def timeout_around_call() -> None:
    """Call under a timeout."""
    async with asyncio.timeout(5):
        await elsewhere.status()


async def timeout_around_sleep() -> None:
    """Sleep under a timeout."""
    async with asyncio.timeout(5):
        await asyncio.sleep(1)


async def wait_for() -> None:
    """Call by wait_for."""
    await asyncio.wait_for(elsewhere.status(), 5)


async def task_group() -> None:
    """Wait for children."""
    async with asyncio.TaskGroup() as group:
        group.create_task(elsewhere.status())
        group.create_task(elsewhere.status())


async def gather() -> None:
    """Wait for several at once."""
    await asyncio.gather(elsewhere.status(), elsewhere.status())


async def task() -> None:
    """Wait for a task of one's own."""
    await asyncio.create_task(elsewhere.status())


async def async_with() -> None:
    """Open and close a client."""
    async with elsewhere.Client():
        await asyncio.sleep(1)


async def foreign_helper() -> None:
    """Sleep in a function of another module."""
    await elsewhere.wait_between_polls()


async def foreign_lines() -> None:
    """Read an async generator of another module."""
    async for _ in elsewhere.lines(3):
        pass


async def lines_of_own() -> None:
    """Read an async generator of the Step's module."""
    async for _ in own_lines():
        pass


async def managed() -> None:
    """Enter a block made of a generator of the Step's module."""
    async with own_block():
        await asyncio.sleep(1)


async def many_suspensions() -> None:
    """Make one call that suspends fifty times."""
    await elsewhere.status(50)


async def the_same_call_twice() -> None:
    """Make two calls at one place."""
    for _ in range(2):
        await elsewhere.status(3)


async def event() -> None:
    """Wait for an event that another task sets."""
    happened = asyncio.Event()
    asyncio.get_running_loop().call_later(1, happened.set)
    await happened.wait()


SLEEP, CALL = ("sleep", "sleep"), ("call", "status")


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (asyncio_sleep, [SLEEP, SLEEP]),
        (anyio_sleep, [SLEEP, ("sleep", "sleep_until")]),
        (own_helper, [SLEEP]),
        (own_poll, [CALL, SLEEP]),
        (timeout_around_call, [CALL]),
        (timeout_around_sleep, [SLEEP]),
        (wait_for, [("call", "wait_for")]),
        (task_group, [("call", "TaskGroup.__aexit__")]),
        (gather, [("call", "a future")]),
        (task, [("call", "a future")]),
        (async_with, [("call", "Client.__aenter__"), SLEEP, ("call", "Client.__aexit__")]),
        (foreign_helper, [("call", "wait_between_polls")]),
        (foreign_lines, [("call", "lines")] * 3),
        (lines_of_own, [CALL, SLEEP, CALL, SLEEP]),
        (managed, [("call", "_AsyncGeneratorContextManager.__aenter__"), SLEEP]),
        (many_suspensions, [CALL]),
        (the_same_call_twice, [CALL, CALL]),
        (event, [("call", "Event.wait")]),
    ],
)
@with_runtime
async def test_a_suspension_is_a_call_unless_it_is_the_sleep_itself(
    runtime: Runtime, work: Work, expected: list[tuple[str, str]]
) -> None:
    """The first frame that is not of the Step's module decides."""
    assert await rounds_of(runtime, work) == expected


@with_runtime
async def test_a_round_names_the_line_of_the_steps_module(runtime: Runtime) -> None:
    """The line that awaits, in the Step or in its helper; always the same for one place."""

    async def works(context: AsyncContext, input: Any) -> StepDecision:
        for _ in range(2):
            await elsewhere.status()
            await own_helper()
        return graceful_complete()

    run = await runtime.start(flow(works), "flow")
    await finished(run)
    lines = [event.payload["line"] for event in await telemetry(run, "round_call", "round_sleep")]
    first = works.__code__.co_firstlineno + 2
    helper = own_helper.__code__.co_firstlineno + 2
    assert lines == [first, helper, first, helper]


@with_runtime
async def test_a_decorated_step_has_the_same_rounds(runtime: Runtime) -> None:
    """The wrapper's module is the Step's, too."""

    @elsewhere.decorated
    async def works(context: AsyncContext, input: Any) -> StepDecision:
        await own_poll()
        return graceful_complete()

    run = await runtime.start(flow(works), "flow")
    assert (await finished(run)).status == "COMPLETED"
    events = await telemetry(run, "round_call", "round_sleep")
    assert [event.payload["what"] for event in events] == ["status", "sleep"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no other coroutine functions before 3.12")
@with_runtime
async def test_a_method_that_gives_another_awaitable_is_awaited(runtime: Runtime) -> None:
    """What says of itself that it is a coroutine function may give a task as well."""

    async def inner() -> StepDecision:
        await elsewhere.status()
        return graceful_complete(1)

    def works(context: AsyncContext, input: Any) -> StepDecision:
        task: Any = asyncio.ensure_future(inner())
        return task  # type: ignore[no-any-return]  # as decorators do

    marked = getattr(inspect, "markcoroutinefunction")(works)  # noqa: B009 - not in 3.11
    run = await runtime.start(flow(marked), "flow")
    assert (await finished(run)).output == 1


@with_runtime
async def test_beats_and_writes_are_no_rounds(runtime: Runtime) -> None:
    """They never suspend."""

    async def works() -> None:
        return

    assert await rounds_of(runtime, works) == []


@with_runtime
async def test_a_step_behaves_the_same_under_the_driver(runtime: Runtime) -> None:
    """Errors thrown in by timeouts, results of awaits and nested handlers are as anywhere."""
    seen: list[Any] = []

    async def works(context: AsyncContext, input: Any) -> StepDecision:
        try:
            async with asyncio.timeout(0.5):
                await elsewhere.wait_between_polls()
        except TimeoutError:
            seen.append("timeout")
        seen.append(await asyncio.wait_for(elsewhere.status(), 1))
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_fail())
                await asyncio.sleep(10)
        except* KeyError as errors:
            seen.append(len(errors.exceptions))
        with anyio.move_on_after(0.5) as scope:
            await anyio.sleep(10)
        seen.append(scope.cancelled_caught)
        sleeper = asyncio.create_task(asyncio.sleep(10))
        sleeper.cancel()
        seen.append((await asyncio.gather(sleeper, return_exceptions=True))[0])
        seen.append(asyncio.current_task() is not None)
        return graceful_complete()

    await finished(await runtime.start(flow(step(works, attempts=1)), "flow"))
    assert seen[:4] == ["timeout", "RUNNING", 1, True]
    assert isinstance(seen[4], asyncio.CancelledError)
    assert seen[5] is True


async def _fail() -> None:
    raise KeyError
