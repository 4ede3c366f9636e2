"""`NearRuns`: states of runs whose last turn this engine has applied, so that the next is at hand.

A Step's end and the turn that it leads to go into the store together then. Whether the state is
still the run's is judged by the store alone: a stale one costs a refusal and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from dexnb.clock import wall_time
from dexnb.engine.patience import patiently
from dexnb.engine.turn import turn
from dexnb.errors import DexnbError, ProviderError
from dexnb.model.message import Message
from dexnb.model.run_state import RunState
from dexnb.providers import Commit, Provider

Turn = tuple[Commit, RunState]
"""What a turn writes, and the state that it leads to."""

MOST_RUNS = 5000
"""Runs whose state is kept; the one that was longest without a turn goes first."""


class NearRuns:
    """The states at hand of one engine's runs.

    Args:
        provider: The store.
        committed: Called with each commit that was applied, and the state that it led to.
        doubted: Called with a run's id where nobody knows whether its last turn was applied.
    """

    def __init__(
        self,
        provider: Provider,
        committed: Callable[[Commit, RunState], None],
        doubted: Callable[[str], None],
    ) -> None:
        """Start with none."""
        self._provider = provider
        self._committed = committed
        self.doubted = doubted
        self._states: OrderedDict[str, RunState] = OrderedDict()

    def take(self, run_id: str, version: int | None = None) -> RunState | None:
        """Give a state away, to be changed by a turn; None if it is not known or not of `version`.

        Only a turn that was applied brings it back.
        """
        state = self._states.pop(run_id, None)
        return state if state is None or version in (None, state.events) else None

    def applied(self, commit: Commit, state: RunState) -> None:
        """Keep the state that an applied turn has led to, and tell of the turn."""
        if not commit.closes:
            self.keep(state)
        self._committed(commit, state)

    def keep(self, state: RunState) -> None:
        """Have a state at hand for the run's next turn, if none is newer; it is given away."""
        held = self._states.get(state.run_id)
        if held is not None and held.events > state.events:
            return
        self._states[state.run_id] = state
        if len(self._states) > MOST_RUNS:
            self._states.popitem(last=False)

    async def applied_before(self, commit: Commit, state: RunState) -> None:
        """Learn whether a turn was applied, and only the store's answer was lost.

        If not, whoever holds the run now folds the same messages: a turn applies exactly once.

        Raises:
            ProviderError: The store does not tell, and those who wait for the run look themselves.
        """
        try:
            record = await patiently(lambda: self._provider.read_run(run_id=commit.run_id))
        except ProviderError:
            self.doubted(commit.run_id)
            raise
        if record is not None and record.state == commit.state:
            self.applied(commit, state)

    def turn_of(self, run_id: str, message: Message) -> Turn | None:
        """Give the turn that a message leads to, and the new state, if the run is at hand."""
        state = self.take(run_id)
        if state is None:
            return None
        clock = self._provider.clock
        try:
            commit = turn(
                state,
                [message],
                time=clock.lease(),
                wall=wall_time(),
                now=clock.now(),
            )
        except (DexnbError, LookupError, TypeError, ValueError):
            # As a message it fails in a turn of its own, which knows what to do about it.
            return None
        return (commit, state) if commit.events else None
