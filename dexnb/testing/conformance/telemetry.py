"""Telemetry chunks: kept in order, within a budget for each run, deciding nothing."""

from __future__ import annotations

from dexnb.providers import TelemetryChunk
from dexnb.testing.conformance.case import Case, case

BUDGET = 512_000


def _chunks(run_id: str, count: int, size: int) -> list[TelemetryChunk]:
    return [
        TelemetryChunk(run_id, number * 10 + 1, number * 10 + 10, f"{number}".ljust(size, "."))
        for number in range(count)
    ]


class TestTelemetry:
    """What feeds the views."""

    @case
    async def test_chunks_are_read_in_order(self, store: Case) -> None:
        """Of one run alone, over several calls."""
        mine, other = _chunks("run-a", 4, 100), _chunks("run-b", 2, 100)
        await store.provider.append_telemetry([*mine[:2], *other])
        await store.provider.append_telemetry(mine[2:])
        assert await store.provider.read_telemetry("run-a") == tuple(mine)
        assert await store.provider.read_telemetry("run-b") == tuple(other)

    @case
    async def test_the_oldest_chunks_go_first(self, store: Case) -> None:
        """A run keeps its newest chunks, at most 512 kB, whatever was appended."""
        chunks = _chunks("run-a", 40, 50_000)
        for chunk in chunks:
            await store.provider.append_telemetry([chunk])
        kept = await store.provider.read_telemetry("run-a")
        assert kept == tuple(chunks[-len(kept) :])
        assert BUDGET // 2 < sum(len(chunk.text) for chunk in kept) <= BUDGET

    @case
    async def test_one_call_keeps_the_budget_too(self, store: Case) -> None:
        """Many chunks at once are cut as many calls would be."""
        chunks = _chunks("run-a", 40, 50_000)
        await store.provider.append_telemetry(chunks)
        kept = await store.provider.read_telemetry("run-a")
        assert kept == tuple(chunks[-len(kept) :])
        assert BUDGET // 2 < sum(len(chunk.text) for chunk in kept) <= BUDGET

    @case
    async def test_the_budget_of_one_run_is_not_anothers(self, store: Case) -> None:
        """A talkative run takes nothing from a quiet one."""
        quiet = _chunks("run-a", 1, 1000)
        await store.provider.append_telemetry(quiet)
        await store.provider.append_telemetry(_chunks("run-b", 40, 50_000))
        assert await store.provider.read_telemetry("run-a") == tuple(quiet)

    @case
    async def test_telemetry_is_no_history(self, store: Case) -> None:
        """It adds no event, no version and no turn."""
        await store.start()
        await store.provider.append_telemetry(_chunks("run-a", 3, 100))
        assert len(await store.provider.read_events("run-a")) == 1
        run = await store.provider.read_run(run_id="run-a")
        assert run is not None
        assert run.version == 1
        assert await store.find_run() is None

    @case
    async def test_another_engine_reads_it(self, store: Case) -> None:
        """So that a reopened page shows what happened."""
        chunks = _chunks("run-a", 2, 100)
        await store.provider.append_telemetry(chunks)
        other = await store.second()
        assert await other.read_telemetry("run-a") == tuple(chunks)
