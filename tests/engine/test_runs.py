"""Runs by their flow ids, and what a runtime says before its start and behind its end."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    Clock,
    Flow,
    Step,
    StepDecision,
    StepList,
    Timer,
    Wait,
    go_to,
    graceful_complete,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.errors import (
    DexnbError,
    DexnbWarning,
    FlowAlreadyStartedError,
    RunNotFound,
    RuntimeClosed,
    WaitTimeout,
)
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider
from tests.engine.flows import finished, flow, history, virtual, with_runtime
from tests.engine.orders import Order
from tests.engine.rules.made import flow_of, waits

ORDER = Order()


def clock() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


async def end(context: AsyncContext, input: Any) -> StepDecision:
    """Complete with the attempt's number."""
    return graceful_complete(context.attempt)


async def nap(context: AsyncContext, input: Any) -> StepDecision:
    """Work for ten seconds and complete with the attempt's number."""
    await asyncio.sleep(10)
    return graceful_complete(context.attempt)


@with_runtime
async def test_start_attaches_to_an_open_id(runtime: Runtime) -> None:
    """The same id and Flow give the run that is open; its input stands, and another is told."""
    one = await runtime.start(flow(nap), "flow", 1)
    other = "flow runs on with its input 1, and 2 is not used"
    with pytest.warns(DexnbWarning, match=other) as told:
        two = await runtime.start(flow(nap), "flow", 2)
    assert told[0].filename == __file__
    assert two.run_id == one.run_id
    assert (await runtime.start(flow(nap), "flow", 1)).run_id == one.run_id
    assert (await two.state()).input == 1
    assert len(await runtime.runs()) == 1
    await finished(two)


@with_runtime
async def test_start_begins_anew_on_a_closed_id(runtime: Runtime) -> None:
    """A new run of the same id; `get` gives the newest."""
    one = await runtime.start(flow(end), "flow")
    await finished(one)
    two = await runtime.start(flow(end), "flow")
    assert two.run_id != one.run_id
    await finished(two)
    assert (await runtime.get("flow")).run_id == two.run_id
    assert [run.run_id for run in await runtime.runs()] == [two.run_id, one.run_id]
    assert len(await history(one)) == len(await history(two)) == 4


@with_runtime
async def test_start_refuses_an_open_id_of_another_flow(runtime: Runtime) -> None:
    """The text names both Flows and the ways out."""
    await runtime.start(flow(nap, name="One"), "flow")
    with pytest.raises(FlowAlreadyStartedError, match="open run of One, not of Two: use another"):
        await runtime.start(flow(nap, name="Two"), "flow")


@with_runtime
async def test_an_id_that_nobody_used_is_not_found(runtime: Runtime) -> None:
    """The error names it."""
    with pytest.raises(RunNotFound, match="no run of flow id 'nobody'"):
        await runtime.get("nobody")


class Other(Step[int]):
    """A Step written as a class, as users do."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Complete with the input."""
        return graceful_complete(input + 1)


class Written(Flow[int]):
    """A Flow written as a class."""

    def get_steps(self) -> StepList[int]:
        """Give its one Step."""
        return StepList.start_step(Other())


@virtual
async def test_a_runtime_that_is_not_open_says_so() -> None:
    """Before the block and behind it, no internal error is shown."""
    runtime = Runtime(MemoryProvider())
    with pytest.raises(RuntimeClosed, match="not open yet"):
        await runtime.start(Written(), "flow", 1)
    runtime.register(Written())
    async with runtime:
        run = await runtime.start(Written(), "flow", 1)
        assert (await finished(run)).output == 2
    for use in (
        lambda: runtime.start(Written(), "flow", 1),
        lambda: runtime.get("flow"),
        runtime.runs,
        run.state,
        run.status,
        run.result,
        run.wait,
        run.events,
        lambda: run.stream("x"),
        run.stop,
    ):
        with pytest.raises(RuntimeClosed, match="closed"):
            await use()
    with pytest.raises(RuntimeClosed, match="works once"):
        async with runtime:
            pass
    await runtime.close()


@virtual
async def test_a_wait_is_ended_when_the_runtime_is_closed() -> None:
    """It neither hangs nor pretends that the run had ended."""
    runtime = Runtime(MemoryProvider())
    await runtime.engine.start()
    run = await runtime.start(flow(nap), "flow")
    wait = asyncio.ensure_future(run.wait())
    await asyncio.sleep(1)
    await asyncio.gather(runtime.close(), runtime.close())
    with pytest.raises(RuntimeClosed, match="closed during the wait"):
        await wait
    assert clock() == 1


@with_runtime
async def test_a_wait_that_gives_up_says_what_failed_last(runtime: Runtime) -> None:
    """Whoever waits for a Step that always fails learns why."""

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        message = "no such host"
        raise ValueError(message)

    run = await runtime.start(flow(fails), "fails")
    with pytest.raises(WaitTimeout, match=r"attempt 2 of .*-1 failed with .*ValueError: no such"):
        await run.wait(2)


@with_runtime
async def test_a_wait_that_gives_up_does_not_tell_of_what_is_over(runtime: Runtime) -> None:
    """Neither of a Step that has ended since, nor of an attempt before a good one of its Step."""

    async def fails_once(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt == 1:
            raise ValueError
        return go_to(after, None)

    async def fails_to_wait_once(context: AsyncContext, input: Any) -> Wait:
        if context.attempt == 1:
            raise ValueError
        return Wait.until(Timer.by_duration(timedelta(hours=1)))

    after = waits(end, fails_to_wait_once, name="After")
    run = await runtime.start(flow_of(waits(fails_once, name="First"), after), "flow")
    with pytest.raises(WaitTimeout, match=r"attempt 1 of First-1 failed with .*ValueError"):
        await run.wait(0.5)
    with pytest.raises(WaitTimeout, match=r"attempt 1 of After-1 failed with .*ValueError"):
        await run.wait(1)
    with pytest.raises(WaitTimeout, match=r"clock; it was left alone"):
        await run.wait(100)


@pytest.mark.parametrize("flow_id", ["x" * 200_000, "a\ud800", "a\n\x1b[31mb"])
def test_an_unknown_id_of_any_text_is_named_in_short(flow_id: str) -> None:
    """In a line that can be printed."""

    async def inside() -> None:
        async with Runtime(MemoryProvider()) as runtime, AsyncClient(runtime) as client:
            run_id = await client.start_flow(ORDER, "order", "a")
            assert run_id
            for call in (
                runtime.get(flow_id),
                client.describe_flow(flow_id),
                client.stop_flow(flow_id),
                client.invoke_rpc(Order.see, "order", run_id=flow_id),
                client.search_flows("", 1, flow_id),
                runtime.start(ORDER, "other", "a", overrides={flow_id: 1}),
            ):
                with pytest.raises(DexnbError) as caught:
                    await call
                text = str(caught.value)
                assert len(text) < 1000
                assert text.isprintable()

    Clock.virtual().run(inside())
