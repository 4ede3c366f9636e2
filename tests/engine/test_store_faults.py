"""What a store that fails for a while costs: nothing that a Step or a Flow would notice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from dexnb import StepDecision, Stream, go_to, graceful_complete
from dexnb.engine import Runtime
from dexnb.errors import ProviderError
from dexnb.flow.context import AsyncContext
from dexnb.providers import Beat, MemoryProvider, MemoryStore, Provider
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import (
    fast,
    finished,
    flow,
    step,
    telemetry,
    virtual,
)

PROGRESS = Stream("Progress", int, 1 << 20)


def clock() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


async def end(context: AsyncContext, input: Any) -> StepDecision:
    """Complete with the attempt's number."""
    return graceful_complete(context.attempt)


class TurnsApart(FaultyProvider):
    """A store that leaves each turn to a commit of its own."""

    ack_work_item_with_turn = Provider.ack_work_item_with_turn


def _store_for(method: str) -> FaultyProvider:
    """Give a store whose engine makes use of a method."""
    with_turns = method == "ack_work_item_with_turn"
    return (FaultyProvider if with_turns else TurnsApart)(MemoryProvider())


class Poll:
    """A Step that polls each second, beats with its count, and completes with its attempt."""

    def __init__(self, rounds: int) -> None:
        """Poll so many times."""
        self.rounds = rounds
        self.entered: list[int] = []
        self.polls: list[float] = []

    async def execute(self, context: AsyncContext, input: Any) -> StepDecision:
        """See the class."""
        self.entered.append(context.attempt)
        for number in range(self.rounds):
            self.polls.append(clock())
            await asyncio.sleep(1)
            await context.heartbeat(number)
            PROGRESS.write(context, number)
        return graceful_complete(context.attempt)

    def flow(self, **settings: Any) -> Any:
        """Make the Flow of this Step alone."""

        async def polls(context: AsyncContext, input: Any) -> StepDecision:
            return await self.execute(context, input)

        return flow(step(polls, **settings), streams=[PROGRESS])


class Keeping(MemoryProvider):
    """A store that tells which checkpoints it took."""

    def __init__(self) -> None:
        """Start with none."""
        super().__init__()
        self.checkpoints: list[str | None] = []

    async def record_beats(self, beats: Sequence[Beat]) -> frozenset[str]:
        """Take them, and tell."""
        self.checkpoints += [beat.checkpoint for beat in beats]
        return await super().record_beats(beats)


@virtual
async def test_a10_a_beat_is_retried_inside_the_window_and_blocks_nobody() -> None:
    """The store holds up beat writes for half a window: the Step polls on, the value arrives."""
    poll = Poll(20)
    kept = Keeping()
    store = FaultyProvider(kept)
    async with Runtime(store, options=fast()) as runtime:
        run = await runtime.start(poll.flow(heartbeat=10), "flow")
        await asyncio.sleep(3.5)
        store.faults.append(Fault("record_beats", retryable=None, delay=5))
        await asyncio.sleep(5)
        store.faults.clear()
        await asyncio.sleep(6)
        assert kept.checkpoints[-1] == "13"
        assert (await finished(run)).output == 1
    assert poll.polls == [float(number) for number in range(20)]


@pytest.mark.parametrize(
    "error", [None, ZeroDivisionError("a fault of the store")], ids=["busy", "strange"]
)
@pytest.mark.parametrize("method", ["record_beats", "write_stream"])
def test_a10_the_writer_survives_any_error(method: str, error: Exception | None) -> None:
    """A failed write is tried again, and what comes later goes out as before."""

    async def main() -> None:
        poll = Poll(10)
        fault = Fault(method, {2, 3}, error=error)
        store = FaultyProvider(MemoryProvider(), [fault])
        async with Runtime(store, options=fast()) as runtime:
            run = await runtime.start(poll.flow(), "flow")
            assert (await finished(run)).output == 1
            assert [message.value for message in await run.stream(PROGRESS)] == list(range(10))
            told = [e for e in runtime.engine.telemetry.events("") if e.kind == "engine_error"]
            assert len(told) == 1
        assert store.calls[method] == 12

    virtual(main)()


@virtual
async def test_a_beat_that_the_store_never_takes_does_not_hold_up_the_result() -> None:
    """A checkpoint travels with the end of its attempt anyway."""
    poll = Poll(5)
    store = FaultyProvider(MemoryProvider(), [Fault("record_beats")])
    async with Runtime(store, options=fast()) as runtime:
        run = await runtime.start(poll.flow(), "flow")
        assert (await finished(run)).output == 1
        assert clock() == pytest.approx(5)


@virtual
async def test_messages_that_the_store_never_takes_are_told_and_fail_no_step() -> None:
    """Best effort: three tries, then a line in the timeline."""
    poll = Poll(3)
    store = FaultyProvider(MemoryProvider(), [Fault("write_stream", retryable=False)])
    async with Runtime(store, options=fast()) as runtime:
        run = await runtime.start(poll.flow(), "flow")
        assert (await finished(run)).output == 1
        assert await run.stream(PROGRESS) == ()
        assert len(await telemetry(run, "late_write")) == 3


@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize(
    "method", ["ack_work_item", "ack_orchestration_item", "ack_work_item_with_turn"]
)
def test_b15_a_retryable_acknowledge_failure_never_runs_the_step_again(
    method: str, applied: bool
) -> None:
    """Twenty times the store is busy at the acknowledgement, or its answer is lost."""

    async def main() -> None:
        polls = [Poll(1) for _ in range(20)]
        store = _store_for(method)
        async with Runtime(store, options=fast()) as runtime:
            for number, poll in enumerate(polls):
                calls = store.calls[method]
                store.faults[:] = [Fault(method, {calls + 1, calls + 2}, applied=applied)]
                run = await runtime.start(poll.flow(), f"flow-{number}")
                assert (await finished(run, 60)).output == 1
        assert [poll.entered for poll in polls] == [[1]] * 20
        assert clock() < 25

    virtual(main)()


@pytest.mark.parametrize("method", ["ack_work_item", "ack_work_item_with_turn"])
@virtual
async def test_b15_an_acknowledgement_is_tried_for_as_long_as_the_lease_is_renewed(
    method: str,
) -> None:
    """An outage of minutes costs minutes, and no second run."""
    poll = Poll(1)
    store = _store_for(method)
    store.faults.append(Fault(method, range(1, 400)))
    async with Runtime(store, options=fast()) as runtime:
        run = await runtime.start(poll.flow(), "flow")
        assert (await finished(run)).output == 1
    assert poll.entered == [1]
    assert clock() > 150


@pytest.mark.rule("2.4/dispatch")
@virtual
async def test_b20_twenty_storage_errors_use_no_attempt() -> None:
    """Only Steps that begin count: nothing is poison, and the attempt is the first."""
    poll = Poll(30)
    names = ["fetch_work_items", "fetch_orchestration_items", "record_beats", "write_stream"]
    names += ["ack_orchestration_item", "ack_work_item", "renew_work_item_locks", "watch"]
    names += ["ack_work_item_with_turn"]
    names += ["abandon_work_item", "abandon_orchestration_item", "append_telemetry"]
    store = FaultyProvider(MemoryProvider(), [Fault(name, range(1, 21)) for name in names])
    # A renewal may fail for long, but not for a whole lease.
    store.faults[6] = Fault("renew_work_item_locks", {1, 2})
    async with Runtime(store, options=fast(max_attempts=10)) as runtime:
        run = await runtime.start(poll.flow(attempts=1), "flow")
        assert (await finished(run, 1000)).output == 1
    assert poll.entered == [1]


@virtual
async def test_a_client_call_outlasts_a_store_that_is_busy_for_a_moment() -> None:
    """Start, wait, stop and reads try again; a store that stays busy is told as it is."""
    names = ["start_run", "read_run", "read_events", "enqueue_for_orchestrator", "list_runs"]
    store = FaultyProvider(MemoryProvider(), [Fault(name, {1, 2}) for name in names])
    async with Runtime(store) as runtime:
        run = await runtime.start(Poll(1000).flow(), "flow")
        assert (await runtime.runs())[0].run_id == run.run_id
        await run.stop("CANCEL", "enough")
        assert (await run.wait()).status == "CANCELED"
        assert (await run.events())[0].kind == "flow_started"
        store.faults[:] = [Fault("read_run")]
        with pytest.raises(ProviderError, match="injected"):
            await run.status()


@virtual
async def test_a_start_whose_answer_was_lost_is_not_a_second_run() -> None:
    """The second try finds the run that the first one made."""
    fault = Fault("start_run", {1}, applied=True)
    async with Runtime(FaultyProvider(MemoryProvider(), [fault])) as runtime:
        run = await runtime.start(flow(end), "flow")
        assert (await finished(run)).output == 1
        assert len(await runtime.runs()) == 1


@virtual
async def test_b16_the_lease_is_renewed_for_as_long_as_the_step_polls() -> None:
    """Lock timeout 1 s, a Step of 6 s, two engines: the body is entered once."""
    store = MemoryStore()
    poll = Poll(6)
    settings = fast(worker_lock_timeout=timedelta(seconds=1))
    one, two = FaultyProvider(MemoryProvider(store)), FaultyProvider(MemoryProvider(store))
    async with Runtime(one, options=settings) as first, Runtime(two, options=settings) as second:
        second.register(poll.flow())
        run = await first.start(poll.flow(), "flow")
        await finished(run)
        assert poll.entered == [1]
        renewals = one.calls["renew_work_item_locks"], two.calls["renew_work_item_locks"]
        assert max(renewals) >= 5
        assert min(renewals) == 0


@pytest.mark.parametrize("start", [0.0, 0.1, 1 / 3, 7.77, 1234.567])
def test_b16_the_lease_holds_wherever_the_timers_fall(start: float) -> None:
    """A last digit of a float must not decide between half a lease and none."""

    async def main() -> None:
        await asyncio.sleep(start)
        store = MemoryStore()
        poll = Poll(100)
        async with Runtime(MemoryProvider(store)) as first, Runtime(MemoryProvider(store)) as two:
            two.register(poll.flow())
            for number in range(3):
                await first.start(poll.flow(), f"flow-{number}")
                await asyncio.sleep(0.3)
            for run in await first.runs():
                await finished(run)
        assert poll.entered == [1, 1, 1]

    virtual(main)()


@virtual
async def test_b16_after_failed_renewals_there_is_time_for_more() -> None:
    """Two renewals fail in a row; the third comes before the lease has ended."""
    store = MemoryStore()
    poll = Poll(60)
    fault = Fault("renew_work_item_locks", {1, 2})
    async with Runtime(FaultyProvider(MemoryProvider(store), [fault])) as first:
        run = await first.start(poll.flow(), "flow")
        await asyncio.sleep(1)
        async with Runtime(MemoryProvider(store)) as second:
            second.register(poll.flow())
            await finished(run)
    assert poll.entered == [1]


@virtual
async def test_a_wait_hears_of_an_end_that_another_engine_made() -> None:
    """Two engines on one store: whoever folds the last turn, both know."""
    store = MemoryStore()

    async def start(context: AsyncContext, input: Any) -> StepDecision:
        return go_to(last, input)

    last = step(end, name="Last")
    made = flow(start, last)
    async with Runtime(MemoryProvider(store)) as first, Runtime(MemoryProvider(store)) as second:
        second.register(made)
        for number in range(50):
            run = await first.start(made, f"flow-{number}")
            other = await second.get(f"flow-{number}")
            results = await asyncio.gather(run.wait(10), other.wait(10))
            assert [result.output for result in results] == [1, 1]
