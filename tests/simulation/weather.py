"""Stores whose calls fail, dawdle and are cut off as the dice say, and a store that is watched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from dexnb.model.history import apply
from dexnb.model.run_state import RunState
from dexnb.providers import (
    Commit,
    Handlers,
    MemoryProvider,
    MemoryStore,
    Provider,
    Started,
    WorkItem,
)
from dexnb.testing import Fault, FaultyProvider
from tests.simulation.witness import Witness

SPARED = ("open", "close", "watch")


@dataclass
class Weather:
    """How bad a store is, in shares of its calls; `calm` ends it.

    Args:
        error: Calls that fail before they have an effect.
        lost: Calls whose answer is lost behind the effect.
        cut: Calls in which the engine is killed, before the effect or behind it.
        slow: Calls that come late, or whose answer does.
        longest: Seconds of the longest delay.
    """

    error: float
    lost: float
    cut: float
    slow: float
    longest: float
    calm: bool = False

    @classmethod
    def draw(cls, rng: Random) -> Weather:
        """Draw it; some seeds have none of one kind."""
        error, lost, slow = (rng.choice((0.0, 0.02, 0.1)) for _ in range(3))
        cut, longest = rng.choice((0.0, 0.002, 0.01)), rng.choice((0.02, 1.0, 8.0))
        return cls(error, lost, cut, slow, longest)


class ShakyProvider(FaultyProvider):
    """A provider in this weather."""

    def __init__(self, inner: Provider, weather: Weather, rng: Random) -> None:
        """Throw the dice of one engine's life."""
        super().__init__(inner)
        self._weather = weather
        self._rng = rng

    def struck(self, method: str, number: int) -> Iterable[Fault]:
        """Throw the dice for a call."""
        weather, rng = self._weather, self._rng
        if weather.calm or method in SPARED:
            return
        if rng.random() < weather.slow:
            pause = rng.uniform(0, weather.longest)
            late = rng.random() < 0.5
            yield Fault(
                method,
                retryable=None,
                delay=pause if late else 0.0,
                delay_after=0.0 if late else pause,
            )
        chance = rng.random() - weather.error
        if chance < 0:
            yield Fault(method)
        elif chance < weather.lost:
            yield Fault(method, applied=True)
        elif chance < weather.lost + weather.cut:
            yield Fault(method, cut=True, applied=rng.random() < 0.5)


class WatchedProvider(MemoryProvider):
    """A memory store that tells the witness of every turn and delivery that must not be."""

    def __init__(self, store: MemoryStore, witness: Witness, states: dict[str, RunState]) -> None:
        """Use this store.

        Args:
            store: Shared.
            witness: Who is told.
            states: What the turns of each run add up to, shared as the store is.
        """
        super().__init__(store)
        self._witness = witness
        self._states = states

    async def start_run(self, commit: Commit) -> Started:
        """Fold the first turn."""
        started = await super().start_run(commit)
        if started.created:
            self._fold(commit)
        return started

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """Fold a turn."""
        await super().ack_orchestration_item(token, commit)
        self._fold(commit)

    def _fold(self, commit: Commit) -> None:
        state = self._states.setdefault(commit.run_id, RunState())
        if state.closed and commit.events:
            self._witness.problem(f"turn behind the end of {commit.run_id}: {commit.events}")
        for event in commit.events:
            apply(state, event)
        if RunState.from_text(commit.state) != state:
            self._witness.problem(f"{commit.run_id}: the events do not add up to {commit.state}")

    async def fetch_work_items(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers, limit: int
    ) -> Sequence[WorkItem]:
        """Look whether what is delivered is to be done, at the moment of its delivery."""
        items = await super().fetch_work_items(lock_timeout, poll_timeout, handlers, limit)
        for work in items:
            item = work.item
            step = self._states[item.run_id].active.get(item.step_execution_id)
            if self._states[item.run_id].closed or step is None or step.phase != "running":
                self._witness.problem(f"delivered though it is not running: {item}")
        return items
