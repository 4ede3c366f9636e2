"""`Endings`: who waits for what of which run, and how the news reaches them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TypeVar
from weakref import WeakKeyDictionary

from dexnb.engine.patience import patiently
from dexnb.errors import DexnbError, ProviderError, RunNotFound, RuntimeClosed
from dexnb.model.run_state import RunState
from dexnb.providers import Commit, Provider, RunRecord

T = TypeVar("T")

Known = tuple[RunRecord, RunState | None]
"""What is known of a run; its state where that needs no decoding."""

MOST_RUNS = 10_000
"""Open runs that are remembered; every other one is looked at before a wait."""

LOOK_AGAIN_SECONDS = 0.5


class Endings:
    """The waits of one engine.

    A run may be ended by another engine. One on this loop tells it at once, because run ids are
    unique; what another process did shows in the store.

    Args:
        provider: The store, open.
        trusting: Whether the wait for a run that this engine left open a moment ago may begin
            without a look at the store; it has one half a second later, where time is real.
    """

    def __init__(self, provider: Provider, *, trusting: bool = False) -> None:
        """Start with nobody waiting, on the running loop."""
        self._provider = provider
        self._trusting = trusting
        self._open: set[str] = set()
        self._unread: dict[str, None] = {}
        self._later: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._waiting: _Waits = {}
        self._watching: _Waits = {}
        self._looking: asyncio.Task[None] | None = None
        self._doubted: dict[str, None] = {}
        self._all = _on_loop.setdefault(self._loop, WeakKeyDictionary())
        self._all[self] = None
        self._closed = False

    async def wait(self, run_id: str) -> RunState:
        """Wait until a run has ended, whichever engine ends it; give what it has come to.

        Raises:
            RunNotFound: The store has no such run.
            RuntimeClosed: The engine was closed during the wait.
            ProviderError: The store was taken away.
        """
        return await self._look_until(run_id, self._waiting, _ended, first=not self._opened(run_id))

    def _opened(self, run_id: str) -> bool:
        """Tell whether a run is open by all that is known here; a look at it follows later."""
        if run_id not in self._open:
            return False
        self._unread[run_id] = None
        if self._later is None:
            self._later = self._loop.call_later(LOOK_AGAIN_SECONDS, self._look_later)
        return True

    def _look_later(self) -> None:
        self._later = None
        self._doubt(self._unread)
        self._unread.clear()

    async def until(self, run_id: str, look: Callable[[RunRecord], T | None]) -> T:
        """Look at a run now and after each of its turns until `look` finds something.

        Raises:
            RunNotFound: The store has no such run.
            RuntimeClosed: The engine was closed during the wait.
            ProviderError: The store was taken away.
        """
        return await self._look_until(run_id, self._watching, lambda known: look(known[0]))

    async def _look_until(
        self, run_id: str, waiting: _Waits, look: Callable[[Known], T | None], *, first: bool = True
    ) -> T:
        known: Known | None = None
        while True:
            future: asyncio.Future[None] = self._loop.create_future()
            waiting.setdefault(run_id, {})[future] = None
            try:
                if first:
                    known = known or await self._read(run_id)
                    if (found := look(known)) is not None:
                        return found
                first = True
                await future
                known = waiting[run_id][future]
            finally:
                if future.done() and not future.cancelled():
                    # Whoever fails in the read above has no use for the news that the engine stops.
                    future.exception()
                futures = waiting.get(run_id, {})
                futures.pop(future, None)
                if not futures:
                    waiting.pop(run_id, None)

    async def _read(self, run_id: str) -> Known:
        record = await patiently(lambda: self._provider.read_run(run_id=run_id))
        if record is None:
            raise RunNotFound(f"run {run_id} is not in this store")
        return record, None

    def changed(self, commit: Commit, state: RunState) -> None:
        """Tell everyone on this loop that a run has had a turn, which led to this state."""
        # Nearly always there is but one, and a look into a weak set costs more than all the rest.
        alone = len(self._all) == 1 and not self._closed
        for endings in (self,) if alone else tuple(self._all):
            endings.resolve(commit.run_id, ended=commit.closes, commit=commit, state=state)
        if self._trusting and not commit.closes and len(self._open) < MOST_RUNS:
            self._open.add(commit.run_id)

    def look(self) -> None:
        """Learn that another process has changed the store."""
        self._open.clear()
        for run_id in self._watching:
            self.resolve(run_id, ended=False)
        self._doubt(self._waiting)

    def _doubt(self, run_ids: Iterable[str]) -> None:
        self._doubted.update(dict.fromkeys(run_ids))
        if self._doubted and self._looking is None:
            self._looking = self._loop.create_task(self._look())

    def doubt(self, run_id: str) -> None:
        """Let everyone on this loop look at a run who waits for it.

        Nobody may ever be told of its last turn: whether that was applied is not known.
        """
        for endings in tuple(self._all):
            endings.look_at(run_id)

    def look_at(self, run_id: str) -> None:
        """Let this engine's own waits for a run look at the store."""
        self.resolve(run_id, ended=False)
        if run_id in self._waiting:
            self._doubt((run_id,))

    def close(self) -> None:
        """End all waits with RuntimeClosed."""
        self._closed = True
        self._all.pop(self, None)
        for task in (self._looking, self._later):
            if task is not None:
                task.cancel()
        self.fail(RuntimeClosed("the runtime was closed during the wait"))

    def fail(self, error: DexnbError) -> None:
        """End all waits with what says that nothing can be learned any more."""
        for futures in (*self._waiting.values(), *self._watching.values()):
            for future in futures:
                if not future.done():
                    future.set_exception(error)

    def resolve(
        self,
        run_id: str,
        *,
        ended: bool,
        commit: Commit | None = None,
        state: RunState | None = None,
    ) -> None:
        """Let this engine's own waits for a run look again: at what a turn has left, if given."""
        self._open.discard(run_id)
        waiting: _News = {}
        if ended:
            self._unread.pop(run_id, None)
            waiting = self._waiting.get(run_id, {})
        watching = self._watching.get(run_id, {})
        count = len(waiting) + len(watching)
        if not count:
            return
        record = None if commit is None else _record_of(commit)
        # Two that wait must not have the same lists and dicts in their hands.
        known = None if record is None else (record, state if ended and count == 1 else None)
        for waits in (waiting, watching):
            for future in waits:
                _tell(waits, future, known)

    async def _look(self) -> None:
        try:
            while self._doubted:
                run_id = next(iter(self._doubted))
                del self._doubted[run_id]
                if run_id not in self._waiting:
                    continue
                record = await self._provider.read_run(run_id=run_id)
                if record is not None and record.status != "RUNNING":
                    self.resolve(run_id, ended=True)
        except ProviderError:
            # The store will not tell again of this change.
            self._loop.call_later(LOOK_AGAIN_SECONDS, self.look)
        finally:
            self._looking = None


def _tell(waits: _News, future: asyncio.Future[None], known: Known | None) -> None:
    """Tell one who waits; who was told already and had no turn yet finds the newest of both."""
    if not future.done():
        waits[future] = known
        future.set_result(None)
        return
    before = waits[future]
    # To look at the store is newer than any turn that one is told of.
    if before is not None and (known is None or known[0].version > before[0].version):
        waits[future] = known


def _record_of(commit: Commit) -> RunRecord | None:
    if not commit.events:
        return None
    version = commit.events[-1].seq
    return RunRecord(
        commit.run_id, commit.flow_id, commit.flow_type, commit.status, version, commit.state
    )


def _ended(known: Known) -> RunState | None:
    record, state = known
    if record.status == "RUNNING":
        return None
    return RunState.from_text(record.state) if state is None else state


_News = dict["asyncio.Future[None]", Known | None]
"""Who waits for a run, and what each is told that it has come to; None: to look for itself."""

_Waits = dict[str, _News]
"""Who waits, by run id.

Who came first is told first, here and below: so the same program on a virtual clock goes the same
way each time.
"""

_on_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakKeyDictionary[Endings, None]] = (
    WeakKeyDictionary()
)
