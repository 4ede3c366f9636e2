"""The dispatcher's loop: how often it asks which store, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime, RuntimeOptions
from dexnb.flow.context import AsyncContext
from dexnb.model.message import Stop
from dexnb.providers import Handlers, MemoryProvider, MemoryStore, WorkItem
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import finished, flow, virtual
from tests.engine.stores import Plain

QUEUES = ("messages", "work")


def settings(**given: Any) -> RuntimeOptions:
    """Make options of a long poll of 2 s and a minimum interval of 500 ms."""
    return RuntimeOptions(
        **{
            "dispatcher_long_poll_timeout": timedelta(seconds=2),
            "dispatcher_min_poll_interval": timedelta(milliseconds=500),
            **given,
        }
    )


async def end(context: AsyncContext, input: Any) -> StepDecision:
    """Complete with the attempt's number."""
    return graceful_complete(context.attempt)


async def now() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


@virtual
async def test_a_store_that_honours_the_poll_timeout_is_asked_five_times_in_ten_seconds() -> None:
    """With a long poll of 2 s, an idle dispatcher fetches once in 2 s."""
    store = Plain(waits=True)
    async with Runtime(store, options=settings()):
        await asyncio.sleep(10)
        for queue in QUEUES:
            assert store.counts(queue) == pytest.approx(5, abs=1)


@virtual
async def test_a_store_that_ignores_the_poll_timeout_is_asked_twenty_times_in_ten_seconds() -> None:
    """The minimum interval of 500 ms spaces fetches that return at once."""
    store = Plain(waits=False)
    async with Runtime(store, options=settings()):
        await asyncio.sleep(10)
        for queue in QUEUES:
            assert store.counts(queue) == pytest.approx(20, abs=1)


@virtual
async def test_each_fetch_carries_exactly_the_configured_timeouts() -> None:
    """Neither the poll timeout nor the lock timeout is changed on the way to the store."""
    store = Plain(waits=False)
    options = settings(
        orchestrator_lock_timeout=timedelta(seconds=7), worker_lock_timeout=timedelta(seconds=11)
    )
    async with Runtime(store, options=options):
        await asyncio.sleep(3)

    assert {fetch.poll_timeout for fetch in store.fetches} == {2.0}
    asked = {(fetch.queue, fetch.lock_timeout) for fetch in store.fetches}
    assert asked == {("messages", 7.0), ("work", 11.0)}


@virtual
async def test_a_poll_timeout_of_zero_is_passed_on() -> None:
    """Zero means `return now`; the minimum interval alone spaces the fetches."""
    store = Plain(waits=True)
    options = settings(dispatcher_long_poll_timeout=timedelta(0))
    async with Runtime(store, options=options):
        await asyncio.sleep(10)

    assert store.counts("work") == pytest.approx(20, abs=1)
    assert {fetch.poll_timeout for fetch in store.fetches} == {0.0}


@virtual
async def test_a_hit_is_followed_by_a_fetch_at_once() -> None:
    """As long as there is work, the minimum interval adds nothing."""
    store = Plain(waits=False)
    slow = settings(dispatcher_min_poll_interval=timedelta(seconds=1), worker_concurrency=1)
    async with Runtime(store, options=slow) as runtime:
        runs = [await runtime.start(flow(end), f"flow-{i}") for i in range(20)]
        for run in runs:
            await finished(run)
        assert await now() <= 3


@virtual
async def test_a_store_with_hints_is_not_polled_while_nothing_happens() -> None:
    """An idle dispatcher parks in the store for the whole long poll."""
    async with Runtime(MemoryProvider(), options=RuntimeOptions()) as runtime:
        await asyncio.sleep(300)
        assert runtime.engine.turns.fetches == pytest.approx(11, abs=1)
        run = await runtime.start(flow(end), "flow")
        began = await now()
        await finished(run)
        assert await now() == began


@virtual
async def test_both_times_may_be_changed_while_running() -> None:
    """A new value is used by the next cycle, and ends a pause that is too long for it."""
    store = Plain(waits=False)
    options = settings(dispatcher_min_poll_interval=timedelta(seconds=600))
    async with Runtime(store, options=options):
        await asyncio.sleep(1)
        assert store.counts("work") == 1
        options.dispatcher_min_poll_interval = timedelta(milliseconds=500)
        options.dispatcher_long_poll_timeout = timedelta(seconds=9)
        await asyncio.sleep(10)
        assert store.counts("work") == pytest.approx(21, abs=1)
        assert store.fetches[-1].poll_timeout == 9.0
        options.dispatcher_min_poll_interval = timedelta(seconds=5)
        before = store.counts("work")
        await asyncio.sleep(20)
        assert store.counts("work") - before == pytest.approx(4, abs=1)


@virtual
async def test_a_new_poll_timeout_is_felt_by_a_parked_fetch() -> None:
    """A fetch that waits by the old timeout is asked to return, and comes back with the new."""
    options = settings(dispatcher_long_poll_timeout=timedelta(seconds=600))
    async with Runtime(MemoryProvider(), options=options) as runtime:
        await asyncio.sleep(1)
        options.dispatcher_long_poll_timeout = timedelta(seconds=1)
        await asyncio.sleep(10)
        assert runtime.engine.attempts.fetches == pytest.approx(11, abs=2)


@virtual
async def test_retryable_errors_back_off_from_200_ms_doubling_to_3_s() -> None:
    """Source: 200, 400, 800, 1600, 3000, 3000 ms; a success starts anew."""
    store = FaultyProvider(Plain(waits=False), [Fault("fetch_work_items", range(2, 9))])
    async with Runtime(store, options=settings()) as runtime:
        await asyncio.sleep(20)
        events = runtime.engine.telemetry.events("")

    cycles = [e for e in events if e.kind == "dispatcher_cycle" and e.payload["queue"] == "work"]
    pauses = [e.payload["sleep"] for e in cycles if e.payload["result"] == "error"]
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.0, 3.0, 3.0]
    gaps = [later.time - cycle.time for cycle, later in pairwise(cycles)]
    assert gaps[1:8] == pytest.approx(pauses, abs=1e-6)
    assert [e.payload["result"] for e in cycles].count("empty") > 10


@virtual
async def test_permanent_errors_pause_for_100_ms() -> None:
    """They neither spin nor stop the loop."""
    inner = Plain(waits=False)
    store = FaultyProvider(inner, [Fault("fetch_work_items", range(1, 21), retryable=False)])
    async with Runtime(store, options=settings()) as runtime:
        run = await runtime.start(flow(end), "flow")
        await finished(run)
        assert 2.0 <= await now() <= 2.6


@virtual
async def test_an_error_that_is_no_provider_error_does_not_end_the_loop() -> None:
    """A fault in a store's own code is told, and the loop goes on after a pause."""
    fault = Fault("fetch_work_items", {1, 2}, error=ZeroDivisionError("a bug of the store"))
    async with Runtime(FaultyProvider(MemoryProvider(), [fault])) as runtime:
        run = await runtime.start(flow(end), "flow")
        assert (await finished(run)).output == 1
        assert await now() == pytest.approx(0.6, abs=0.1)
        told = [event.payload["error"] for event in runtime.engine.telemetry.events("")]
        assert sum("a bug of the store" in text for text in told) == 2


class Slow(MemoryProvider):
    """A store whose work fetch takes its item and then half a second to bring it."""

    async def fetch_work_items(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers, limit: int
    ) -> Sequence[WorkItem]:
        """Deliver late."""
        items = await super().fetch_work_items(lock_timeout, poll_timeout, handlers, limit)
        await asyncio.shield(asyncio.sleep(0.3))
        return items


@virtual
async def test_an_item_fetched_after_the_stop_is_handed_back_without_an_attempt() -> None:
    """The next engine gets it as the first attempt, at once and not when a lease runs out."""
    store = MemoryStore()
    async with Runtime(Slow(store)) as runtime:
        run = await runtime.start(flow(end), "flow")
        await asyncio.sleep(0.1)
        began = await now()
    assert await now() - began < 1

    async with Runtime(MemoryProvider(store)) as runtime:
        runtime.register(flow(end))
        run = await runtime.get("flow")
        assert (await finished(run)).output == 1
        assert await now() - began < 1.5


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("fault", [None, "fetch_work_items"])
def test_b29_stop_interrupts_a_parked_fetch_an_interval_and_an_error_pause(
    waits: bool, fault: str | None
) -> None:
    """A 30 s fetch, a 600 s interval and the longest error pause all end in under a second."""

    async def main() -> None:
        faults = [Fault(fault)] if fault else []
        store = FaultyProvider(Plain(waits=waits), faults)
        options = settings(
            dispatcher_long_poll_timeout=timedelta(seconds=30),
            dispatcher_min_poll_interval=timedelta(seconds=600),
        )
        runtime = Runtime(store, options=options)
        await runtime.engine.start()
        await asyncio.sleep(20)
        began = await now()
        await runtime.close()
        assert await now() - began < 1

    virtual(main)()


@virtual
async def test_b29_stop_interrupts_a_fetch_parked_in_a_store_with_hints() -> None:
    """Waking the store is enough: no virtual time passes."""
    runtime = Runtime(MemoryProvider())
    await runtime.engine.start()
    await asyncio.sleep(5)
    began = await now()
    await runtime.close()
    assert await now() == began


@virtual
async def test_a_cancelled_fetch_has_ended_before_the_store_is_closed() -> None:
    """After the stop nothing of the engine is left in the store."""
    store = Plain(waits=True)
    runtime = Runtime(store, options=settings(dispatcher_long_poll_timeout=timedelta(seconds=60)))
    await runtime.engine.start()
    await asyncio.sleep(1)
    assert store.under_way == 2
    await runtime.close()
    assert store.under_way == 0


@virtual
async def test_b14_an_orphan_message_does_not_make_the_dispatcher_spin() -> None:
    """A message to a run that nobody has started costs no fetch storm."""
    async with Runtime(MemoryProvider()) as runtime:
        await asyncio.sleep(1)
        before = runtime.engine.turns.fetches
        await runtime.engine.send("nobody", Stop("CANCEL"))
        await asyncio.sleep(5)
        assert runtime.engine.turns.fetches - before <= 5 / 0.1 + 1
        assert (await runtime.engine.provider.queue_depths()).messages == 0


@virtual
async def test_what_was_registered_just_now_runs_without_a_pause() -> None:
    """A first registration ends the parked fetches; the start after it waits for no interval."""
    async with Runtime(MemoryProvider()) as runtime:
        await asyncio.sleep(5)
        began = await now()
        await (await runtime.start(flow(end), "at-once")).wait()
        assert await now() - began < 0.05
