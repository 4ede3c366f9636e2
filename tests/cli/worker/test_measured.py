"""A store whose calls are watched."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from dexnb.cli.worker.measured import MOST_FAILED_WRITES, WRITES, StoreCounts, measured
from dexnb.clock import Clock
from dexnb.engine import Runtime
from dexnb.errors import LeaseLost, ProviderError
from dexnb.providers import Beat, MemoryProvider, NewMessage, Provider, TelemetryChunk
from dexnb.testing.faulty import Fault, FaultyProvider
from tests.engine.flows import finished, flow
from tests.engine.test_counts import LAST


def test_an_engine_works_on_it_and_every_turn_is_timed() -> None:
    """A call that writes a turn counts, whichever method it is."""
    counts = StoreCounts()

    async def main() -> int:
        async with Runtime(measured(MemoryProvider(), counts)) as runtime:
            await finished(await runtime.start(flow(LAST), "job"))
        return runtime.engine.counts.commits

    commits = Clock.virtual().run(main())
    assert sum(counts.commits.counts) == commits > 1
    assert not counts.errors


def test_failed_calls_are_counted_by_method() -> None:
    """A lost lease is no fault of the store."""
    counts = StoreCounts()
    store = measured(FaultyProvider(MemoryProvider(), [Fault("read_run", calls=(1, 2))]), counts)

    async def main() -> None:
        await store.open(Clock.real(), "me")
        for _ in range(2):
            with pytest.raises(ProviderError):
                await store.read_run(run_id="r")
        assert await store.read_run(run_id="r") is None
        with pytest.raises(LeaseLost):
            await store.ack_work_item("no such token")
        await store.close()

    asyncio.run(main())
    assert counts.errors == {"read_run": 2}


def test_a_store_that_takes_no_writes_is_known_until_it_takes_one() -> None:
    """Whichever calls write; that it can be read says nothing."""
    counts = StoreCounts()
    faulty = FaultyProvider(MemoryProvider())
    store = measured(faulty, counts)
    tries: list[Callable[[], Coroutine[Any, Any, Any]]] = [
        lambda: store.enqueue_for_orchestrator(NewMessage("r", "{}")),
        lambda: store.record_beats([Beat("token", "1")]),
        lambda: store.append_telemetry([TelemetryChunk("r", 1, 1, "{}")]),
    ]

    async def main() -> None:
        await store.open(Clock.real(), "me")
        faulty.faults = [Fault(method) for method in sorted(WRITES)]
        for number, attempt in enumerate(tries, 1):
            with pytest.raises(ProviderError):
                await attempt()
            assert await store.read_run(run_id="r") is None
            assert (counts.unwritten is None) == (number < MOST_FAILED_WRITES)
        assert "injected fault" in str(counts.unwritten)
        faulty.faults = []
        await tries[0]()
        assert counts.unwritten is None
        await store.close()

    asyncio.run(main())


def test_every_call_that_writes_is_one_of_the_contract() -> None:
    """And what only reads or waits is none of them."""
    methods = {name for name in vars(Provider) if not name.startswith("_")}
    assert methods >= WRITES
    reads = {name for name in methods if name.startswith(("read_", "list_", "fetch_"))}
    others = {"open", "close", "wake", "watch", "queue_depths", "name", "clock", "hand_over"}
    assert methods - reads - others == WRITES


def test_a_watched_store_is_copied_like_any_other() -> None:
    """Both pass on to the same one."""
    inner = MemoryProvider()
    assert copy.copy(measured(inner, StoreCounts())).name == inner.name


def test_everything_that_a_provider_has_is_there() -> None:
    """Whatever the contract says, with the parameters that it says."""
    inner = MemoryProvider()
    store = measured(inner, StoreCounts())
    names = [name for name in vars(Provider) if not name.startswith("_")]
    methods = [name for name in names if callable(getattr(Provider, name))]
    assert len(methods) > 20
    for name in methods:
        given = inspect.signature(getattr(store, name))
        assert given == inspect.signature(getattr(inner, name))
