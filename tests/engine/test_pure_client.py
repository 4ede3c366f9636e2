"""An engine that only starts Flows and reads results leaves all work to the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dexnb import AttributeMatch, Clock, StepDecision, go_to, graceful_complete
from dexnb.engine import AsyncClient, Runtime, RuntimeOptions
from dexnb.errors import DefinitionError, WaitTimeout
from dexnb.flow.context import AsyncContext
from dexnb.providers.sqlite import SqliteProvider
from tests.engine.flows import fast, flow, step
from tests.engine.orders import PAID, STATE, Order

RUNS = 20


async def _first(context: AsyncContext, input: Any) -> StepDecision:
    return go_to(LAST, input)


async def _last(context: AsyncContext, input: Any) -> StepDecision:
    return graceful_complete(input)


FIRST, LAST = step(_first), step(_last)


def test_a_pure_client_takes_no_turns(tmp_path: Path) -> None:
    """The worker's counts have the end of every run; and who waits hears of each."""
    pure = RuntimeOptions(worker_concurrency=0, orchestration_concurrency=0)

    def store() -> SqliteProvider:
        return SqliteProvider(tmp_path / "w.db")

    async def body() -> None:
        async with (
            Runtime(store(), options=fast()) as worker,
            Runtime(store(), options=pure) as client,
        ):
            worker.register(flow(FIRST, LAST))
            runs = [await client.start(flow(FIRST, LAST), f"f{n}", n) for n in range(RUNS)]
            assert [(await run.wait(60)).status for run in runs] == ["COMPLETED"] * RUNS
            assert sum(worker.engine.counts.flows_ended.values()) == RUNS
            assert not client.engine.counts.flows_ended
            assert not client.engine.counts.fetches

    Clock.virtual().run(body())


def test_a_pure_client_talks_to_runs(tmp_path: Path) -> None:
    """Messages, RPCs and waits; what they ask for is done where there is a worker."""
    pure = RuntimeOptions(worker_concurrency=0, orchestration_concurrency=0)

    async def body() -> None:
        async with Runtime(SqliteProvider(tmp_path / "w.db"), options=pure) as runtime:
            client = AsyncClient(runtime)
            run = await runtime.start(Order(), "order", "a")
            with pytest.raises(WaitTimeout):
                await run.wait(5)
            async with Runtime(SqliteProvider(tmp_path / "w.db"), options=fast()) as worker:
                worker.register(Order())
                waiting = AttributeMatch.equal_to("waiting")
                await client.wait_for_attribute_match("order", STATE, waiting)
                await client.publish("order", PAID, 1)
                assert (await run.wait(60)).status == "COMPLETED"

    Clock.virtual().run(body())


@pytest.mark.parametrize("name", ["sync_concurrency", "max_attempts", "telemetry_bytes"])
def test_what_an_engine_needs_in_any_case_is_not_none(name: str) -> None:
    """Threads for RPCs, deliveries and room for telemetry."""
    with pytest.raises(DefinitionError, match=f"{name} is 0: give a whole number of at least 1"):
        setattr(RuntimeOptions(), name, 0)
