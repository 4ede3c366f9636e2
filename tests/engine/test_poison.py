"""Poison: what cannot be decoded is put off, and closed when it was tried often enough."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.json_text import to_text
from dexnb.providers import Commit, Handlers, MemoryProvider, NewMessage, WorkItem
from tests.engine.flows import (
    failure_of,
    fast,
    finished,
    flow,
    history,
    step,
    virtual,
    with_runtime,
)


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


def payload(**changed: Any) -> str:
    """Give a payload that can be read, but for what is changed."""
    whole: dict[str, Any] = {
        "input": 1,
        "options": None,
        "from_step_execution_id": "",
        "recovery_error": None,
        "overrides": {},
        "last_error": None,
    }
    return to_text({**whole, **changed})


BAD_PAYLOADS = [
    "{not json",
    "[]",
    "{}",
    payload(options=3),
    payload(options={"x": 1}),
    payload(recovery_error="e"),
    payload(stranger=1),
]


class Spoiling(MemoryProvider):
    """A store that gives out an undecodable payload for as long as it is told to."""

    def __init__(self, spoils: int) -> None:
        """Spoil this many deliveries."""
        super().__init__()
        self.spoils = spoils
        self.spoiled = 0

    async def fetch_work_items(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers, limit: int
    ) -> Sequence[WorkItem]:
        """Spoil the payload on its way out."""
        items = await super().fetch_work_items(lock_timeout, poll_timeout, handlers, limit)
        if items and self.spoiled < self.spoils:
            self.spoiled += len(items)
            return [
                replace(item, item=replace(item.item, payload=BAD_PAYLOADS[0])) for item in items
            ]
        return items


@pytest.mark.parametrize("text", BAD_PAYLOADS)
@with_runtime
async def test_an_undecodable_payload_is_poison_after_max_attempts(
    runtime: Runtime, text: str
) -> None:
    """Put off ten times a second apart, then the Step fails, and its Flow says why."""
    run = await _with_payload(runtime, text)
    result = await finished(run)
    assert clock() == pytest.approx(10)
    assert (result.status, result.error_type) == ("FAILED", "WORKER_API_FAILED")
    assert failure_of(await history(run))["error_type"] == "Poison"


async def _with_payload(runtime: Runtime, text: str) -> Any:
    """Start a run whose one work item holds this text, put into the store by hand."""
    made = flow(end)
    store: Any = runtime.engine.provider
    begin = store.store.begin

    def spoil(operation: str, commit: Commit) -> None:
        items = tuple(replace(item, payload=text) for item in commit.work_items)
        begin(operation, replace(commit, work_items=items))

    store.store.begin = spoil
    return await runtime.start(made, "flow")


@virtual
async def test_an_item_that_can_be_read_in_time_is_not_poison() -> None:
    """Ten bad deliveries are not one too many."""
    store = Spoiling(10)
    async with Runtime(store, options=fast()) as runtime:
        run = await runtime.start(flow(step(end, attempts=20)), "flow")
        assert (await finished(run)).status == "COMPLETED"
        assert store.spoiled == 10


BAD_MESSAGES = ['{"kind":"nonsense"}', "{", "null", '{"kind":"stop"}', '{"kind":"step_done"}']


@pytest.mark.parametrize("text", BAD_MESSAGES)
@with_runtime
async def test_an_undecodable_message_closes_the_run_after_max_attempts(
    runtime: Runtime, text: str
) -> None:
    """Never before, and the history that ends so can be folded."""
    run = await runtime.start(flow(step(nap, name="Nap")), "flow")
    await runtime.engine.provider.enqueue_for_orchestrator(NewMessage(run.run_id, text))
    await asyncio.sleep(9.5)
    assert not (await run.state()).closed
    result = await run.wait(20)
    assert (result.status, result.error_type) == ("FAILED", "INTERNAL")
    assert result.error_message.startswith("Poison: ")
    durable = [event for event in await run.events() if event.durable]
    assert fold(durable).status == "FAILED"
    assert runtime.engine.worker.live == {}


def _forget(runtime: Runtime, run_id: str) -> None:
    """Make the engine one that has not had the run's last turn, and knows its text alone."""
    assert runtime.engine.near.take(run_id) is not None


@pytest.mark.parametrize("text", ["{", '{"status":"RUNNING"}', "[]"])
@with_runtime
async def test_an_undecodable_state_closes_the_run_after_max_attempts(
    runtime: Runtime, text: str
) -> None:
    """The run's history is kept, and its closing event goes on behind it."""
    run = await runtime.start(flow(nap), "flow")
    store: Any = runtime.engine.provider
    await asyncio.sleep(1)
    store.store.runs[run.run_id].state = text
    _forget(runtime, run.run_id)
    result = await run.wait(60)
    assert (result.status, result.error_type) == ("FAILED", "INTERNAL")
    assert clock() == pytest.approx(20, abs=1)
    durable: list[Event] = [event for event in await run.events() if event.durable]
    assert [event.seq for event in durable] == [1, 2, 3]


@with_runtime
async def test_a_store_that_refuses_a_turn_for_good_does_not_spin(runtime: Runtime) -> None:
    """A run whose version went astray is put off a second at a time and closed in the end."""
    run = await runtime.start(flow(nap), "flow")
    store: Any = runtime.engine.provider
    await asyncio.sleep(1)
    state = store.store.runs[run.run_id].state
    store.store.runs[run.run_id].state = state.replace('"events":2', '"events":7')
    _forget(runtime, run.run_id)
    before = runtime.engine.turns.fetches
    result = await run.wait(60)
    assert (result.status, result.error_type) == ("FAILED", "INTERNAL")
    assert runtime.engine.turns.fetches - before < 40
