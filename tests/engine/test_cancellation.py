"""After the end of an attempt: calls fail fast, cleaning up still works, nothing late counts."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

import anyio
import pytest

from dexnb import StepDecision, Stream, graceful_complete
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.model.message import StopKind
from dexnb.providers import MemoryProvider, MemoryStore
from tests.engine.flows import (
    fast,
    finished,
    flow,
    history,
    step,
    telemetry,
    virtual,
    with_runtime,
)

PROGRESS = Stream("Progress", str, 1 << 20)
KINDS: list[StopKind] = ["CANCEL", "TERMINATE", "FAIL"]


def clock() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


class Client:
    """A client that is closed by calls of its own."""

    def __init__(self) -> None:
        """Open it."""
        self.closed: list[str] = []

    async def aclose(self) -> None:
        """Say good-bye, which takes two calls."""
        await asyncio.sleep(0.1)
        await self._flush()
        self.closed.append("aclose")

    async def _flush(self) -> None:
        await asyncio.sleep(0.1)

    async def __aenter__(self) -> Self:
        """Open it."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it."""
        await asyncio.sleep(0.1)
        self.closed.append("aexit")

    async def status(self) -> str:
        """Ask, which takes for ever."""
        await asyncio.sleep(1e6)
        return ""


@asynccontextmanager
async def connected(closed: list[str]) -> AsyncIterator[None]:
    """Be a context manager made of a generator of this module."""
    try:
        yield
    finally:
        await asyncio.sleep(0.1)
        closed.append("manager")


async def with_finally(client: Client) -> None:
    """Close in a finally block."""
    try:
        await client.status()
    finally:
        await client.aclose()


async def with_async_with(client: Client) -> None:
    """Close by leaving a block."""
    async with client, connected(client.closed):
        await client.status()


async def with_task_group(client: Client) -> None:
    """Close in a child task, which the group waits for."""
    async with asyncio.TaskGroup() as group:
        group.create_task(with_finally(client))


async def with_anyio(client: Client) -> None:
    """Close in a child task of anyio, whose cancelled scopes let shielded calls alone through."""

    async def child() -> None:
        try:
            await client.status()
        finally:
            with anyio.CancelScope(shield=True):
                await client.aclose()

    async with anyio.create_task_group() as group:
        group.start_soon(child)


@pytest.mark.parametrize(
    ("work", "closed"),
    [
        (with_finally, ["aclose"]),
        (with_async_with, ["manager", "aexit"]),
        (with_task_group, ["aclose"]),
        (with_anyio, ["aclose"]),
    ],
)
@pytest.mark.parametrize("ending", ["timeout", "stop"])
def test_cleanup_calls_still_work_after_the_end(
    work: Callable[[Client], Awaitable[None]], closed: list[str], ending: str
) -> None:
    """`__aexit__` and `aclose` run to their end, whoever wrote them."""
    client = Client()

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        await work(client)
        return graceful_complete()

    async def main() -> None:
        async with Runtime(MemoryProvider(), options=fast()) as runtime:
            run = await runtime.start(flow(step(waits, heartbeat=10, attempts=1)), "flow")
            if ending == "stop":
                await asyncio.sleep(1)
                await run.stop()
            await finished(run)
            await asyncio.sleep(1)
        assert client.closed == closed

    virtual(main)()


@pytest.mark.rule("2.7/late")
@with_runtime
async def test_the_next_call_of_an_async_step_fails_at_once(runtime: Runtime) -> None:
    """A Step that goes on after its end cannot ask, sleep or beat any more."""
    after: list[Any] = []

    async def clings(context: AsyncContext, input: Any) -> StepDecision:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(1000)
        after.append(context.is_cancellation_requested())
        for call in (
            lambda: asyncio.sleep(5),
            lambda: anyio.sleep(5),
            lambda: asyncio.wait_for(asyncio.sleep(5), 9),
            lambda: context.heartbeat("late"),
            lambda: asyncio.gather(asyncio.sleep(5)),
        ):
            try:
                await call()
            except asyncio.CancelledError as error:
                after.append(str(error))
        try:
            PROGRESS.write(context, "late")
        except asyncio.CancelledError as error:
            after.append(str(error))
        after.append(clock())
        return graceful_complete()

    made = flow(step(clings, heartbeat=10, attempts=1), streams=[PROGRESS])
    run = await runtime.start(made, "flow")
    assert (await finished(run)).status == "FAILED"
    assert after[0] is True
    assert len(after) == 8
    assert all("Clings-1 of flow" in text for text in after[1:-1])
    assert "heartbeat is refused" in after[4]
    assert after[-1] == pytest.approx(10)
    assert await run.stream(PROGRESS) == ()
    assert len(await telemetry(run, "late_write")) == 1


@with_runtime
async def test_a_refused_call_that_fails_later_is_no_stray_error(runtime: Runtime) -> None:
    """It goes on without the Step, and nobody is left who could hear how it ends."""
    uncaught: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: uncaught.append(told))
    failed: list[float] = []

    async def fails() -> None:
        await asyncio.sleep(5)
        failed.append(clock())
        raise ValueError

    async def goes_on(context: AsyncContext, input: Any) -> StepDecision:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        await asyncio.create_task(fails())
        return graceful_complete()

    run = await runtime.start(flow(step(goes_on)), "flow")
    await asyncio.sleep(1)
    await run.stop()
    assert (await finished(run)).status == "CANCELED"
    await asyncio.sleep(10)
    gc.collect()
    assert failed == [6]
    assert not uncaught


@pytest.mark.parametrize("swallows", [asyncio.CancelledError, BaseException])
@with_runtime
async def test_a_step_that_swallows_every_refusal_is_left_standing(
    runtime: Runtime, swallows: type[BaseException]
) -> None:
    """A bare `except` around the poll neither holds the loop nor polls on."""
    polls: list[float] = []
    over = asyncio.Event()
    done = graceful_complete()

    async def clings(context: AsyncContext, input: Any) -> StepDecision:
        while context.attempt == 1 and not over.is_set():
            polls.append(clock())
            try:
                await asyncio.sleep(4)
            except swallows:
                continue
        return done

    run = await runtime.start(flow(step(clings, heartbeat=10)), "flow")
    result = await finished(run)
    assert result.status == "COMPLETED"
    assert clock() == pytest.approx(11, abs=0.6)
    before = len(polls)
    await asyncio.sleep(100)
    assert len(polls) == before
    over.set()
    assert [at for at in polls if at < 10] == [0, 4, 8]


@with_runtime
async def test_a_step_that_takes_its_time_is_replaced_after_the_grace(runtime: Runtime) -> None:
    """Cleaning up holds up the next attempt for half a second at most."""
    began: list[float] = []

    class Slow(Client):
        async def aclose(self) -> None:
            await asyncio.sleep(100)
            self.closed.append("late")

    client = Slow()

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        began.append(clock())
        if context.attempt == 2:
            return graceful_complete()
        await with_finally(client)
        return graceful_complete()

    await finished(await runtime.start(flow(step(waits, heartbeat=10)), "flow"))
    assert began == pytest.approx([0, 11.5])
    assert client.closed == []
    await asyncio.sleep(200)
    assert client.closed == ["late"]


@with_runtime
async def test_a_timed_out_attempt_that_ends_well_after_all_changes_nothing(
    runtime: Runtime,
) -> None:
    """Its decision is late: the next attempt's stands, and the timeline tells."""

    async def late(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt == 1:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(1000)
        return graceful_complete(context.attempt)

    run = await runtime.start(flow(step(late, heartbeat=10)), "flow")
    assert (await finished(run)).output == 2
    (note,) = await telemetry(run, "late_write")
    assert (note.attempt, note.payload) == (1, {"what": "result", "reason": "failed"})


@with_runtime
async def test_recovery_follows_a_silent_step_that_never_lets_go(runtime: Runtime) -> None:
    """The end of a Step does not depend on its own good will."""

    async def clings(context: AsyncContext, input: Any) -> StepDecision:
        task = asyncio.ensure_future(asyncio.sleep(1e5))
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.shield(task)

    async def recovers(context: AsyncContext, input: Any) -> StepDecision:
        assert context.recovery_error is not None
        return graceful_complete(context.recovery_error.error_type)

    recovery = step(recovers)
    made = flow(step(clings, heartbeat=10, attempts=1, recovery=recovery), recovery)
    assert (await finished(await runtime.start(made, "flow"))).output == "Heartbeat"


@pytest.mark.rule("2.7/stop-cancel", "2.7/stop-terminate", "2.7/stop-fail", "2.7/async")
@pytest.mark.parametrize("kind", KINDS)
@with_runtime
async def test_a_stop_reaches_the_running_step_at_once(runtime: Runtime, kind: StopKind) -> None:
    """The Step is cancelled, the store forgets it, and no recovery follows."""
    seen: list[str] = []

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        try:
            await asyncio.sleep(1000)
        finally:
            seen.append("cancelled")
        return graceful_complete()

    async def recovers(context: AsyncContext, input: Any) -> StepDecision:
        raise AssertionError

    recovery = step(recovers)
    run = await runtime.start(flow(step(waits, recovery=recovery), recovery), "flow")
    await asyncio.sleep(1)
    await run.stop(kind, "enough")
    result = await finished(run)
    await asyncio.sleep(0)
    assert (seen, result.error_message, clock()) == (["cancelled"], "enough", 1.0)
    assert (await runtime.engine.provider.queue_depths()).leased == 0
    assert [event.kind for event in await history(run)][-2:] == ["step_cancelled", "flow_closed"]


@with_runtime
async def test_a_stop_before_the_step_begins_leaves_nothing_behind(runtime: Runtime) -> None:
    """A coroutine that was made and never begun is closed without a complaint."""

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(1000)
        return graceful_complete()

    for turns in range(12):
        run = await runtime.start(flow(waits), f"flow-{turns}")
        for _ in range(turns):
            await asyncio.sleep(0)
        await run.stop()
        assert (await finished(run)).status == "CANCELED"
    assert clock() == 0


@virtual
async def test_an_attempt_whose_lease_is_lost_is_ended_and_writes_nothing_more() -> None:
    """Somebody else owns the item: the first one's beats and messages are refused."""
    store = MemoryStore()
    began: list[str] = []

    def made(name: str) -> Any:
        async def polls(context: AsyncContext, input: Any) -> StepDecision:
            began.append(name)
            while True:
                await asyncio.sleep(1)
                PROGRESS.write(context, name)
                if name == "second" and clock() > 100:
                    return graceful_complete(name)

        return flow(step(polls, name="Polls"), streams=[PROGRESS])

    async with Runtime(MemoryProvider(store)) as first, Runtime(MemoryProvider(store)) as second:
        run = await first.start(made("first"), "flow")
        await asyncio.sleep(5.5)
        first.engine.upkeep.poke = lambda: None  # type: ignore[method-assign]  # a stopped process
        first.engine.worker.renew = lambda: asyncio.sleep(0)  # type: ignore[method-assign]  # as above
        second.register(made("second"))
        result = await finished(run)
        assert (result.output, began) == ("second", ["first", "second"])
        values = [message.value for message in await run.stream(PROGRESS)]
        handed_over = values.index("second")
        assert set(values[:handed_over]) == {"first"}
        assert set(values[handed_over:]) == {"second"}
        assert 20 < handed_over <= 45
