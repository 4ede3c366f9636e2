"""The memory store's queue of work items: one lane for each Step, oldest first over all lanes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count

from dexnb.providers.items import NewWorkItem, WorkItem
from dexnb.providers.memory_lease import Lease, LeaseHeap, Tokens


@dataclass(slots=True)
class Entry:
    """A work item in its lane; `gone` once it was acknowledged or cancelled."""

    number: int
    item: NewWorkItem
    deliveries: int = 0
    lease: Lease[Entry] | None = None
    gone: bool = False

    def record(self, checkpoint: str | None) -> None:
        """Replace the checkpoint."""
        self.item = replace(self.item, checkpoint=checkpoint)


@dataclass(slots=True)
class Lane:
    """The work items that one Step's code runs; gone ones drop out as they come up."""

    ready: list[tuple[int, Entry]] = field(default_factory=list)
    delayed: list[tuple[float, int, Entry]] = field(default_factory=list)
    leases: LeaseHeap[Entry] = field(default_factory=LeaseHeap)

    def place(self, entry: Entry, visible_at: float, now: float) -> None:
        """Put a free entry where it belongs."""
        if visible_at > now:
            heappush(self.delayed, (visible_at, entry.number, entry))
        else:
            heappush(self.ready, (entry.number, entry))

    def show_due(self, now: float) -> None:
        """Make visible what is due."""
        while (due := self.next_delayed()) is not None and due <= now:
            _, number, entry = heappop(self.delayed)
            heappush(self.ready, (number, entry))

    def first(self) -> int | None:
        """Give the number of the oldest entry that can be fetched."""
        while self.ready and self.ready[0][1].gone:
            heappop(self.ready)
        return self.ready[0][0] if self.ready else None

    def next_delayed(self) -> float | None:
        """Tell when the next delayed entry is due."""
        while self.delayed and self.delayed[0][2].gone:
            heappop(self.delayed)
        return self.delayed[0][0] if self.delayed else None


class WorkQueue:
    """All lanes, and the work items by run and by token."""

    def __init__(self) -> None:
        """Start empty."""
        self.tokens: Tokens[Entry] = Tokens()
        self._lanes: dict[str, Lane] = {}
        self._runs: dict[str, dict[str, Entry]] = {}
        self._numbers = count(1)

    def __len__(self) -> int:
        return sum(map(len, self._runs.values()))

    def holds(self, item: NewWorkItem, beside: Entry | None = None) -> bool:
        """Tell whether that Step execution has a work item already, not counting one of them."""
        entry = self._runs.get(item.run_id, {}).get(item.step_execution_id)
        return entry is not None and entry is not beside

    def put(self, item: NewWorkItem, now: float) -> None:
        """Enqueue one attempt."""
        entry = Entry(next(self._numbers), item)
        self._runs.setdefault(item.run_id, {})[item.step_execution_id] = entry
        lane = self._lanes.get(item.handler)
        if lane is None:
            lane = self._lanes[item.handler] = Lane()
        lane.place(entry, item.visible_at, now)

    def take(
        self, handlers: Iterable[str], token: str, until: float, now: float
    ) -> WorkItem | None:
        """Lock the oldest free and visible entry of these lanes."""
        firsts = ((lane.first(), lane) for lane in self._of(handlers))
        found = [(number, lane) for number, lane in firsts if number is not None]
        if not found:
            return None
        _, lane = min(found, key=lambda pair: pair[0])
        _, entry = heappop(lane.ready)
        lease = entry.lease = Lease(token, entry, until)
        self.tokens.add(lease)
        lane.leases.add(lease)
        return _deliver(entry, token, now)

    def remove(self, entry: Entry) -> None:
        """Delete an entry, locked or not."""
        entry.gone = True
        if entry.lease is not None:
            self.tokens.end(entry.lease)
        entries = self._runs[entry.item.run_id]
        del entries[entry.item.step_execution_id]
        if not entries:
            del self._runs[entry.item.run_id]

    def cancel(self, run_id: str, step_execution_id: str) -> None:
        """Delete the entry of a Step execution, if there is one."""
        entry = self._runs.get(run_id, {}).get(step_execution_id)
        if entry is not None:
            self.remove(entry)

    def drop(self, run_id: str) -> None:
        """Delete all entries of a run."""
        for entry in list(self._runs.get(run_id, {}).values()):
            self.remove(entry)

    def abandon(
        self, lease: Lease[Entry], visible_at: float, now: float, *, ignore_attempt: bool
    ) -> None:
        """Free an entry, visible from `visible_at`."""
        self.tokens.end(lease)
        entry = lease.held
        entry.lease = None
        entry.deliveries = max(0, entry.deliveries - ignore_attempt)
        self._lanes[entry.item.handler].place(entry, visible_at, now)

    def renew(self, lease: Lease[Entry], until: float) -> None:
        """Hold the lock until then."""
        self._lanes[lease.held.item.handler].leases.renew(lease, until)

    def settle(self, handlers: Iterable[str] | None, now: float, lease_now: float) -> None:
        """Make visible what has become due in these lanes, and free what nobody holds any more."""
        for lane in self._of(handlers):
            for lease in lane.leases.expired(lease_now):
                self.abandon(lease, 0.0, now, ignore_attempt=False)
            lane.show_due(now)

    def next_due(self, handlers: Iterable[str], now: float, lease_now: float) -> float | None:
        """Tell when something in these lanes that cannot be fetched yet will be."""
        times: list[float] = []
        for lane in self._of(handlers):
            if (due := lane.next_delayed()) is not None:
                times.append(due)
            if (end := lane.leases.next_end()) is not None:
                times.append(now + end - lease_now)
        return min(times, default=None)

    def _of(self, handlers: Iterable[str] | None) -> Iterator[Lane]:
        if handlers is None:
            yield from self._lanes.values()
            return
        for handler in handlers:
            if (lane := self._lanes.get(handler)) is not None:
                yield lane


def _deliver(entry: Entry, token: str, now: float) -> WorkItem:
    entry.deliveries += 1
    if entry.item.first_attempt_at is None:
        entry.item = replace(entry.item, first_attempt_at=now)
    attempt = entry.item.attempt + entry.deliveries - 1
    return WorkItem(token, replace(entry.item, attempt=attempt), entry.deliveries)
