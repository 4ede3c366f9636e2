"""A13: cancels and timeouts that meet."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from dexnb import StepDecision, graceful_complete
from dexnb.engine import Runtime
from dexnb.flow.context import AsyncContext
from dexnb.model.message import StopKind
from dexnb.providers import MemoryProvider
from tests.engine.flows import fast, finished, flow, step, virtual, with_runtime

KINDS: list[StopKind] = ["CANCEL", "TERMINATE", "FAIL"]


def clock() -> float:
    """Give engine time."""
    return asyncio.get_running_loop().time()


@virtual
async def test_a13_a_thousand_races_of_cancel_and_timeout_all_end() -> None:
    """Stops, method timeouts, heartbeat timeouts and results at the same moments."""
    dice = random.Random(7)
    ended = {"COMPLETED", "FAILED", "CANCELED", "TERMINATED"}

    async def races(context: AsyncContext, input: Any) -> StepDecision:
        manner, pause = input
        try:
            async with asyncio.timeout(pause if manner == "timeout" else None):
                await asyncio.sleep(pause)
                await context.heartbeat(manner)
                await asyncio.wait_for(asyncio.sleep(pause), pause)
        except TimeoutError:
            if manner == "raises":
                raise
        except asyncio.CancelledError:
            if manner == "cleans up":
                await asyncio.sleep(pause)
            if manner != "swallows":
                raise
        return graceful_complete(context.attempt)

    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        made = flow(step(races, method=0.3, heartbeat=0.2, attempts=2, initial=0.1))
        runs = []
        for number in range(1000):
            manner = dice.choice(["plain", "timeout", "raises", "swallows", "cleans up"])
            given = [manner, dice.randrange(1, 5) / 10]
            run = await runtime.start(made, f"flow-{number}", given)
            runs.append(run)
            if dice.random() < 0.7:
                at, kind = dice.randrange(0, 8) / 10, dice.choice(KINDS)
                asyncio.get_running_loop().call_later(at, _soon, run.stop(kind))
        statuses = {(await finished(run, 60)).status for run in runs}
        assert statuses == ended
        assert clock() < 10
        await asyncio.sleep(5)
        assert runtime.engine.worker.live == {}
        assert (await runtime.engine.provider.queue_depths()).work_items == 0


_tasks: set[asyncio.Task[None]] = set()


def _soon(coroutine: Any) -> None:
    task = asyncio.get_running_loop().create_task(coroutine)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


@pytest.mark.parametrize("wrapper", ["wait_for", "timeout"])
@with_runtime
async def test_a13_a_late_answer_is_an_answer_on_every_python(
    runtime: Runtime, wrapper: str
) -> None:
    """A client that ignores its timeout for a second gives its answer; the round shows 1.1 s."""

    async def stubborn() -> str:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(1)
        return "late"

    async def asks(context: AsyncContext, input: Any) -> StepDecision:
        if wrapper == "wait_for":
            return graceful_complete(await asyncio.wait_for(stubborn(), 0.1))
        async with asyncio.timeout(0.1):
            answer = await stubborn()
        return graceful_complete(answer)

    run = await runtime.start(flow(step(asks, attempts=1)), "flow")
    assert (await finished(run)).output == "late"
    events = await run.events()
    began = next(e.time for e in events if e.kind.startswith("round_"))
    ended = next(event.time for event in events if event.kind == "attempt_ended")
    assert ended - began == pytest.approx(1.1)
