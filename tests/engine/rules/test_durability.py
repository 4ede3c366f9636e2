"""SYNC and ASYNC: what a power cut may undo, and who says which of them holds."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Clock,
    FlowConfig,
    RetryPolicy,
    StartFlowOptions,
    StepDecision,
    StepDurability,
    StepOptions,
    Stream,
    Timer,
    Wait,
    graceful_complete,
)
from dexnb.engine import Runtime
from dexnb.engine.async_client import AsyncClient
from dexnb.providers import Commit, NewMessage, Provider
from dexnb.providers.sqlite import SqliteProvider
from dexnb.providers.sqlite.transaction import Transactions
from tests.engine.flows import failure_of, fast, finished, history, virtual
from tests.engine.rules.made import clock, flow_of, on_stores, started, waits
from tests.engine.stores import Asked

DEFAULT, SYNC, ASYNC = StepDurability.DEFAULT, StepDurability.SYNC, StepDurability.ASYNC
PROGRESS = Stream("Progress", str, 1 << 20)

CHOICES = [
    # of the method, of the run, and whether the disk is waited for
    (DEFAULT, None, True),
    (DEFAULT, DEFAULT, True),
    (DEFAULT, SYNC, True),
    (DEFAULT, ASYNC, False),
    (SYNC, None, True),
    (SYNC, ASYNC, True),
    (ASYNC, None, False),
    (ASYNC, SYNC, False),
]


async def skips(context: AsyncContext, input: Any) -> Wait:
    """Wait for nothing."""
    return Wait.skip_immediately()


async def ends(context: AsyncContext, input: Any) -> StepDecision:
    """Complete."""
    return graceful_complete()


def configured(durability: StepDurability | None) -> StartFlowOptions:
    """Make a start under this durability."""
    config = None if durability is None else FlowConfig(step_durability=durability)
    return StartFlowOptions(config_override=config)


@pytest.mark.rule("2.1/durability", "2.1/durability-order", "2.12/durability")
@pytest.mark.parametrize(("own", "run_wide", "lasts"), CHOICES)
@pytest.mark.parametrize("method", ["wait_for", "execute"])
@virtual
async def test_a_methods_own_durability_goes_before_the_runs(
    method: str, own: StepDurability, run_wide: StepDurability | None, lasts: bool
) -> None:
    """And that before SYNC; each method for itself."""
    other = SYNC
    options = (
        StepOptions(wait_for_durability=own, execute_durability=other)
        if method == "wait_for"
        else StepOptions(wait_for_durability=other, execute_durability=own)
    )
    store = Asked()
    async with Runtime(store, options=fast()) as runtime:
        made = flow_of(waits(ends, skips, options=options))
        await finished(await started(runtime, made, options=configured(run_wide)))
    assert store.asked == ([lasts, True] if method == "wait_for" else [True, lasts])


@pytest.mark.rule("2.6/recovery-sync")
@virtual
async def test_a_step_with_a_recovery_follows_the_run_like_any_other() -> None:
    """A recovery does not make it SYNC by itself."""

    async def fails(context: AsyncContext, input: Any) -> StepDecision:
        raise ConnectionError

    recovery = waits(ends)
    once = StepOptions(execute_retry=RetryPolicy(maximum_attempts=1))
    store = Asked()
    async with Runtime(store, options=fast()) as runtime:
        failing = waits(fails, options=once.on_execute_failure_proceed_to(recovery))
        made = flow_of(failing, recovery)
        await finished(await started(runtime, made, options=configured(ASYNC)))
    assert store.asked == [False, False]


@pytest.mark.rule("2.1/durability-order")
@virtual
async def test_a_run_is_given_another_durability_while_it_is_open() -> None:
    """It holds for what is scheduled afterwards."""

    async def minute(context: AsyncContext, input: Any) -> Wait:
        return Wait.until(Timer.by_duration(timedelta(minutes=1)))

    store = Asked()
    async with Runtime(store, options=fast()) as runtime, AsyncClient(runtime) as client:
        run = await started(runtime, flow_of(waits(ends, minute)))
        await asyncio.sleep(30)
        await client.update_flow_config("flow", FlowConfig(step_durability=ASYNC))
        await finished(run)
    assert store.asked == [True, False]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what a power cut leaves for certain: the file as it was at the last safe commit.

    What was committed behind it without waiting for the disk may be there or not; here it is not.
    """
    kept, write = tmp_path / "kept.db", Transactions._write  # noqa: SLF001 - every commit

    def write_and_keep(self: Any, connection: Any, operations: Any) -> None:
        write(self, connection, operations)
        safe = connection.execute("PRAGMA synchronous").fetchone() == (2,)
        if safe and Path(self._path).name == "runs.db":
            for suffix in ("", "-wal"):
                shutil.copyfile(f"{tmp_path}/runs.db{suffix}", f"{kept}{suffix}")

    monkeypatch.setattr(Transactions, "_write", write_and_keep)
    return kept


class CutOff(SqliteProvider):
    """A store whose machine loses its power just behind the n-th acknowledgement of an attempt."""

    def __init__(self, path: Path, disk: Path, behind: int) -> None:
        """Count."""
        super().__init__(path)
        self.disk, self.left = disk, behind
        self.found = disk.with_name("found.db")

    async def ack_work_item(self, *given: Any, **more: Any) -> None:
        """Keep what the disk has then."""
        await super().ack_work_item(*given, **more)
        self.left -= 1
        if not self.left:
            for suffix in ("", "-wal"):
                shutil.copyfile(f"{self.disk}{suffix}", f"{self.found}{suffix}")

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """Leave the turn to a commit of its own."""
        return await Provider.ack_work_item_with_turn(self, token, message, turn, durable=durable)


@pytest.mark.rule("2.1/durability", "2.1/async-local-phase")
@pytest.mark.parametrize("method", ["wait_for", "execute"])
@pytest.mark.parametrize("durability", [SYNC, ASYNC])
def test_a_power_cut_undoes_what_async_has_acknowledged_and_nothing_of_sync(
    tmp_path: Path, disk: Path, durability: StepDurability, method: str
) -> None:
    """A method of SYNC is never run again; one of ASYNC is, and then goes on as if nothing was."""
    ran: list[str] = []

    async def waiting(context: AsyncContext, input: Any) -> Wait:
        ran.append("wait_for")
        return Wait.skip_immediately()

    async def acts(context: AsyncContext, input: Any) -> StepDecision:
        ran.append("execute")
        return graceful_complete(context.attempt)

    options = StepOptions(wait_for_durability=durability, execute_durability=durability)
    made = flow_of(waits(acts, waiting, options=options))
    behind = 1 if method == "wait_for" else 2

    async def main() -> None:
        before = CutOff(tmp_path / "runs.db", disk, behind)
        async with Runtime(before, options=fast()) as runtime:
            await finished(await started(runtime, made))
        assert ran == ["wait_for", "execute"]
        ran.clear()
        async with Runtime(SqliteProvider(before.found), options=fast()) as runtime:
            runtime.register(made)
            assert (await finished(await runtime.get("flow"))).status == "COMPLETED"

    Clock.virtual().run(main())
    again = ["wait_for", "execute"] if method == "wait_for" else ["execute"]
    assert ran == (again if durability is ASYNC else again[1:])


@pytest.mark.rule("2.3/async-heartbeats", "2.3/async-streams", "2.5/shared-budget")
@on_stores
async def test_an_async_step_has_checkpoints_and_messages_from_its_first_attempt(
    runtime: Runtime,
) -> None:
    """And one count of attempts: there is no phase before it."""
    read: list[tuple[int, Any]] = []
    policy = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3)

    async def beats(context: AsyncContext, input: Any) -> StepDecision:
        read.append((context.attempt, context.get_last_heartbeat_value(int)))
        PROGRESS.write(context, str(context.attempt))
        await context.heartbeat(context.attempt)
        raise ConnectionError

    options = StepOptions(execute_durability=ASYNC, execute_retry=policy)
    run = await started(runtime, flow_of(waits(beats, options=options), keeps=(PROGRESS,)))
    assert (await finished(run)).status == "FAILED"
    assert read == [(1, None), (2, 1), (3, 2)]
    assert [message.value for message in await run.stream(PROGRESS)] == ["1", "2", "3"]


@pytest.mark.rule("2.3/async-timeouts", "2.1/async-local-phase")
@pytest.mark.parametrize("name", ["StartToClose", "Heartbeat"])
@on_stores
async def test_the_timeouts_of_an_async_step_hold_from_its_first_attempt(
    runtime: Runtime, name: str
) -> None:
    """It may also run for longer than any local phase would."""
    beating = name == "StartToClose"

    async def hangs(context: AsyncContext, input: Any) -> StepDecision:
        while True:
            await asyncio.sleep(9 if beating else 1000)
            await context.heartbeat()

    options = StepOptions(
        execute_durability=ASYNC,
        execute_retry=RetryPolicy(maximum_attempts=1),
        execute_method_timeout=timedelta(seconds=50),
        heartbeat_timeout=timedelta(seconds=15),
    )
    run = await started(runtime, flow_of(waits(hangs, options=replace(options))))
    await finished(run)
    assert failure_of(await history(run))["error_type"] == name
    assert clock() == pytest.approx(50 if beating else 15)
