"""Locks of Steps: taken together, kept over retries, waited for in the order of coming."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeMap,
    RetryPolicy,
    StepDecision,
    StepMovement,
    StepOptions,
    Timer,
    Wait,
    WaitForFailurePolicy,
    go_to_many,
    graceful_complete,
)
from dexnb.engine import Runtime
from dexnb.model.message import RpcBegin
from tests.engine.flows import finished
from tests.engine.rules.made import clock, flow_of, of_kind, on_stores, started, tell, waits

A, B = Attribute("a", int), Attribute("b", int)
SEATS = AttributeMap("seats", str)
KEEPS = (A, B, SEATS)


def locking(*names: Any, retry: RetryPolicy | None = None) -> StepOptions:
    """Make options under which execute holds locks."""
    return StepOptions(execute_lock_attributes=names, execute_retry=retry)


def splitting(*steps: Any) -> Any:
    """Make a Flow that goes to these Steps side by side."""

    async def splits(context: AsyncContext, input: Any) -> StepDecision:
        return go_to_many(*(StepMovement.of(step, None) for step in steps))

    return flow_of(waits(splits), *dict.fromkeys(steps), keeps=KEEPS)


@pytest.mark.rule("2.9/together", "2.9/steps-wait", "2.9/released", "2.2/locks-released")
@on_stores
async def test_no_two_steps_hold_the_same_lock(runtime: Runtime) -> None:
    """They run one behind the other, and each sees what the one before it wrote."""
    held: list[tuple[float, int]] = []

    async def adds(context: AsyncContext, input: Any) -> StepDecision:
        held.append((clock(), A.get(context)))
        await asyncio.sleep(10)
        A.set(context, A.get(context) + 1)
        return graceful_complete()

    step = waits(adds, options=locking(A.lock(), B.lock()))
    run = await started(runtime, splitting(step, step, step))
    await finished(run)
    assert [value for _, value in held] == [0, 1, 2]
    assert [at for at, _ in held] == pytest.approx([0, 10, 20])
    assert (await run.state()).locks == {}


@pytest.mark.rule("2.9/together")
@on_stores
async def test_of_two_locks_none_is_taken_before_both_are_free(runtime: Runtime) -> None:
    """Steps that want the same two in another order cannot wait for each other for ever."""
    order: list[str] = []

    async def first(context: AsyncContext, input: Any) -> StepDecision:
        order.append("first")
        await asyncio.sleep(10)
        return graceful_complete()

    async def both(context: AsyncContext, input: Any) -> StepDecision:
        order.append(f"both at {clock():.0f}")
        await asyncio.sleep(10)
        return graceful_complete()

    holds_a = waits(first, options=locking(A.lock()))
    ab = waits(both, options=locking(A.lock(), B.lock()), name="Ab")
    ba = waits(both, options=locking(B.lock(), A.lock()), name="Ba")
    run = await started(runtime, splitting(holds_a, ab, ba))
    await asyncio.sleep(5)
    assert (await run.state()).locks == {"a": "First-1"}
    await finished(run)
    assert order == ["first", "both at 10", "both at 20"]


@pytest.mark.rule("2.2/locks-over-retries", "2.2/locks-released")
@on_stores
async def test_locks_are_kept_while_a_retry_is_waited_for(runtime: Runtime) -> None:
    """Also when the Step fails for good and a recovery follows: only then are they free."""
    began: list[tuple[str, float]] = []
    retry = RetryPolicy(initial_interval=timedelta(seconds=30), maximum_attempts=2)

    async def recovers(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(50)
        return graceful_complete()

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        began.append(("fails", clock()))
        raise ConnectionError

    async def other(context: AsyncContext, input: Any) -> StepDecision:
        began.append(("other", clock()))
        return graceful_complete()

    recovery = waits(recovers)
    options = locking(A.lock(), retry=retry).on_execute_failure_proceed_to(recovery)
    steps = (waits(fails, options=options), waits(other, options=locking(A.lock())))

    async def splits(context: AsyncContext, input: Any) -> StepDecision:
        return go_to_many(*(StepMovement.of(step, None) for step in steps))

    made = flow_of(waits(splits), *steps, recovery, keeps=KEEPS)
    await finished(await started(runtime, made))
    assert [name for name, _ in began] == ["fails", "fails", "other"]
    assert [at for _, at in began] == pytest.approx([0, 30, 30])


@pytest.mark.rule("2.2/locks-released", "2.9/released")
@on_stores
async def test_locks_of_wait_for_are_not_held_while_the_step_waits(runtime: Runtime) -> None:
    """Each method locks for itself; waiting is no method."""
    began: list[tuple[str, float]] = []

    async def waiting(context: AsyncContext, input: Any) -> Wait:
        began.append(("wait_for", clock()))
        await asyncio.sleep(5)
        return Wait.until(Timer.by_duration(timedelta(seconds=60)))

    async def acts(context: AsyncContext, input: Any) -> StepDecision:
        began.append(("execute", clock()))
        return graceful_complete()

    async def other(context: AsyncContext, input: Any) -> StepDecision:
        began.append(("other", clock()))
        await asyncio.sleep(50)
        return graceful_complete()

    options = StepOptions(
        wait_for_lock_attributes=(SEATS.lock("1"),), execute_lock_attributes=(SEATS.lock("1"),)
    )
    waiter = waits(acts, waiting, options=options)
    neighbour = waits(other, options=locking(SEATS.lock("1")))
    elsewhere = waits(acts, options=locking(SEATS.lock("2")), name="Elsewhere")
    await finished(await started(runtime, splitting(waiter, neighbour, elsewhere)))
    assert [name for name, _ in began] == ["wait_for", "execute", "other", "execute"]
    assert [at for _, at in began] == pytest.approx([0, 0, 5, 65])


@pytest.mark.rule("2.2/locks-released")
@pytest.mark.parametrize("ending", ["proceeds", "fails the Flow", "is stopped"])
@on_stores
async def test_a_wait_for_that_ends_otherwise_gives_its_locks_back(
    runtime: Runtime, ending: str
) -> None:
    """Also while the execute that follows a failed one still runs."""

    async def waiting(context: AsyncContext, input: Any) -> Wait:
        if ending == "is stopped":
            await asyncio.sleep(1000)
        raise ConnectionError

    async def acts(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(30)
        return graceful_complete()

    policy = WaitForFailurePolicy
    options = StepOptions(
        wait_for_lock_attributes=(A.lock(),),
        wait_for_retry=RetryPolicy(maximum_attempts=1),
        wait_for_failure=policy.PROCEED if ending == "proceeds" else policy.FAIL_FLOW,
    )
    run = await started(runtime, flow_of(waits(acts, waiting, options=options), keeps=KEEPS))
    await asyncio.sleep(5)
    if ending == "is stopped":
        assert (await run.state()).locks == {"a": "Acts-1"}
        await run.stop()
        await finished(run)
    assert (await run.state()).locks == {}
    assert (await run.status() == "RUNNING") is (ending == "proceeds")


@pytest.mark.rule("2.4/budget-start")
@on_stores
async def test_the_wait_for_a_lock_is_not_taken_from_the_retry_budget(runtime: Runtime) -> None:
    """The budget of ten seconds begins when the Step is first delivered, after fifty."""
    began: list[float] = []

    async def holds(context: AsyncContext, input: Any) -> StepDecision:
        await asyncio.sleep(50)
        return graceful_complete()

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        began.append(clock())
        if len(began) == 3:
            return graceful_complete()
        raise ConnectionError

    budget = RetryPolicy(total_duration=timedelta(seconds=10))
    first = waits(holds, options=locking(A.lock()))
    second = waits(fails, options=locking(A.lock(), retry=budget))
    assert (await finished(await started(runtime, splitting(first, second)))).status == "COMPLETED"
    assert began == pytest.approx([50, 51, 53])


@pytest.mark.rule("2.9/no-lock-in-poll")
@on_stores
async def test_a_long_poll_under_a_lock_keeps_it_to_its_end(runtime: Runtime) -> None:
    """The runtime lets a Step do so, and refuses an RPC meanwhile."""

    async def polls(context: AsyncContext, input: Any) -> StepDecision:
        for _ in range(30):
            await asyncio.sleep(50)
            await context.heartbeat()
        return graceful_complete()

    run = await started(runtime, flow_of(waits(polls, options=locking(A.lock())), keeps=KEEPS))
    await asyncio.sleep(1000)
    await tell(runtime, run, RpcBegin("r1", ["a"], 5000.0))
    (refused,) = await of_kind(run, "rpc_refused")
    assert refused.payload["reason"] == "locked: a"
    assert (await finished(run)).status == "COMPLETED"
