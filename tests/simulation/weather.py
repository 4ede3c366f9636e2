"""Stores whose calls fail, dawdle and are cut off as the dice say, and a store that is watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from dexnb.model.history import apply
from dexnb.model.run_state import RunState
from dexnb.providers import (
    Commit,
    Handlers,
    MemoryProvider,
    MemoryStore,
    NewMessage,
    Provider,
    Started,
    WorkItem,
)
from dexnb.testing import Fault, FaultyProvider
from dexnb.testing.faulty import LEASED
from tests.simulation.waits import unsettled
from tests.simulation.witness import Witness

SPARED = ("open", "close", "watch")
FOCI: tuple[tuple[str, ...], ...] = (
    ("ack_work_item", "ack_work_item_with_turn"),
    ("ack_work_item", "ack_work_item_with_turn"),
    ("ack_orchestration_item",),
    ("start_run",),
    ("read_run",),
    ("enqueue_for_orchestrator",),
    ("fetch_work_items", "fetch_orchestration_items"),
    ("renew_work_item_locks", "record_beats"),
)
"""Calls on which a seed's weather may be worst."""

_FAULTS: dict[str, dict[str, Any]] = {
    "error": {},
    "lost": {},
    "refused": {"retryable": False},
    "cut": {"cut": True},
}


@dataclass
class Weather:
    """How bad a store is, in shares of its calls; `calm` ends it.

    Args:
        error: Calls that fail before they have an effect.
        lost: Calls whose answer is lost behind the effect.
        cut: Calls in which the engine is killed, before the effect or behind it.
        slow: Calls that come late, or whose answer does.
        longest: Seconds of the longest delay.
        refused: Calls that fail for good: to make them again does not help.
        expired: Calls about a lease that has run out, though its owner does not know.
        focus: Methods that suffer much more than all others.
    """

    error: float
    lost: float
    cut: float
    slow: float
    longest: float
    refused: float
    expired: float
    focus: tuple[str, ...]
    calm: bool = False

    @classmethod
    def draw(cls, rng: Random) -> Weather:
        """Draw it; some seeds have none of one kind."""
        error, lost, slow = (rng.choice((0.0, 0.02, 0.1)) for _ in range(3))
        cut, longest = rng.choice((0.0, 0.002, 0.01)), rng.choice((0.02, 1.0, 8.0))
        refused, expired = rng.choice((0.0, 0.0, 0.03)), rng.choice((0.0, 0.0, 0.05))
        focus = rng.choice(FOCI) if rng.random() < 0.5 else ()
        return cls(error, lost, cut, slow, longest, refused, expired, focus)

    def strikes(self, method: str, rng: Random) -> Iterator[Fault]:
        """Throw the dice for a call."""
        worse = 5.0 if method in self.focus else 1.0
        if rng.random() < self.slow * worse:
            yield self._delay(method, rng)
        if method in LEASED and rng.random() < self.expired * worse:
            yield Fault(method, retryable=None, expires=True)
        chance = rng.random()
        for kind, how in _FAULTS.items():
            chance -= getattr(self, kind) * worse
            if chance < 0:
                applied = kind == "lost" or (kind == "cut" and rng.random() < 0.5)
                yield Fault(method, applied=applied, **how)
                return

    def _delay(self, method: str, rng: Random) -> Fault:
        pause, late = rng.uniform(0, self.longest), rng.random() < 0.5
        before, behind = (pause, 0.0) if late else (0.0, pause)
        return Fault(method, retryable=None, delay=before, delay_after=behind)


class ShakyProvider(FaultyProvider):
    """A provider in this weather; `doomed` when a call is under way that will be cut off.

    `untold` are the runs of which a turn may be in the store without an answer to its engine, so
    that it dies with what it would tell the others on its loop.
    """

    def __init__(self, inner: Provider, weather: Weather, rng: Random) -> None:
        """Throw the dice of one engine's life."""
        super().__init__(inner)
        self._weather = weather
        self._rng = rng
        self.doomed = False
        self.untold: set[str] = set()

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """Pass on, and note whether an answer came."""
        self.untold.add(commit.run_id)
        await super().ack_orchestration_item(token, commit)
        self.untold.discard(commit.run_id)

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """Pass on, and note whether an answer came."""
        self.untold.add(turn.run_id)
        applied = await super().ack_work_item_with_turn(token, message, turn, durable=durable)
        self.untold.discard(turn.run_id)
        return applied

    def struck(self, method: str, number: int) -> Iterable[Fault]:
        """Throw the dice for a call."""
        if self._weather.calm or method in SPARED:
            return ()
        struck = tuple(self._weather.strikes(method, self._rng))
        self.doomed = self.doomed or any(fault.cut for fault in struck)
        return struck


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

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """Fold a turn that was applied with the end of its Step."""
        applied = await super().ack_work_item_with_turn(token, message, turn, durable=durable)
        if applied:
            self._fold(turn)
        return applied

    def _fold(self, commit: Commit) -> None:
        state = self._states.setdefault(commit.run_id, RunState())
        if state.closed and commit.events:
            self._witness.problem(f"turn behind the end of {commit.run_id}: {commit.events}")
        for event in commit.events:
            apply(state, event)
        # Mostly the texts are the same, too, which costs less to see.
        if commit.state != state.to_text() and RunState.from_text(commit.state) != state:
            self._witness.problem(f"{commit.run_id}: the events do not add up to {commit.state}")
        for problem in unsettled(state):
            self._witness.problem(f"behind a turn of {state.flow_id}: {problem}")

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
