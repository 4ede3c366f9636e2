"""Handing over: work that a turn's own commit locks for this engine, which spares a fetch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from dexnb.providers.base import Taker
from dexnb.providers.items import WorkItem
from dexnb.providers.parking import FetchParking
from dexnb.providers.sqlite.operations import Operation


class Handing:
    """What an open store hands over to its engine. Used on the loop alone.

    Only while a fetch of work is parked, so that nothing older is overtaken, and while nobody else
    is at the file, who would have a share of the work.

    Args:
        parking: Where fetches wait.
        alone: Tells whether no other engine has the file open.
        give_back: Frees what was locked for a taker that has gone.
    """

    def __init__(
        self,
        parking: FetchParking,
        alone: Callable[[], bool],
        give_back: Callable[[Sequence[WorkItem]], None],
    ) -> None:
        """Start without a taker."""
        self.taker: Taker | None = None
        self._loop = asyncio.get_running_loop()
        self._reminder: asyncio.TimerHandle | None = None
        self._parking = parking
        self._alone = alone
        self._give_back = give_back
        self._promised = 0
        self._stood_back = False

    def room(self, limit: int) -> int:
        """Give how many items a fetch may lock beside those that are promised."""
        if self.taker is None:
            return limit
        room = min(limit, self.taker.room() - self._promised)
        self._stood_back = self._stood_back or room <= 0
        return room

    def promise(self, operation: Operation) -> None:
        """Let an operation that waits for its batch lock what its turn enqueues, if that may be."""
        turn, taker = operation.enqueues(), self.taker
        if turn is None or taker is None or not turn.items:
            return
        if not self._parking.idle("work") or not self._alone():
            return
        count, names = len(turn.items), taker.handlers.names
        if taker.room() - self._promised < count:
            return
        for item, row in zip(turn.items, turn.work, strict=True):
            if row[0] != turn.run_id or item.handler not in names or item.visible_at:
                return
        turn.lock_timeout = taker.lock_timeout()
        self._promised += count

    def landed(self, operations: Sequence[Operation]) -> None:
        """Hand over what a batch has locked, and let the rest of what was promised be fetched."""
        taken: list[WorkItem] = []
        for operation in operations:
            turn = operation.enqueues()
            if turn is None or turn.lock_timeout is None:
                continue
            items = operation.taken()
            taken += items
            if not items:
                # It stays in the queue, and a fetch may have stood back for it.
                self._promised -= len(turn.items)
                self._stood_back = True
        if taken:
            # Not at once: whoever waits for an answer goes first, and the batch is done with by
            # then whatever the taker does.
            self._loop.call_soon(self._hand_over, taken)
        self._call_fetch()

    def _hand_over(self, items: Sequence[WorkItem]) -> None:
        self._promised -= len(items)
        try:
            if self.taker is None:
                self._give_back(items)
            else:
                self._remind(self.taker.lock_timeout())
                self.taker.take(items)
        finally:
            self._call_fetch()

    def _call_fetch(self) -> None:
        """Let the fetch look again that has found no room, if there is some now."""
        if self._stood_back:
            self._stood_back = False
            self._parking.hint("work")

    def _remind(self, seconds: float) -> None:
        """Let the parked fetch look again when a lease that it does not know may have run out."""
        if self._reminder is None:
            self._reminder = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        self._reminder = None
        self._parking.hint("work")

    def close(self) -> None:
        """Remind nobody any more."""
        if self._reminder is not None:
            self._reminder.cancel()
