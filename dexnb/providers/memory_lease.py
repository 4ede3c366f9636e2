"""Locks of the memory store: who holds what until when, without ever looking at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from itertools import count
from typing import Generic, TypeVar

from dexnb.errors import LeaseLost

T = TypeVar("T")


@dataclass(slots=True)
class Lease(Generic[T]):
    """A lock on one thing; `ended` once it was given up, taken away or has run out."""

    token: str
    held: T
    until: float
    ended: bool = False


class LeaseHeap(Generic[T]):
    """Leases in the order in which they run out.

    Renewing touches no heap: an entry that comes up too early is put back where it belongs.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._heap: list[tuple[float, int, Lease[T]]] = []
        self._order = count()

    def add(self, lease: Lease[T]) -> None:
        """Watch a lease."""
        heappush(self._heap, (lease.until, next(self._order), lease))

    def renew(self, lease: Lease[T], until: float) -> None:
        """Move a lease's end."""
        earlier = until < lease.until
        lease.until = until
        if earlier:
            self.add(lease)

    def expired(self, now: float) -> Iterator[Lease[T]]:
        """Take out the leases that have run out, and mark them ended."""
        while (lease := self._first()) is not None and lease.until <= now:
            lease.ended = True
            yield lease

    def next_end(self) -> float | None:
        """Tell when the next lease runs out."""
        lease = self._first()
        return None if lease is None else lease.until

    def _first(self) -> Lease[T] | None:
        while self._heap:
            until, order, lease = self._heap[0]
            if lease.ended:
                heappop(self._heap)
            elif lease.until != until:
                heapreplace(self._heap, (lease.until, order, lease))
            else:
                return lease
        return None


class Tokens(Generic[T]):
    """The live leases of one queue by token."""

    def __init__(self) -> None:
        """Start without leases."""
        self._leases: dict[str, Lease[T]] = {}

    def __len__(self) -> int:
        return len(self._leases)

    def add(self, lease: Lease[T]) -> None:
        """Keep a lease."""
        self._leases[lease.token] = lease

    def find(self, token: str, now: float) -> Lease[T] | None:
        """Give the lease that a token stands for, unless it has run out."""
        lease = self._leases.get(token)
        return lease if lease is not None and lease.until > now else None

    def live(self, operation: str, token: str, now: float) -> Lease[T]:
        """Give the lease that a token stands for.

        Raises:
            LeaseLost: There is none, or it has run out; the error names the operation.
        """
        lease = self.find(token, now)
        if lease is None:
            raise LeaseLost(operation, token)
        return lease

    def end(self, lease: Lease[T]) -> None:
        """Forget a lease."""
        lease.ended = True
        self._leases.pop(lease.token, None)
