"""`Endings`: who waits for what of which run, and how the news reaches them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from dexnb.engine.patience import patiently
from dexnb.errors import DexnbError, ProviderError, RunNotFound, RuntimeClosed
from dexnb.providers import Commit, Provider, RunRecord

T = TypeVar("T")

LOOK_AGAIN_SECONDS = 0.5


class Endings:
    """The waits of one engine.

    A run may be ended by another engine. One on this loop tells it at once, because run ids are
    unique; what another process did shows in the store.

    Args:
        provider: The store, open.
    """

    def __init__(self, provider: Provider) -> None:
        """Start with nobody waiting, on the running loop."""
        self._provider = provider
        self._loop = asyncio.get_running_loop()
        self._waiting: _Waits = {}
        self._watching: _Waits = {}
        self._looking: asyncio.Task[None] | None = None
        self._again = False
        _on_loop.setdefault(self._loop, WeakKeyDictionary())[self] = None

    async def wait(self, run_id: str) -> RunRecord:
        """Wait until a run has ended, whichever engine ends it; give it as it has ended.

        Raises:
            RunNotFound: The store has no such run.
            RuntimeClosed: The engine was closed during the wait.
            ProviderError: The store was taken away.
        """
        return await self._look_until(
            run_id, self._waiting, lambda record: None if record.status == "RUNNING" else record
        )

    async def until(self, run_id: str, look: Callable[[RunRecord], T | None]) -> T:
        """Look at a run now and after each of its turns until `look` finds something.

        Raises:
            RunNotFound: The store has no such run.
            RuntimeClosed: The engine was closed during the wait.
            ProviderError: The store was taken away.
        """
        return await self._look_until(run_id, self._watching, look)

    async def _look_until(
        self,
        run_id: str,
        waiting: _Waits,
        look: Callable[[RunRecord], T | None],
    ) -> T:
        record: RunRecord | None = None
        while True:
            future: asyncio.Future[RunRecord | None] = self._loop.create_future()
            waiting.setdefault(run_id, {})[future] = None
            try:
                if record is None:
                    record = await patiently(lambda: self._provider.read_run(run_id=run_id))
                if record is None:
                    raise RunNotFound(f"run {run_id} is not in this store")
                if (found := look(record)) is not None:
                    return found
                record = await future
            finally:
                if future.done() and not future.cancelled():
                    # Whoever fails in the read above has no use for the news that the engine stops.
                    future.exception()
                futures = waiting.get(run_id, {})
                futures.pop(future, None)
                if not futures:
                    waiting.pop(run_id, None)

    def changed(self, commit: Commit) -> None:
        """Tell everyone on this loop that a run has had a turn."""
        for endings in tuple(_on_loop.get(self._loop, ())):
            endings.resolve(commit.run_id, ended=commit.closes, commit=commit)

    def look(self) -> None:
        """Learn that another process has changed the store."""
        self._again = True
        for run_id in self._watching:
            self.resolve(run_id, ended=False)
        if self._waiting and self._looking is None:
            self._looking = self._loop.create_task(self._look())

    def close(self) -> None:
        """End all waits with RuntimeClosed."""
        _on_loop.get(self._loop, WeakKeyDictionary()).pop(self, None)
        if self._looking is not None:
            self._looking.cancel()
        self.fail(RuntimeClosed("the runtime was closed during the wait"))

    def fail(self, error: DexnbError) -> None:
        """End all waits with what says that nothing can be learned any more."""
        for futures in (*self._waiting.values(), *self._watching.values()):
            for future in futures:
                if not future.done():
                    future.set_exception(error)

    def resolve(self, run_id: str, *, ended: bool, commit: Commit | None = None) -> None:
        """Let this engine's own waits for a run look again: at what a turn has left, if given."""
        waiting = self._waiting.get(run_id, ()) if ended else ()
        waits = [*waiting, *self._watching.get(run_id, ())]
        record = _record_of(commit) if commit is not None and waits else None
        for future in waits:
            if not future.done():
                future.set_result(record)

    async def _look(self) -> None:
        try:
            while self._again:
                self._again = False
                for run_id in list(self._waiting):
                    record = await self._provider.read_run(run_id=run_id)
                    if record is not None and record.status != "RUNNING":
                        self.resolve(run_id, ended=True)
        except ProviderError:
            # The store will not tell again of this change.
            self._loop.call_later(LOOK_AGAIN_SECONDS, self.look)
        finally:
            self._looking = None


def _record_of(commit: Commit) -> RunRecord | None:
    if not commit.events:
        return None
    version = commit.events[-1].seq
    return RunRecord(
        commit.run_id, commit.flow_id, commit.flow_type, commit.status, version, commit.state
    )


_Waits = dict[str, dict["asyncio.Future[RunRecord | None]", None]]
"""Who waits, by run id; each is told what the run has come to, or to look for itself.

Who came first is told first, here and below: so the same program on a virtual clock goes the same
way each time.
"""

_on_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakKeyDictionary[Endings, None]] = (
    WeakKeyDictionary()
)
