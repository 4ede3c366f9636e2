"""`Orchestrator`: applies turns. Fetched runs with their messages go in, commits come out."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from dexnb.clock import wall_time
from dexnb.engine.near_runs import NearRuns
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.patience import patiently
from dexnb.engine.rpc_visits import RpcVisits
from dexnb.engine.telemetry import Telemetry
from dexnb.engine.turn import poisoned, turn
from dexnb.errors import DocumentError, LeaseLost, ProviderError
from dexnb.model.message import Message, decode_message
from dexnb.model.run_state import RunState
from dexnb.providers import Commit, OrchestrationItem, Provider

ACK_DELAYS = (0.01, 0.02, 0.04, 0.08, 0.16)
BUSY_DELAY = 0.05
POISON_DELAY = 1.0
MOST_FAILING = 1000
"""Runs whose failed turns are counted; the one that failed first goes first."""


class Orchestrator:
    """The turns of one engine.

    Args:
        provider: The store.
        options: Slots and the poison limit.
        telemetry: Takes errors.
        near: The states at hand; told of each turn that was applied.
        freed: Called when a slot has become free.
    """

    def __init__(
        self,
        provider: Provider,
        options: RuntimeOptions,
        telemetry: Telemetry,
        near: NearRuns,
        freed: Callable[[], None],
    ) -> None:
        """Start with no turn."""
        self._provider = provider
        self._options = options
        self._telemetry = telemetry
        self._near = near
        self._freed = freed
        self.visits = RpcVisits()
        self._turns: set[asyncio.Task[None]] = set()
        self._failures: OrderedDict[str, int] = OrderedDict()

    @property
    def free_slots(self) -> int:
        """Count the turns that may still be begun."""
        return self._options.orchestration_concurrency - len(self._turns)

    def begin(self, item: OrchestrationItem) -> None:
        """Begin a turn of a fetched run."""
        task = asyncio.get_running_loop().create_task(self._apply(item))
        self._turns.add(task)
        task.add_done_callback(self._done)

    async def drained(self, patience: float) -> None:
        """Wait until no turn is under way; after `patience` seconds give up those that are."""
        if self._turns:
            _, running = await asyncio.wait(self._turns, timeout=patience)
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)

    async def give_back(self, item: OrchestrationItem) -> None:
        """Return a run that was fetched after the stop, or that the store would not take a turn of.

        Its messages are as good as before: this delivery does not count against them.
        """
        provider, token = self._provider, item.token
        await patiently(
            lambda: provider.abandon_orchestration_item(token, BUSY_DELAY, ignore_attempt=True)
        )

    def applied(self, run_id: str) -> None:
        """Learn that a turn of a run was applied here, by whatever way."""
        self._failures.pop(run_id, None)

    async def _apply(self, item: OrchestrationItem) -> None:
        try:
            time, wall = self._provider.clock.lease(), wall_time()
            try:
                state = self._state(item)
                messages = await self._messages(item)
                now = self._provider.clock.now()
                commit = turn(state, messages, time=time, wall=wall, now=now)
                done = await self._acknowledge(item, commit, state)
            except Exception as error:  # noqa: BLE001 - what was stored may be anything
                self._tell(item, error)
                await self._put_off(item, error, time, wall)
                return
            if not done:
                await self.give_back(item)
        except Exception as error:  # noqa: BLE001 - the lock runs out, and the turn is taken again
            self._tell(item, error)

    async def _messages(self, item: OrchestrationItem) -> list[Message]:
        lease = self._options.orchestrator_lock_timeout.total_seconds()
        messages = [decode_message(message.text) for message in item.messages]
        return await self.visits.let_in(item, messages, lease)

    def _state(self, item: OrchestrationItem) -> RunState:
        return self._near.take(item.run_id, item.version) or RunState.from_text(item.state)

    async def _acknowledge(self, item: OrchestrationItem, commit: Commit, state: RunState) -> bool:
        """Write a turn; tell whether that is done with. A store that says never raises."""
        try:
            done = await self._write(item, commit, state)
        except Exception:
            self._near.doubted(item.run_id)
            raise
        if not done:
            self._near.doubted(item.run_id)
        return done

    async def _write(self, item: OrchestrationItem, commit: Commit, state: RunState) -> bool:
        for delay in (*ACK_DELAYS, None):
            try:
                await self._provider.ack_orchestration_item(item.token, commit)
            except LeaseLost:
                await self._near.applied_before(commit, state)
                return True
            except Exception as error:
                if isinstance(error, ProviderError) and not error.retryable:
                    raise
                self._tell(item, error)
                if delay is not None:
                    await asyncio.sleep(delay)
            else:
                self._near.applied(commit, state)
                return True
        return False

    async def _put_off(
        self, item: OrchestrationItem, error: Exception, time: float, wall: float
    ) -> None:
        """Let a run that cannot be folded wait, and close it when it was tried often enough."""
        if self._tries(item) <= self._options.max_attempts:
            await self._provider.abandon_orchestration_item(item.token, POISON_DELAY)
            return
        state = _closable(item)
        commit = poisoned(state, f"Poison: {error}", time=time, wall=wall)
        await self._acknowledge(item, commit, state)

    def _tries(self, item: OrchestrationItem) -> int:
        """Count the tries that speak against a run whose turn has just failed.

        What cannot be read is poison by itself, and each of its deliveries counts. A run that can
        be read is not to blame for deliveries that were lost with an engine: of it only the turns
        count that have failed here since one was applied.
        """
        unread = [each.attempt_count for each in item.messages if not _is_message(each.text)]
        if unread:
            return max(unread)
        if not _is_state(item.state):
            return item.attempt_count
        failures = self._failures.setdefault(item.run_id, 0) + 1
        self._failures[item.run_id] = failures
        if len(self._failures) > MOST_FAILING:
            self._failures.popitem(last=False)
        return failures

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


def _is_message(text: str) -> bool:
    return _can_be_read(decode_message, text)


def _is_state(text: str) -> bool:
    return _can_be_read(RunState.from_text, text)


def _can_be_read(reader: Callable[[str], object], text: str) -> bool:
    # What was stored may be anything, and fail in ways that no reader knows.
    with suppress(Exception):
        reader(text)
        return True
    return False


def _closable(item: OrchestrationItem) -> RunState:
    """Give a run's state, or where that cannot be read as much of it as its end needs."""
    with suppress(DocumentError):
        state = RunState.from_text(item.state)
        if state.events == item.version:
            return state
    return RunState(item.flow_id, item.run_id, item.flow_type, events=item.version)
