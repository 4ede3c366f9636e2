"""The first turn of a run: what a start writes."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from dexnb.clock import wall_time
from dexnb.engine.turn import turn
from dexnb.errors import ProviderError
from dexnb.model.message import Start
from dexnb.model.run_state import RunState
from dexnb.providers import Commit, Started

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


async def begin_run(engine: Engine, start: Start, run_id: str = "") -> Started:
    """Start a run with this message, unless its flow id has an open one.

    Args:
        engine: Where it runs.
        start: What it begins with.
        run_id: The same for each try of one start, which begins one run then; a new one by default.
    """
    clock = engine.provider.clock
    state = RunState(flow_id=start.flow_id, run_id=run_id or uuid.uuid4().hex)
    commit = turn(state, [start], time=clock.lease(), wall=wall_time(), now=clock.now())
    return await apply_first(engine, commit, state)


async def apply_first(engine: Engine, commit: Commit, state: RunState) -> Started:
    """Apply a run's first turn, which led to `state`, unless its flow id has an open run."""
    started = await _start_run(engine, commit)
    if started.run_id != commit.run_id:
        return Started(started.run_id, created=False)
    engine.near.applied(commit, state)
    return Started(commit.run_id, created=True)


async def _start_run(engine: Engine, commit: Commit) -> Started:
    try:
        return await engine.ask(lambda: engine.provider.start_run(commit))
    except ProviderError as error:
        # Refused because it is there: the first try was applied and only its answer was lost.
        if error.retryable or await engine.record(run_id=commit.run_id) is None:
            raise
        return Started(commit.run_id, created=True)
