"""A kill before and behind every call that changes the store: the run ends as without it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dexnb import (
    Clock,
    FlowConfig,
    StartFlowOptions,
    StepDurability,
    StepExecutionId,
    TimerId,
)
from dexnb.engine import AsyncClient, AsyncRun, Runtime, RuntimeOptions
from dexnb.errors import (
    FlowNotActiveOrNotFoundError,
    RequestTimeoutError,
    RpcLockConflictError,
)
from dexnb.model.event import Event
from dexnb.model.history import fold
from dexnb.model.message import Published
from dexnb.model.run_state import RunState
from dexnb.providers import MemoryProvider, MemoryStore, Provider
from dexnb.providers.sqlite import SqliteProvider
from dexnb.testing import Fault, FaultyProvider
from tests.simulation.everything import Child, Everything
from tests.simulation.machines import Killed, Machine, tell_tasks_apart

MUTATING = (
    "start_run",
    "fetch_orchestration_items",
    "ack_orchestration_item",
    "abandon_orchestration_item",
    "fetch_work_items",
    "ack_work_item",
    "ack_work_item_with_turn",
    "abandon_work_item",
    "renew_work_item_locks",
    "record_beats",
    "enqueue_for_orchestrator",
    "write_stream",
    "append_telemetry",
)
TOTAL = 3 + 3 + (1 + 2) + 1000 + 1 + 100 + 7

Store = Callable[[], Provider]


@dataclass(frozen=True)
class Ending:
    """What must be the same however often the engine was killed."""

    status: str
    attributes: dict[str, Any]
    completions: list[Any]
    consumed: dict[str, list[Any]]
    pending: dict[str, Any]
    child: tuple[str, list[Any]]


@dataclass(frozen=True)
class Life:
    """One play of the Flow: its end, the calls of the first engine, and whether that died."""

    ending: Ending
    calls: Counter[str]
    died: bool


async def live(store: Store, *faults: Fault) -> Life:
    """Play the Flow from its start to its end, on as many machines as that takes."""
    tell_tasks_apart(asyncio.get_running_loop())
    first = FaultyProvider(store(), faults)
    provider, lives = first, 0
    while True:
        lives += 1
        machine = Machine(provider, (Everything(), Child()), _options())
        try:
            await machine.start()
            ending = await machine.run(partial(be_a_customer, machine.runtime))
            return Life(ending, Counter(first.calls), died=lives > 1)
        except Killed:
            provider = FaultyProvider(store())
        finally:
            await machine.kill()


def _options() -> RuntimeOptions:
    short = timedelta(seconds=2)
    return RuntimeOptions(worker_lock_timeout=short, orchestrator_lock_timeout=short)


async def be_a_customer(runtime: Runtime) -> Ending:
    """Do everything that comes from outside; to do it again changes nothing."""
    client, engine = AsyncClient(runtime), runtime.engine
    options = StartFlowOptions(request_id="once", ignore_already_started=True)
    run_id = await client.start_flow(Everything(), "order", 3, options)
    for value in (1, 2):
        message = Published("Orders", [value], "customer", f"order-{value}")
        await engine.send(run_id, message)
    with suppress(FlowNotActiveOrNotFoundError):
        await client.update_flow_config("order", FlowConfig(step_durability=StepDurability.ASYNC))
        await persist(lambda: client.invoke_rpc(Everything.approve, "order"))
        await client.wait_for_step_completion("order", StepExecutionId("Begin", 1))
        await skip(client, await runtime.get("order"))
    await engine.wait_closed(run_id)
    return await ending_of(engine.provider)


async def persist(call: Callable[[], Awaitable[Any]]) -> None:
    """Call an RPC until it was not in the way of another one."""
    while True:
        try:
            await call()
        except (RpcLockConflictError, RequestTimeoutError):
            await asyncio.sleep(1)
        else:
            return


async def skip(client: AsyncClient, run: AsyncRun) -> None:
    """Skip the Timer for which one branch waits, unless that was done before."""
    key, timer = StepExecutionId("Skipped", 1), TimerId.by_condition_id("skip me")
    while True:
        active = (await run.state()).active.get("Skipped-1")
        if active is None or active.method == "execute":
            return
        if active.phase == "waiting":
            await client.skip_timer("order", key, timer)
        await asyncio.sleep(1)


async def ending_of(provider: Provider) -> Ending:
    """Read how both runs ended; their histories must add up to it."""
    records = await provider.list_runs()
    assert len(records) == 2
    states: dict[str, RunState] = {}
    histories: dict[str, tuple[Event, ...]] = {}
    for record in records:
        events = histories[record.flow_type] = await provider.read_events(record.run_id)
        state = states[record.flow_type] = RunState.from_text(record.state)
        assert fold(events) == state
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert state.closed
        assert not state.active
        assert not state.locks
    depths = await provider.queue_depths()
    assert (depths.work_items, depths.leased) == (0, 0)
    main, child = states["Everything"], states["Child"]
    return Ending(
        status=main.status,
        attributes=main.attributes,
        completions=main.completions,
        consumed=_consumed(histories["Everything"]),
        pending=main.channels,
        child=(child.status, child.completions),
    )


def _consumed(events: tuple[Event, ...]) -> dict[str, list[Any]]:
    taken: dict[str, list[Any]] = {}
    for event in events:
        if event.kind == "wait_ended":
            for channel, messages in event.payload["results"]["messages"].items():
                taken.setdefault(channel, []).extend(value for _, value in messages)
    return {channel: sorted(values) for channel, values in taken.items()}


def points(calls: Counter[str]) -> Iterator[tuple[str, int, bool]]:
    """Give every call that changes the store, twice: killed before its effect and behind it."""
    for method in MUTATING:
        for number in range(1, calls[method] + 1):
            yield method, number, False
            yield method, number, True


def undisturbed(store: Store) -> Life:
    """Play without a kill; the end is what the Flow says."""
    life = Clock.virtual().run(live(store))
    assert not life.died
    assert life.ending.status == "COMPLETED"
    assert life.ending.attributes["Total"] == TOTAL
    assert "Notes/doomed" not in life.ending.attributes
    assert life.ending.pending == {}
    return life


def kill_everywhere(store_of: Callable[[str], Store]) -> tuple[int, list[str]]:
    """Kill at every point of a play of its own; give how many there are, and which killed not."""
    wanted = undisturbed(store_of("undisturbed"))
    count, survived = 0, []
    for method, number, applied in points(wanted.calls):
        name = f"{method}-{number}-{'behind' if applied else 'before'}"
        cut = Fault(method, {number}, cut=True, applied=applied)
        life = Clock.virtual().run(live(store_of(name), cut))
        assert life.ending == wanted.ending, name
        count += 1
        if not life.died:
            survived.append(name)
    return count, survived


def check_survivors(count: int, survived: list[str]) -> None:
    """Only the last fetch of each queue may come, or come back, when all is over."""
    assert all(name.startswith("fetch_") for name in survived)
    assert len(survived) <= 4
    assert count > 150


@pytest.mark.slow
def test_a_kill_at_every_commit_point_changes_nothing_in_the_end() -> None:
    """In memory: the points are found by counting, and each of them kills."""

    def store_of(name: str) -> Store:
        return partial(MemoryProvider, MemoryStore())

    count, survived = kill_everywhere(store_of)
    print(f"\nkilled at {count} points in memory, but for {survived}")
    check_survivors(count, survived)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_kill_at_every_commit_point_of_a_file_changes_nothing(tmp_path: Path) -> None:
    """On SQLite files, which a new engine opens behind the dead one."""

    def store_of(name: str) -> Store:
        return partial(SqliteProvider, tmp_path / f"{name}.db", durability="normal")

    count, survived = kill_everywhere(store_of)
    print(f"\nkilled at {count} points on SQLite, but for {survived}")
    check_survivors(count, survived)
