"""The worker: slots, redelivery, hand-backs, poison, and code that is not there."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dexnb import (
    Context,
    Flow,
    Step,
    StepDecision,
    StepDurability,
    StepList,
    StepOptions,
    graceful_complete,
)
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import (
    crash,
    failure_of,
    fast,
    finished,
    flow,
    history,
    step,
    telemetry,
    virtual,
    with_runtime,
)
from tests.engine.stores import Asked


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


@pytest.mark.parametrize("form", ["async", "sync"])
@pytest.mark.parametrize("setting", ["worker_concurrency", "sync_concurrency"])
def test_no_more_attempts_run_than_there_are_slots(form: str, setting: str) -> None:
    """The others wait, and every one gets its turn."""
    running: set[str] = set()
    most = 0

    async def works(context: AsyncContext, input: Any) -> StepDecision:
        nonlocal most
        running.add(context.flow_id)
        most = max(most, len(running))
        await asyncio.sleep(1)
        running.discard(context.flow_id)
        return graceful_complete()

    def works_sync(context: Context, input: Any) -> StepDecision:
        nonlocal most
        running.add(context.flow_id)
        most = max(most, len(running))
        running.discard(context.flow_id)
        return graceful_complete()

    async def main() -> None:
        settings = fast(**{setting: 3})
        async with Runtime(MemoryProvider(), options=settings) as runtime:
            made = flow(step(works if form == "async" else works_sync))
            runs = [await runtime.start(made, f"flow-{number}") for number in range(12)]
            for run in runs:
                assert (await finished(run)).status == "COMPLETED"
        limited = form == "sync" or setting == "worker_concurrency"
        assert 0 < most <= (3 if limited else 12)
        if form == "async":
            assert clock() == pytest.approx(4 if limited else 1)

    virtual(main)()


@with_runtime
async def test_turns_have_slots_of_their_own(runtime: Runtime) -> None:
    """One turn at a time is enough for any number of runs."""
    runtime.options.orchestration_concurrency = 1
    runs = [await runtime.start(flow(nap), f"flow-{number}") for number in range(50)]
    for run in runs:
        await finished(run)
    assert clock() == pytest.approx(10)


@pytest.mark.rule("2.3/lost-worker")
@virtual
async def test_a_redelivery_raises_the_visible_attempt_by_one() -> None:
    """An engine that is lost has used an attempt; the next one takes over when its lease ends."""
    store = MemoryStore()
    first = Runtime(MemoryProvider(store))
    await first.engine.start()
    run = await first.start(flow(nap), "flow")
    await asyncio.sleep(1)
    await crash(first)

    async with Runtime(MemoryProvider(store)) as second:
        second.register(flow(nap))
        run = await second.get("flow")
        assert (await finished(run)).output == 2
        assert clock() == pytest.approx(30 + 10, abs=0.1)
        started = [event.payload["deliveries"] for event in await telemetry(run, "attempt_started")]
        assert started[-1] == 2


@pytest.mark.rule("2.4/dispatch")
@pytest.mark.parametrize("limit", ["attempts", "total_duration"])
@virtual
async def test_an_attempt_lost_with_its_engine_is_the_last_one_when_no_retry_is_left(
    limit: str,
) -> None:
    """A redelivery is judged like a retry: WorkerLost, in one stable sentence."""
    store = MemoryStore()
    settings: dict[str, Any] = {"attempts": 1} if limit == "attempts" else {"total": 20}
    made = flow(step(nap, **settings))
    first = Runtime(MemoryProvider(store))
    await first.engine.start()
    await first.start(made, "flow")
    await asyncio.sleep(1)
    await crash(first)

    async with Runtime(MemoryProvider(store)) as second:
        second.register(made)
        run = await second.get("flow")
        assert (await finished(run)).status == "FAILED"
        failure = failure_of(await history(run))
    lost = failure if limit == "attempts" else failure["last_error"]
    assert lost["error_type"] == "WorkerLost"
    assert lost["detail"] == "the engine that ran the attempt was lost"
    assert failure["error_type"] == ("WorkerLost" if limit == "attempts" else "ScheduleToClose")


@virtual
async def test_an_orderly_stop_gives_back_without_using_an_attempt() -> None:
    """However often engines come and go, the Step's attempt stays the first."""
    store = MemoryStore()
    seen: list[int] = []

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        seen.append(context.attempt)
        await asyncio.sleep(10)
        return graceful_complete()

    made = flow(step(waits, attempts=1))
    async with Runtime(MemoryProvider(store)) as runtime:
        await runtime.start(made, "flow")
        await asyncio.sleep(1)
    for _ in range(5):
        async with Runtime(MemoryProvider(store)) as runtime:
            runtime.register(made)
            await asyncio.sleep(1)
    assert clock() == pytest.approx(6)
    async with Runtime(MemoryProvider(store)) as runtime:
        runtime.register(made)
        assert (await finished(await runtime.get("flow"))).status == "COMPLETED"
    assert seen == [1] * 7


@virtual
async def test_a_stop_during_a_retry_delay_keeps_attempt_and_delay() -> None:
    """The retry is in the store, not in the engine."""
    store = MemoryStore()
    seen: list[tuple[int, float]] = []

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        seen.append((context.attempt, clock()))
        if context.attempt == 3:
            return graceful_complete()
        raise ValueError

    made = flow(step(fails, initial=10))
    async with Runtime(MemoryProvider(store)) as runtime:
        await runtime.start(made, "flow")
        await asyncio.sleep(4)
    async with Runtime(MemoryProvider(store)) as runtime:
        runtime.register(made)
        await finished(await runtime.get("flow"))
    assert seen == [(1, 0), (2, 10), (3, 30)]


@virtual
async def test_a32_an_item_without_code_waits_for_ever_and_goes_on_when_it_comes() -> None:
    """No poison, no fetch storm, a clear reason; the checkpoint is still there."""
    store = MemoryStore()
    found: list[Any] = []

    async def waits(context: AsyncContext, input: Any) -> StepDecision:
        found.append((context.attempt, context.get_last_heartbeat_value(int)))
        await context.heartbeat(7)
        await asyncio.sleep(10)
        return graceful_complete()

    old = flow(step(waits, name="Wait"), name="Polling")
    renamed = flow(step(waits, name="Watch"), step(end, name="End"), name="Polling")
    async with Runtime(MemoryProvider(store)) as runtime:
        run = await runtime.start(old, "flow")
        assert await run.waiting_for_code() == ""
        await asyncio.sleep(1)
    async with Runtime(MemoryProvider(store)) as runtime:
        run = await runtime.get("flow")
        assert await run.waiting_for_code() == (
            "waits for code: no Flow named Polling is registered in this process"
        )
        runtime.register(renamed)
        assert await run.waiting_for_code() == (
            "waits for code: no Step named Wait; registered: End, Watch"
        )
        fetches = runtime.engine.attempts.fetches
        await asyncio.sleep(3600)
        assert runtime.engine.attempts.fetches - fetches <= 3600 / 30 + 1
        assert await run.status() == "RUNNING"
        runtime.register(old)
        assert (await finished(run)).status == "COMPLETED"
        assert clock() == pytest.approx(3611)
    assert found == [(1, None), (1, 7)]


@with_runtime
async def test_a32_a_step_renamed_while_it_runs_ends_as_it_began(runtime: Runtime) -> None:
    """An attempt keeps the classes it began with; only the next needs them again."""
    run = await runtime.start(flow(step(nap, name="Old"), name="Polling"), "flow")
    await asyncio.sleep(1)
    runtime.register(flow(step(nap, name="New"), name="Polling"))
    assert (await finished(run)).output == 1


@virtual
async def test_a_stop_does_not_wait_for_a_store_that_never_answers() -> None:
    """After five seconds what cannot be written is left to its leases."""
    store = FaultyProvider(MemoryProvider())
    runtime = Runtime(store, options=fast())
    await runtime.engine.start()

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        while True:
            await context.heartbeat(clock())
            await asyncio.sleep(0.1)

    await runtime.start(flow(beats), "flow")
    await runtime.start(flow(end, name="Ends"), "ends")
    calls = ["record_beats", "abandon_work_item", "ack_work_item", "ack_work_item_with_turn"]
    store.faults += map(Fault, calls)
    await asyncio.sleep(1)
    await runtime.close()
    assert clock() < 8


@virtual
async def test_the_lease_of_a_turn_and_of_an_attempt_are_as_configured() -> None:
    """A lost engine's attempt is free after exactly its own lease."""
    store = MemoryStore()
    settings = fast(worker_lock_timeout=timedelta(seconds=4))
    first = Runtime(MemoryProvider(store), options=settings)
    await first.engine.start()
    await first.start(flow(nap), "flow")
    await asyncio.sleep(1)
    await crash(first)
    async with Runtime(MemoryProvider(store)) as second:
        second.register(flow(nap))
        await finished(await second.get("flow"))
    assert clock() == pytest.approx(14, abs=0.1)


@pytest.mark.parametrize("durability", [StepDurability.SYNC, StepDurability.ASYNC])
@virtual
async def test_only_a_step_of_async_durability_is_acknowledged_without_the_disk(
    durability: StepDurability,
) -> None:
    """DEFAULT and SYNC wait for it; the store is told which."""

    class Ends(Step[None]):
        def get_step_options(self) -> StepOptions:
            return StepOptions(execute_durability=durability)

        async def execute(self, context: AsyncContext, input: None) -> StepDecision:
            return graceful_complete()

    class Ending(Flow[None]):
        def get_steps(self) -> StepList[None]:
            return StepList.start_step(Ends())

    store = Asked()
    async with Runtime(store) as runtime:
        assert (await (await runtime.start(Ending(), "ends")).wait()).status == "COMPLETED"
    assert store.asked == [durability is StepDurability.SYNC]


@virtual
async def test_an_engine_without_slots_starts_flows_and_leaves_them_to_others() -> None:
    """A client beside workers; given slots, it runs Steps from then on."""
    store = MemoryStore()
    none = fast(worker_concurrency=0)
    async with Runtime(MemoryProvider(store), options=none) as client:
        run = await client.start(flow(nap), "flow")
        await asyncio.sleep(5)
        assert client.engine.worker.live == {}
        async with Runtime(MemoryProvider(store), options=fast()) as worker:
            worker.register(flow(nap))
            assert (await finished(run)).status == "COMPLETED"
        again = await client.start(flow(nap), "again")
        await asyncio.sleep(5)
        none.worker_concurrency = 1
        assert (await finished(again)).status == "COMPLETED"
