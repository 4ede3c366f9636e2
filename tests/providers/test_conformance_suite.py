"""The suite itself: nothing is left out of it, and each of its properties finds a broken store."""

from __future__ import annotations

import asyncio
import inspect
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import count

import pytest

from dexnb.clock import Clock
from dexnb.providers import (
    Beat,
    Commit,
    Handlers,
    MemoryProvider,
    MemoryStore,
    NewMessage,
    NewWorkItem,
    RunRecord,
    Started,
    StreamWrite,
    TelemetryChunk,
    WorkItem,
)
from dexnb.testing import conformance
from dexnb.testing.conformance import ProviderFactory

Test = Callable[[object, ProviderFactory], None]


def methods_of(test_class: type) -> list[Test]:
    """Give the test methods of a class."""
    return [value for name, value in vars(test_class).items() if name.startswith("test_")]


def broken_rows(test_class: type, factory: ProviderFactory) -> list[str]:
    """Run a class of the suite; give the names of the tests that fail."""
    broken = []
    for test in methods_of(test_class):
        try:
            test(test_class(), factory)
        except (Exception, pytest.fail.Exception):  # noqa: BLE001  however it fails
            broken.append(test.__name__)
    return broken


def test_no_property_is_left_out() -> None:
    """A star import brings every test class of every module of the suite."""
    classes = {
        name
        for module in pkgutil.iter_modules(conformance.__path__)
        for name in vars(import_module(f"{conformance.__name__}.{module.name}"))
        if name.startswith("Test")
    }
    assert classes == {name for name in conformance.__all__ if name.startswith("Test")}


def test_a_conformance_test_asks_for_the_factory_alone() -> None:
    """So that one fixture is all that a store's author has to write."""
    for name in conformance.__all__:
        test_class = getattr(conformance, name)
        for test in methods_of(test_class) if name.startswith("Test") else ():
            assert list(inspect.signature(test).parameters) == ["self", "provider_factory"]
            assert not inspect.iscoroutinefunction(test)


class DropsMessagesOfTurns(MemoryProvider):
    """An ack that forgets what it should send."""

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """Apply all but the messages."""
        await super().ack_orchestration_item(token, replace(commit, messages=()))


class IgnoresCancelled(MemoryProvider):
    """Attempts that a turn takes away stay."""

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """Apply all but the cancelling."""
        await super().ack_orchestration_item(token, replace(commit, cancelled=()))


class NeverClears(MemoryProvider):
    """A beat with None leaves the value."""

    async def record_beats(self, beats: Sequence[Beat]) -> frozenset[str]:
        """Record values only."""
        return await super().record_beats([b for b in beats if b.checkpoint is not None])


class OpensOnAnyClock(MemoryProvider):
    """Takes every clock for its own."""

    async def open(self, clock: Clock, owner: str) -> None:
        """Open on virtual time, whatever was asked for."""
        await super().open(Clock.virtual(), owner)


class StripsTexts(MemoryProvider):
    """Messages lose their white space."""

    async def enqueue_for_orchestrator(self, message: NewMessage) -> None:
        """Send a tidied text."""
        await super().enqueue_for_orchestrator(replace(message, text=message.text.strip()))


class ForgivesUnknownTokens(MemoryProvider):
    """A hand-back under any token is fine."""

    async def abandon_work_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """Hand back what is known."""
        if token.startswith("engine"):
            await super().abandon_work_item(token, delay, ignore_attempt=ignore_attempt)


class KeepsTheFirstState(MemoryProvider):
    """A turn's new state is lost."""

    async def ack_orchestration_item(self, token: str, commit: Commit) -> None:
        """Apply all but the state."""
        await super().ack_orchestration_item(token, replace(commit, state="{}"))


class SharesTokens(MemoryProvider):
    """Locks cannot be told apart."""

    async def open(self, clock: Clock, owner: str) -> None:
        """Give out one token for ever."""
        await super().open(clock, owner)

        def same(owner: str) -> str:
            return "token"

        self.store.new_token = same  # type: ignore[method-assign]  # the fault


class LocksByWhatIsDue(MemoryProvider):
    """One time for what is due and for locks."""

    async def open(self, clock: Clock, owner: str) -> None:
        """Ask the wrong one."""
        await super().open(clock, owner)
        self.clock.lease = lambda: self.clock.now()  # type: ignore[method-assign]  # noqa: PLW0108  the fault


class GivesEachRunABudget(MemoryProvider):
    """The more runs write to a Stream, the more it keeps."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        """Know no run yet."""
        super().__init__(store)
        self.runs: set[str] = set()

    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """Give it so much more."""
        self.runs |= {write.run_id for write in writes}
        more = [replace(write, capacity=write.capacity * len(self.runs)) for write in writes]
        return await super().write_stream(more)


class LocksForEver(MemoryProvider):
    """Time stands still for its locks."""

    async def open(self, clock: Clock, owner: str) -> None:
        """Stop the clock of locks."""
        await super().open(clock, owner)
        self.clock.lease = lambda: 0.0  # type: ignore[method-assign]  # the fault


class GoesOnAfterCancelling(MemoryProvider):
    """A cancelled fetch takes the next item all the same."""

    async def fetch_work_item(
        self, lock_timeout: float, poll_timeout: float, handlers: Handlers
    ) -> WorkItem | None:
        """Fetch in a task that nobody cancels."""
        fetching = super().fetch_work_item(lock_timeout, poll_timeout, handlers)
        return await asyncio.shield(asyncio.ensure_future(fetching))


class CountsHandBacks(MemoryProvider):
    """An attempt that did not happen counts."""

    async def abandon_work_item(
        self, token: str, delay: float = 0.0, *, ignore_attempt: bool = False
    ) -> None:
        """Count it."""
        await super().abandon_work_item(token, delay)


class ServesTheYoungestFirst(MemoryProvider):
    """Last in, first out."""

    async def open(self, clock: Clock, owner: str) -> None:
        """Number work items downwards."""
        await super().open(clock, owner)
        self.store.work._numbers = count(0, -1)  # noqa: SLF001  the fault


class ListsOldestFirst(MemoryProvider):
    """A list the wrong way round."""

    async def list_runs(
        self, *, status: str = "", limit: int = 100, before: str = ""
    ) -> tuple[RunRecord, ...]:
        """Turn it."""
        return (await super().list_runs(status=status, limit=limit, before=before))[::-1]


class StartsAlways(MemoryProvider):
    """An open flow id gets a second run."""

    async def start_run(self, commit: Commit) -> Started:
        """Look for no open run."""
        self.store.begin("start_run", commit)
        return Started(commit.run_id, created=True)


class WritesForAnybody(MemoryProvider):
    """Stream messages of dead attempts are kept."""

    async def write_stream(self, writes: Sequence[StreamWrite]) -> tuple[bool, ...]:
        """Ask for no token."""
        return await super().write_stream([replace(write, token=None) for write in writes])


class KeepsOneChunk(MemoryProvider):
    """Of telemetry only the newest chunk of a call is kept."""

    async def append_telemetry(self, chunks: Sequence[TelemetryChunk]) -> None:
        """Keep the last."""
        await super().append_telemetry(chunks[-1:])


class SwallowsRetries(MemoryProvider):
    """The next attempt is never enqueued."""

    async def ack_work_item(
        self,
        token: str,
        message: NewMessage | None = None,
        retry: NewWorkItem | None = None,
        *,
        durable: bool = True,
    ) -> None:
        """Delete and send only."""
        await super().ack_work_item(token, message, durable=durable)


class TurnsAndTells(MemoryProvider):
    """An attempt's end both has its turn and sends its message."""

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """Do both."""
        applied = await super().ack_work_item_with_turn(token, message, turn, durable=durable)
        await self.enqueue_for_orchestrator(message)
        return applied


class TurnsWithoutLooking(MemoryProvider):
    """An attempt's turn is applied whatever waits for the run, and whoever holds it."""

    async def open(self, clock: Clock, owner: str) -> None:
        """Hold every run for quiet."""
        await super().open(clock, owner)

        def quiet(run_id: str) -> bool:
            return True

        self.store.messages.is_quiet = quiet  # type: ignore[method-assign]  # the fault


class TurnsOfTheDead(MemoryProvider):
    """An attempt that has lost its item still has its turn."""

    async def ack_work_item_with_turn(
        self, token: str, message: NewMessage, turn: Commit, *, durable: bool = True
    ) -> bool:
        """Apply it without the item."""
        if self.store.work.tokens.find(token, self.clock.lease()) is None:
            run = self.store.runs[turn.run_id]
            self.store.apply(run, turn, self.store.check("", run, turn))
        return await super().ack_work_item_with_turn(token, message, turn, durable=durable)


@pytest.mark.parametrize(
    ("provider_class", "test_class"),
    [
        (DropsMessagesOfTurns, conformance.TestAtomicity),
        (IgnoresCancelled, conformance.TestCancellation),
        (NeverClears, conformance.TestCheckpoints),
        (OpensOnAnyClock, conformance.TestClocks),
        (StripsTexts, conformance.TestCorrupted),
        (TurnsAndTells, conformance.TestEndsWithTurns),
        (TurnsWithoutLooking, conformance.TestEndsWithTurns),
        (TurnsOfTheDead, conformance.TestEndsWithTurns),
        (ForgivesUnknownTokens, conformance.TestErrorHandling),
        (KeepsTheFirstState, conformance.TestInstanceCreation),
        (SharesTokens, conformance.TestInstanceLocking),
        (LocksForEver, conformance.TestLockExpiration),
        (LocksByWhatIsDue, conformance.TestLockExpiration),
        (GoesOnAfterCancelling, conformance.TestLongPolling),
        (CountsHandBacks, conformance.TestPoisonMessage),
        (ServesTheYoungestFirst, conformance.TestQueueSemantics),
        (SwallowsRetries, conformance.TestQueueSemantics),
        (ListsOldestFirst, conformance.TestReads),
        (StartsAlways, conformance.TestStarts),
        (WritesForAnybody, conformance.TestStreams),
        (GivesEachRunABudget, conformance.TestStreams),
        (KeepsOneChunk, conformance.TestTelemetry),
    ],
)
def test_a_broken_store_is_found_out(
    provider_class: type[MemoryProvider], test_class: type, memory_factory: ProviderFactory
) -> None:
    """The property that it breaks has a failing test; the sound store has none."""
    assert broken_rows(test_class, memory_factory) == []
    memory_factory.provider_class = provider_class  # type: ignore[attr-defined]  # MemoryFactory
    assert broken_rows(test_class, memory_factory) != []
