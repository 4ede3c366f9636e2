"""What seeds have found in the engine, in small, and what a simulated kill is."""

from __future__ import annotations

import asyncio
import logging
import sys
from datetime import timedelta
from typing import Any

import pytest

from dexnb import Context, Flow, Step, StepDecision, graceful_complete
from dexnb.clock import Clock
from dexnb.engine import Runtime
from dexnb.engine.capture import CapturingStream
from dexnb.errors import ProviderError
from dexnb.flow.context import AsyncContext
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import fast, finished, flow, step, virtual
from tests.simulation.machines import Killed, Machine, tell_tasks_apart
from tests.simulation.threads import SteppedLoop, pause


@virtual
async def test_an_attempt_that_outlives_its_successor_gives_its_slot_back() -> None:
    """Its lease ran out and the same engine ran the next attempt, which was done first."""
    over = asyncio.Event()

    async def outlive(context: AsyncContext, input: Any) -> StepDecision:
        if context.attempt == 1:
            await over.wait()
        return graceful_complete(context.attempt)

    faults = [Fault("renew_work_item_locks")]
    settings = fast(worker_lock_timeout=timedelta(seconds=1))
    async with Runtime(FaultyProvider(MemoryProvider(), faults), options=settings) as runtime:
        run = await runtime.start(flow(step(outlive)), "flow")
        assert (await finished(run)).output == 2
        over.set()
        await asyncio.sleep(1)
        engine = runtime.engine
        assert engine.worker.free_slots == settings.worker_concurrency
        errors = [each for each in engine.telemetry.events("") if each.kind == "engine_error"]
        assert all("injected fault" in error.payload["error"] for error in errors)


@virtual
async def test_a_cut_call_and_all_later_ones_never_come_back() -> None:
    """Behind the effect or before it; a delay counts as before it."""
    for applied in (False, True):
        store = MemoryStore()
        faults = [Fault("list_runs", {2}, cut=True, applied=applied), Fault("read_run", delay=5)]
        provider = FaultyProvider(MemoryProvider(store), faults)
        await provider.open(Clock.virtual(), "engine")
        await provider.list_runs()
        late = asyncio.ensure_future(provider.read_run(run_id="run"))
        for call in (provider.list_runs, provider.list_runs, provider.queue_depths):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(100):
                    await call()
        assert provider.severed.is_set()
        assert not late.done()
        late.cancel()


@virtual
async def test_an_answer_may_come_late() -> None:
    """The delay behind the effect goes before an error, too."""
    loop = asyncio.get_running_loop()
    faults = [Fault("list_runs", retryable=None, delay_after=3), Fault("list_runs", {2})]
    provider = FaultyProvider(MemoryProvider(), faults)
    await provider.open(Clock.virtual(), "engine")
    await provider.list_runs()
    assert loop.time() == 3
    with pytest.raises(ProviderError):
        await provider.list_runs()
    assert loop.time() == 6


@virtual
async def test_nothing_of_a_killed_machine_runs_on() -> None:
    """Its Steps, timers and calls end at once, its leases stand, and another machine goes on."""
    tell_tasks_apart(asyncio.get_running_loop())
    entered: list[tuple[int, float]] = []
    rounds: list[float] = []

    async def poll(context: AsyncContext, input: Any) -> StepDecision:
        entered.append((context.attempt, asyncio.get_running_loop().time()))
        for _ in range(10):
            await asyncio.sleep(1)
            rounds.append(asyncio.get_running_loop().time())
        return graceful_complete(context.attempt)

    made: Flow[Any] = flow(step(poll))
    store, settings = MemoryStore(), fast(worker_lock_timeout=timedelta(seconds=4))
    first, second = (
        Machine(FaultyProvider(MemoryProvider(store)), (made,), settings) for _ in range(2)
    )
    assert await first.start()
    run = await first.run(lambda: first.runtime.start(made, "flow"))
    waits = asyncio.ensure_future(first.run(run.wait))
    await asyncio.sleep(2.5)
    await first.kill()
    with pytest.raises(Killed):
        await waits
    await asyncio.sleep(20)
    assert rounds == [1, 2]
    assert await second.start()
    again = await second.run(lambda: second.runtime.get("flow"))
    assert (await second.run(again.wait)).output == 2
    assert [attempt for attempt, _ in entered] == [1, 2]
    await second.kill()


def test_a_machine_that_dies_over_its_stop_leaves_the_capture_to_others() -> None:
    """The stop has let go of the standard streams already; the kill must not do so for others."""

    async def scenario() -> None:
        tell_tasks_apart(asyncio.get_running_loop())
        provider = FaultyProvider(MemoryProvider(), [Fault("close", cut=True)])
        machine = Machine(provider, [], fast())
        assert await machine.start()
        await machine.stop()
        async with Runtime(MemoryProvider(), options=fast()):
            assert isinstance(sys.stdout, CapturingStream)
            assert logging.Logger.callHandlers is not before
        assert not isinstance(sys.stdout, CapturingStream)
        assert logging.Logger.callHandlers is before

    before = logging.Logger.callHandlers
    Clock.virtual().run(scenario())


def test_a_thread_of_a_killed_machine_ends_where_it_pauses() -> None:
    """With its process; the next machine's attempt does all of it."""
    rounds: list[int] = []

    class Poll(Step[Any]):
        """Pauses in a thread."""

        def execute(self, context: Context, input: Any) -> StepDecision:
            """Note each round."""
            for _ in range(4):
                pause(1)
                rounds.append(context.attempt)
            return graceful_complete(context.attempt)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        tell_tasks_apart(loop)
        made: Flow[Any] = flow(Poll)
        store, settings = MemoryStore(), fast(worker_lock_timeout=timedelta(seconds=4))
        first, second = (
            Machine(FaultyProvider(MemoryProvider(store)), (made,), settings) for _ in range(2)
        )
        assert await first.start()
        await first.run(lambda: first.runtime.start(made, "flow"))
        await asyncio.sleep(2.5)
        await first.kill()
        assert isinstance(loop, SteppedLoop)
        assert not loop.threads
        await asyncio.sleep(10)
        assert await second.start()
        run = await second.run(lambda: second.runtime.get("flow"))
        assert (await second.run(run.wait)).output == 2
        await second.kill()

    with asyncio.Runner(loop_factory=SteppedLoop) as runner:
        runner.run(main())
    assert rounds == [1, 1, 2, 2, 2, 2]
