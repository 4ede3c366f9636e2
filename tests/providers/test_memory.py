"""The memory provider beyond the suite: sharing, loops, determinism, and what size costs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tracemalloc

import pytest

from dexnb.clock import Clock, perf_counter
from dexnb.errors import LeaseLost, LoopBoundError, ProviderError
from dexnb.model.event import Event
from dexnb.providers import (
    Commit,
    Handlers,
    MemoryProvider,
    MemoryStore,
    NewMessage,
    NewWorkItem,
    TelemetryChunk,
)

HANDLERS = Handlers({"Polling/Poll"})


def commit(name: str, *events: Event, visible_at: float = 0.0) -> Commit:
    """Make the first turn of a run with one Step."""
    run_id, flow_id = f"run-{name}", f"flow-{name}"
    work = NewWorkItem(run_id, flow_id, "Polling", "Poll", "Poll-1", "{}", visible_at=visible_at)
    return Commit(run_id, flow_id, "Polling", "{}", "RUNNING", events=events, work_items=(work,))


async def opened(store: MemoryStore | None = None, owner: str = "engine-1") -> MemoryProvider:
    """Open a provider on virtual time."""
    provider = MemoryProvider(store)
    await provider.open(Clock.virtual(), owner)
    return provider


class CountedHandlers(Handlers):
    """Handlers that count how often they are read, which is once in a try."""

    reads = 0

    @property
    def names(self) -> frozenset[str]:
        """Give the names."""
        self.reads += 1
        return frozenset({"Polling/Poll"})

    @names.setter
    def names(self, names: frozenset[str]) -> None:
        """Stay as they are."""


def test_one_engines_commit_wakes_anothers_fetch() -> None:
    """Engines that share a store wait for each other's work, too."""

    async def main() -> None:
        first = await opened()
        second = await opened(first.store, "engine-2")
        parked = asyncio.ensure_future(second.fetch_work_item(30.0, 30.0, HANDLERS))
        await asyncio.sleep(1)
        await first.start_run(commit("a"))
        item = await parked
        assert item is not None
        assert asyncio.get_running_loop().time() == 1.0
        await second.ack_work_item(item.token, NewMessage("run-a", '"done"'))
        assert await first.fetch_orchestration_item(5.0, 0) is not None

    Clock.virtual().run(main())


def test_providers_without_a_store_are_apart() -> None:
    """Each has one of its own."""

    async def main() -> None:
        first, second = await opened(), await opened()
        await first.start_run(commit("a"))
        assert await second.list_runs() == ()

    Clock.virtual().run(main())


def test_nothing_can_be_done_before_open_or_after_close() -> None:
    """The error says what to do; it is no failure inside."""

    async def main() -> None:
        provider = MemoryProvider()
        with pytest.raises(ProviderError, match="read_run: the store is not open; call open"):
            await provider.read_run(run_id="run-a")
        await provider.open(Clock.virtual(), "engine-1")
        with pytest.raises(ProviderError, match="open already, by engine-1"):
            await provider.open(Clock.virtual(), "engine-1")
        await provider.close()
        with pytest.raises(ProviderError, match="start_run: the store is not open"):
            await provider.start_run(commit("a"))

    Clock.virtual().run(main())


def test_a_fetch_of_a_closed_engine_takes_nothing_from_its_last_try() -> None:
    """Though there is something to take at that very moment."""

    async def main() -> None:
        first = await opened()
        second = await opened(first.store, "engine-2")
        parked = asyncio.ensure_future(second.fetch_work_item(30.0, 30.0, HANDLERS))
        await asyncio.sleep(1)
        await first.start_run(commit("a"))
        await second.close()
        assert await parked is None
        item = await first.fetch_work_item(30.0, 0, HANDLERS)
        assert item is not None
        assert item.deliveries == 1

    Clock.virtual().run(main())


def test_a_store_in_use_is_refused_to_another_loop() -> None:
    """Its containers are nobody's to touch from a second thread."""
    store = MemoryStore()

    async def hold() -> None:
        provider = await opened(store)
        with pytest.raises(LoopBoundError, match="open on another event loop"):
            await asyncio.to_thread(Clock.virtual().run, opened(store))
        with pytest.raises(LoopBoundError, match="opened on another event loop"):
            await asyncio.to_thread(Clock.virtual().run, provider.list_runs())

    Clock.virtual().run(hold())


def test_a_store_that_nobody_uses_may_be_taken_by_another_loop() -> None:
    """Closed by all of a loop that goes on, or left behind by one that has ended."""
    store = MemoryStore()
    left: list[MemoryProvider] = []

    async def leave() -> None:
        left.append(await opened(store))

    async def visit() -> None:
        provider = await opened(store, "engine-2")
        await provider.close()
        await asyncio.to_thread(Clock.virtual().run, leave())

    Clock.virtual().run(leave())
    Clock.virtual().run(visit())
    assert len(left) == 2


@pytest.mark.parametrize("orderly", [True, False])
def test_a_store_outlives_its_loop(orderly: bool) -> None:
    """The next loop finds everything, store time goes on, and locks run out in it."""
    store = MemoryStore()

    async def before() -> float:
        provider = await opened(store)
        await provider.start_run(commit("a"))
        await asyncio.sleep(100)
        assert await provider.fetch_work_item(30.0, 0, HANDLERS) is not None
        await asyncio.sleep(10)
        if orderly:
            await provider.close()
        return provider.clock.now()

    async def after(then: float) -> None:
        provider = await opened(store, "engine-2")
        assert provider.clock.now() == provider.clock.lease() == then
        assert await provider.fetch_work_item(30.0, 0, HANDLERS) is None
        item = await provider.fetch_work_item(30.0, 60.0, HANDLERS)
        assert item is not None
        assert item.deliveries == 2
        assert asyncio.get_running_loop().time() == 20.0

    then = Clock.virtual().run(before())
    Clock.virtual().run(after(then))


def test_a_store_of_real_time_goes_from_loop_to_loop() -> None:
    """Real clocks go on by themselves."""
    store = MemoryStore()

    async def visit(owner: str) -> float:
        provider = MemoryProvider(store)
        await provider.open(Clock.real(), owner)
        await provider.close()
        return provider.clock.now()

    first, second = (Clock.real().run(visit(owner)) for owner in ("engine-1", "engine-2"))
    assert 0 <= second - first < 10


def test_what_cannot_be_stored_is_refused_before_anything_changes() -> None:
    """An event that is no JSON makes no run."""

    async def main() -> None:
        provider = await opened()
        event = Event(1, "flow-a", "run-a", 0.0, 0.0, "flow_started", payload={"x": object()})
        with pytest.raises(ProviderError, match="not a JSON document") as refusal:
            await provider.start_run(commit("a", event))
        assert not refusal.value.retryable
        assert await provider.list_runs() == ()
        assert await provider.fetch_work_item(30.0, 0, HANDLERS) is None

    Clock.virtual().run(main())


def test_the_same_program_has_the_same_tokens_and_times() -> None:
    """A notebook shows the same in every run."""

    async def main() -> list[tuple[str, float]]:
        provider = await opened()
        loop = asyncio.get_running_loop()
        for number in range(20):
            due = provider.clock.now() + number % 7
            await provider.start_run(commit(f"n{number}", visible_at=due))
        fetches = [provider.fetch_work_item(3.0, 30.0, HANDLERS) for _ in range(30)]
        items = await asyncio.gather(*fetches)
        return [(item.token, loop.time()) for item in items if item is not None]

    first, second = Clock.virtual().run(main()), Clock.virtual().run(main())
    assert len(first) == 30
    assert first == second


def test_what_is_due_is_delivered_at_that_very_moment() -> None:
    """On virtual time a retry, a timer, a hand-back and the end of a lock are exact."""

    async def main() -> None:
        provider, loop = await opened(), asyncio.get_running_loop()
        await provider.start_run(commit("a", visible_at=provider.clock.now() + 5.5))
        item = await provider.fetch_work_item(4.0, 30.0, HANDLERS)
        assert item is not None
        assert loop.time() == 5.5
        item = await provider.fetch_work_item(4.0, 30.0, HANDLERS)
        assert item is not None
        assert loop.time() == 9.5
        await provider.abandon_work_item(item.token, 0.25)
        item = await provider.fetch_work_item(4.0, 30.0, HANDLERS)
        assert item is not None
        assert loop.time() == 9.75
        due = provider.clock.now() + 1.5
        await provider.enqueue_for_orchestrator(NewMessage("run-a", "{}", due))
        assert await provider.fetch_orchestration_item(4.0, 30.0) is not None
        assert loop.time() == 11.25
        await asyncio.sleep(2.5)
        with pytest.raises(LeaseLost):
            await provider.renew_work_item_lock(item.token, 4.0)

    Clock.virtual().run(main())


def test_messages_to_nobody_leave_no_memory_behind() -> None:
    """Neither those that were dropped nor their queues."""

    async def main() -> int:
        provider = await opened()
        before = 0
        for number in range(6000):
            if number == 1000:
                tracemalloc.start()
                before = tracemalloc.get_traced_memory()[0]
            await provider.enqueue_for_orchestrator(NewMessage(f"run-{number}", "{}"))
            assert await provider.fetch_orchestration_item(4.0, 0) is None
        return tracemalloc.get_traced_memory()[0] - before

    try:
        assert Clock.virtual().run(main()) < 100_000
    finally:
        tracemalloc.stop()


def test_all_telemetry_together_is_bounded() -> None:
    """Runs that were silent longest lose theirs first."""

    async def main() -> None:
        provider = await opened()
        text = "x" * 500_000
        for number in range(200):
            await provider.append_telemetry([TelemetryChunk(f"run-{number}", 1, 9, text)])
        kept = [number for number in range(200) if await provider.read_telemetry(f"run-{number}")]
        assert kept == list(range(72, 200))

    Clock.virtual().run(main())


def test_renewing_ten_thousand_locks_does_not_stir_a_parked_fetch() -> None:
    """A minute of renewals costs the fetch that waits no more than a few tries."""

    async def main() -> None:
        provider, handlers = await opened(), CountedHandlers()
        for number in range(10_000):
            await provider.start_run(commit(f"n{number}"))
        items = await provider.fetch_work_items(30.0, 0, HANDLERS, 10_000)
        handlers.reads = 0
        parked = asyncio.ensure_future(provider.fetch_work_item(30.0, 60.0, handlers))
        for _ in range(3):
            await asyncio.sleep(19.9)
            for item in items:
                await provider.renew_work_item_lock(item.token, 30.0)
        assert await parked is None
        assert handlers.reads < 40

    Clock.virtual().run(main())


def seconds_for_a_thousand(waiting: int) -> float:
    """Time renewals, beats-sized work and turns beside so many leased items and waiting flows."""

    async def main() -> float:
        provider = await opened()
        due = provider.clock.now() + 1e6
        for number in range(waiting):
            await provider.start_run(commit(f"leased{number}"))
            await provider.start_run(commit(f"waiting{number}", visible_at=due))
        held = await provider.fetch_work_items(600.0, 0, HANDLERS, waiting)
        assert len(held) == waiting
        before = perf_counter()
        for number in range(1000):
            await provider.start_run(commit(f"n{number}"))
            item = await provider.fetch_work_item(30.0, 0, HANDLERS)
            assert item is not None
            await provider.renew_work_item_lock(held[number % waiting].token, 600.0)
            await provider.ack_work_item(item.token, NewMessage(item.item.run_id, "{}"))
            turn = await provider.fetch_orchestration_item(5.0, 0)
            assert turn is not None
            await provider.ack_orchestration_item(
                turn.token, Commit(turn.run_id, turn.flow_id, "Polling", "{}", "COMPLETED")
            )
        return perf_counter() - before

    return Clock.virtual().run(main())


def test_ten_thousand_waiting_flows_cost_little_more_than_a_hundred() -> None:
    """Fetch, renew and ack do not look at what they are not about."""
    few = min(seconds_for_a_thousand(100) for _ in range(2))
    assert min(seconds_for_a_thousand(10_000) for _ in range(2)) < 5 * few


@pytest.fixture
def fresh_modules() -> set[str]:
    """Give what a fresh interpreter has loaded after importing the package's stores."""
    code = "import sys, dexnb.providers; print(' '.join(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(shown.stdout.split())


def test_the_memory_store_loads_no_database(fresh_modules: set[str]) -> None:
    """Nor anything else that a store with a file or a test needs."""
    assert "dexnb.providers.memory" in fresh_modules
    assert not fresh_modules & {"sqlite3", "aiosqlite", "pytest", "dexnb.testing"}
