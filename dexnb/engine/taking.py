"""Taking work that the store hands over with the commit of the turn that has enqueued it."""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dexnb.providers import Handlers, Taker, WorkItem

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine


def taker_of(engine: Engine, handlers: Handlers) -> Taker:
    """Give what takes work for an engine whose dispatchers run; made in the engine's context."""
    # The commit lands in no context, and attempts begin in that of their engine.
    context = contextvars.copy_context()

    def take(items: Sequence[WorkItem]) -> None:
        context.run(_take, engine, items)

    def lock_timeout() -> float:
        # Asked for each time: it may be changed while the engine runs.
        return engine.options.worker_lock_timeout.total_seconds()

    return Taker(handlers, lock_timeout, lambda: engine.worker.free_slots, take)


def _take(engine: Engine, items: Sequence[WorkItem]) -> None:
    for item in items:
        engine.begin(item)
    engine.attempts.took(len(items))
    if engine.worker.free_slots <= 0:
        # The parked fetch has no slots any more; the next one begins when there are some.
        engine.attempts.renew()
        engine.provider.wake()
