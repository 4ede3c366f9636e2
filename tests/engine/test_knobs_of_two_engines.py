"""Two engines on one store turn the same knob of a run: what the history recorded last holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from dexnb import AsyncContext, Flow, Step, StepDecision, StepList, go_to, graceful_complete
from dexnb.engine import AsyncRun, Runtime
from dexnb.engine.live_knobs import MOST_RUNS, LiveKnobs
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import fast, history, virtual

PACE = 9.0
STEPS = 4

seen: list[float] = []


class Follow(Step[int]):
    """Notes the pace, second by second, in executions that follow each other."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Note it, and go on."""
        seen.append(PACE)
        await asyncio.sleep(1)
        if input > STEPS:
            await asyncio.sleep(PACE)
        return go_to(Follow, input + 1) if input < STEPS else graceful_complete()


class Repeat(Step[int]):
    """Notes the pace in attempts that follow each other."""

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Note it, and fail."""
        seen.append(PACE)
        if context.attempt < STEPS:
            message = "on purpose"
            raise ValueError(message)
        await asyncio.sleep(PACE)
        return graceful_complete()


class Paced(Flow[int]):
    """Begins with one of them."""

    def __init__(self, first: Step[int]) -> None:
        """Take it."""
        self._first = first

    def get_steps(self) -> StepList[int]:
        """Give it."""
        return StepList.start_step(self._first)


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    seen.clear()


class Two:
    """Two engines on one store: `works` runs the Steps, `other` turns knobs alone."""

    def __init__(self, works: Runtime, other: Runtime) -> None:
        """Take both."""
        self.works = works
        self.other = other

    async def start(self, first: Step[int]) -> AsyncRun:
        """Start a run and let its first Step begin."""
        run = await self.works.start(Paced(first), "one", 1)
        self.other.register(Paced(first))
        await asyncio.sleep(0.1)
        return run

    async def turn(self, value: float, *, here: bool) -> None:
        """Turn the pace in the engine that runs the Steps, or in the other one."""
        run = await (self.works if here else self.other).get("one")
        await run.set_knob("PACE", value)


@asynccontextmanager
async def two_engines(*faults: Fault) -> AsyncIterator[Two]:
    """Open them; the faults strike the store of the one that runs the Steps."""
    store = MemoryStore()
    works = FaultyProvider(MemoryProvider(store), faults)
    other = FaultyProvider(MemoryProvider(store), [Fault("fetch_work_items")])
    options = fast(live_knobs=True)
    async with Runtime(works, options=options) as one, Runtime(other, options=options) as two:
        yield Two(one, two)


NO_TURNS = (
    Fault("fetch_orchestration_items"),
    Fault("ack_work_item_with_turn", retryable=False),
)
"""Turns are left to the other engine."""


@virtual
async def test_the_steps_that_follow_find_what_another_engine_turned_last() -> None:
    """What their own engine was told before that does not hold any more."""
    async with two_engines() as engines:
        run = await engines.start(Follow())
        await engines.turn(2, here=True)
        await asyncio.sleep(0.1)
        await engines.turn(3, here=False)
        await run.wait()
        assert seen == [9, 3, 3, 3]


@virtual
async def test_the_attempts_that_follow_find_what_another_engine_turned_last() -> None:
    """Their work items are older than that, whichever engine has recorded it."""
    for faults in ((), NO_TURNS[:1]):
        seen.clear()
        async with two_engines(*faults) as engines:
            run = await engines.start(Repeat())
            await engines.turn(2, here=True)
            await engines.turn(3, here=False)
            await asyncio.sleep(4)
            await engines.turn(4, here=False)
            await run.wait()
            assert seen == [9, 3, 3, 4]


@virtual
async def test_what_is_turned_last_holds_where_it_was_turned() -> None:
    """An older word of the other engine does not come back."""
    async with two_engines(*NO_TURNS[:1]) as engines:
        run = await engines.start(Follow())
        await engines.turn(2, here=False)
        await asyncio.sleep(0.1)
        await engines.turn(3, here=True)
        await run.wait()
        assert seen == [9, 3, 3, 3]


@virtual
async def test_what_is_not_recorded_yet_holds_where_it_was_turned() -> None:
    """The history has an older value of another engine, and waits for its next turn."""
    async with two_engines() as engines:
        run = await engines.start(Repeat())
        await engines.turn(2, here=False)
        await asyncio.sleep(0.1)
        halts = [Fault("ack_orchestration_item")]
        for runtime in (engines.works, engines.other):
            provider = runtime.engine.provider
            assert isinstance(provider, FaultyProvider)
            provider.faults += halts
        await engines.turn(3, here=True)
        await asyncio.sleep(4)
        assert (await run.state()).overrides == {"PACE": 2.0}
        assert seen == [9, 3, 3]


@virtual
async def test_a_store_that_cannot_say_which_is_newer_leaves_the_recorded_one() -> None:
    """Where the history cannot be read, all engines go by what their work items say."""
    async with two_engines(*NO_TURNS, Fault("read_events")) as engines:
        run = await engines.start(Follow())
        await engines.turn(2, here=True)
        await asyncio.sleep(0.1)
        await engines.turn(3, here=False)
        await run.wait()
        assert seen == [9, 3, 3, 3]


@virtual
async def test_a_knob_whose_answer_is_lost_is_turned_once() -> None:
    """It is sent again then, and must not undo what was turned meanwhile."""
    lost = Fault("enqueue_for_orchestrator", {1}, applied=True, delay_after=1)
    async with two_engines(lost) as engines:
        run = await engines.start(Repeat())
        turning = asyncio.ensure_future(engines.turn(2, here=True))
        await asyncio.sleep(0.5)
        await engines.turn(3, here=False)
        await turning
        await run.wait()
        changes = [each for each in await history(run) if each.kind == "knobs_changed"]
        assert [each.payload["overrides"] for each in changes] == [{"PACE": 2.0}, {"PACE": 3.0}]
        assert seen == [9, 3, 3, 3]


@virtual
async def test_runs_whose_knobs_are_remembered_are_bounded() -> None:
    """The oldest goes first; the store has its values."""
    async with two_engines() as engines:
        run = await engines.start(Follow())
        await engines.turn(2, here=True)
        knobs: LiveKnobs = engines.works.engine.worker.knobs
        state = await run.state()
        state.overrides = {"PACE": 5.0}
        for number in range(MOST_RUNS):
            knobs.learn(f"run {number}", state)
        assert knobs.of(run.run_id) == {}
        assert knobs.of("run 0") == {"PACE": 5.0}
