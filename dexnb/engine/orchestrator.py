"""`Orchestrator`: applies turns. Fetched runs with their messages go in, commits come out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dexnb.clock import wall_time
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.telemetry import Telemetry
from dexnb.engine.turn import poisoned, turn
from dexnb.errors import DocumentError, LeaseLost, ProviderError
from dexnb.model.message import decode_message
from dexnb.model.run_state import RunState
from dexnb.providers import Commit, OrchestrationItem, Provider

ACK_DELAYS = (0.01, 0.02, 0.04, 0.08, 0.16)
POISON_DELAY = 1.0


class Orchestrator:
    """The turns of one engine.

    Args:
        provider: The store.
        options: Slots and the poison limit.
        telemetry: Takes errors.
        committed: Called with each commit that was applied.
        freed: Called when a slot has become free.
    """

    def __init__(
        self,
        provider: Provider,
        options: RuntimeOptions,
        telemetry: Telemetry,
        committed: Callable[[Commit], None],
        freed: Callable[[], None],
    ) -> None:
        """Start with no turn."""
        self._provider = provider
        self._options = options
        self._telemetry = telemetry
        self._committed = committed
        self._freed = freed
        self._turns: set[asyncio.Task[None]] = set()

    @property
    def free_slots(self) -> int:
        """Count the turns that may still be begun."""
        return self._options.orchestration_concurrency - len(self._turns)

    def begin(self, item: OrchestrationItem) -> None:
        """Begin a turn of a fetched run."""
        task = asyncio.get_running_loop().create_task(self._apply(item))
        self._turns.add(task)
        task.add_done_callback(self._done)

    async def drained(self) -> None:
        """Wait until no turn is under way."""
        while self._turns:
            await asyncio.wait(list(self._turns))

    async def give_back(self, item: OrchestrationItem) -> None:
        """Return a run that was fetched after the stop."""
        await self._provider.abandon_orchestration_item(item.token, ignore_attempt=True)

    async def _apply(self, item: OrchestrationItem) -> None:
        try:
            commit = self._fold(item)
            if commit is None:
                await self._provider.abandon_orchestration_item(item.token, POISON_DELAY)
                return
            await self._acknowledge(item, commit)
        except ProviderError as error:
            self._tell(item, error)

    def _fold(self, item: OrchestrationItem) -> Commit | None:
        """Give the turn's commit, or None to try an undecodable item again later."""
        time, wall = self._provider.clock.lease(), wall_time()
        try:
            state = RunState.from_text(item.state)
            messages = [decode_message(message.text) for message in item.messages]
            return turn(state, messages, time=time, wall=wall)
        except (DocumentError, LookupError, TypeError, AttributeError) as error:
            self._tell(item, error)
            if item.attempt_count <= self._options.max_attempts:
                return None
            state = RunState(item.flow_id, item.run_id, item.flow_type, events=item.version)
            return poisoned(state, f"Poison: {error}", time=time, wall=wall)

    async def _acknowledge(self, item: OrchestrationItem, commit: Commit) -> None:
        for tries in range(len(ACK_DELAYS) + 1):
            try:
                await self._provider.ack_orchestration_item(item.token, commit)
            except LeaseLost:
                # Whoever holds the run now folds the same messages; a turn applies exactly once.
                return
            except ProviderError as error:
                if not error.retryable or tries == len(ACK_DELAYS):
                    self._tell(item, error)
                    await self._provider.abandon_orchestration_item(item.token, 0.05)
                    return
                await asyncio.sleep(ACK_DELAYS[tries])
            else:
                self._committed(commit)
                return

    def _done(self, task: asyncio.Task[None]) -> None:
        self._turns.discard(task)
        if not task.cancelled():
            task.exception()
        self._freed()

    def _tell(self, item: OrchestrationItem, error: Exception) -> None:
        text = f"turn of {item.flow_id}: {type(error).__name__}: {error}"
        self._telemetry.record(
            item.run_id, item.flow_id, "engine_error", payload={"error": text}, size=len(text)
        )
