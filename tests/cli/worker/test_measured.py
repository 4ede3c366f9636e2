"""A store whose calls are watched."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from dexnb.cli.worker.measured import StoreCounts, measured
from dexnb.clock import Clock
from dexnb.engine import Runtime
from dexnb.errors import LeaseLost, ProviderError
from dexnb.providers import MemoryProvider, Provider
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
