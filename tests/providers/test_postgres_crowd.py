"""Several engines on one PostgreSQL store at once: no deadlock, nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import pytest

from dexnb.providers import OrchestrationItem
from tests.providers.postgres_case import CountedProvider, opened
from tests.providers.sqlite_case import HANDLERS, LONG, commit, message, work

pytestmark = pytest.mark.external("postgres")
pytest_plugins = ["tests.providers.postgres_fixtures"]

ENGINES = 3
RUNS = 40
STEPS = 3


class Crowd:
    """Engines that take what they find; each run's end of a Step is told to its neighbour, too."""

    def __init__(self) -> None:
        """Nothing is done yet."""
        self.attempts: Counter[tuple[str, str]] = Counter()
        self.told: Counter[str] = Counter()
        self.applied = 0
        self.all_told = asyncio.Event()

    async def work(self, provider: CountedProvider) -> None:
        """End attempts, half of them with the turn that they bring along."""
        while not self.all_told.is_set():
            for item in await provider.fetch_work_items(LONG, 0.2, HANDLERS, 5):
                run_id, name = item.item.run_id, item.item.step_execution_id
                self.attempts[run_id, name] += 1
                note = message(run_id[4:], f'"{name}"')
                if name.endswith("1"):
                    turn = commit(run_id[4:], seqs=(2,), messages=(note,))
                    with_turn = provider.ack_work_item_with_turn
                    self.applied += await with_turn(item.token, note, turn)
                else:
                    await provider.ack_work_item(item.token, note)

    async def turn(self, provider: CountedProvider) -> None:
        """Apply turns that pass on what they were told."""
        while not self.all_told.is_set():
            items = await provider.fetch_orchestration_items(LONG, 0.2, 5)
            await asyncio.gather(*(self._apply(provider, item) for item in items))

    async def _apply(self, provider: CountedProvider, item: OrchestrationItem) -> None:
        name = item.run_id[4:]
        texts = [each.text for each in item.messages]
        neighbour = str((int(name) + 1) % RUNS)
        passed = tuple(message(neighbour, '"passed"') for text in texts if text != '"passed"')
        turn = commit(name, seqs=(item.version + 1,), messages=passed)
        await provider.ack_orchestration_item(item.token, turn)
        self.told.update({item.run_id: len(texts)})
        if self.told.total() >= 2 * RUNS * STEPS:
            self.all_told.set()


def test_engines_side_by_side_lose_and_double_nothing(new_postgres_url: str) -> None:
    """Each attempt is made once, each message is told once, each history is without a gap."""
    crowd = Crowd()

    async def fill(provider: CountedProvider, numbers: range) -> None:
        for number in numbers:
            items = tuple(work(str(number), f"Step-{step + 1}") for step in range(STEPS))
            await provider.start_run(commit(str(number), work_items=items))

    async def body() -> None:
        async with AsyncExitStack() as stack, asyncio.timeout(40):
            providers = [
                await stack.enter_async_context(opened(new_postgres_url, f"engine-{number}"))
                for number in range(ENGINES)
            ]
            parts = [range(number, RUNS, ENGINES) for number in range(ENGINES)]
            # All of them first: a message to a run that is not there yet would be dropped.
            await asyncio.gather(*map(fill, providers, parts))
            await asyncio.gather(*map(crowd.work, providers), *map(crowd.turn, providers))
            assert set(crowd.attempts.values()) == {1}
            assert len(crowd.attempts) == RUNS * STEPS
            assert set(crowd.told.values()) == {2 * STEPS}
            depths = await providers[0].queue_depths()
            assert (depths.messages, depths.work_items) == (0, 0)
            for run in await providers[0].list_runs(limit=RUNS):
                seqs = [event.seq for event in await providers[0].read_events(run.run_id)]
                assert seqs == list(range(1, run.version + 1))
            print(f"turns brought along: {crowd.applied} of {RUNS}")

    asyncio.run(body())
