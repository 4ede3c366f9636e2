"""The memory store's queue of messages: a mailbox for each run, fetched as one."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from dexnb.providers.items import NewMessage
from dexnb.providers.memory_lease import Lease, LeaseHeap, Tokens


@dataclass(slots=True, order=True)
class Letter:
    """A message in its mailbox; letters are ordered as they came."""

    number: int
    text: str = field(compare=False)
    attempts: int = field(default=0, compare=False)


@dataclass(slots=True)
class Mailbox:
    """What waits for one run.

    Args:
        run_id: The run.
        visible: May be fetched, oldest first; while the run is locked they wait for the next turn.
        delayed: Letters that are not due yet, by number.
        fetched: What the live lease covers.
        lease: The lock of the run, or None.
    """

    run_id: str
    visible: list[Letter] = field(default_factory=list)
    delayed: dict[int, Letter] = field(default_factory=dict)
    fetched: list[Letter] = field(default_factory=list)
    lease: Lease[Mailbox] | None = None

    def __len__(self) -> int:
        return len(self.visible) + len(self.delayed) + len(self.fetched)


class MessageQueue:
    """All mailboxes, and in which order they are due.

    The heaps hold entries of the past, too; each is dropped when it comes up. So nothing here
    costs more than the logarithm of how much waits.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.tokens: Tokens[Mailbox] = Tokens()
        self._mailboxes: dict[str, Mailbox] = {}
        self._ready: list[tuple[int, str]] = []
        self._delayed: list[tuple[float, int, str]] = []
        self._leases: LeaseHeap[Mailbox] = LeaseHeap()
        self._numbers = count(1)

    def __len__(self) -> int:
        return sum(map(len, self._mailboxes.values()))

    def put(self, message: NewMessage, now: float) -> None:
        """Send a message; its run need not exist."""
        mailbox = self._mailboxes.get(message.run_id)
        if mailbox is None:
            mailbox = self._mailboxes[message.run_id] = Mailbox(message.run_id)
        letter = Letter(next(self._numbers), message.text)
        if message.visible_at > now:
            self._delay(mailbox, letter, message.visible_at)
        else:
            self._show(mailbox, letter)

    def take(
        self, token: str, until: float, is_open: Callable[[str], bool]
    ) -> Lease[Mailbox] | None:
        """Lock the run with the oldest visible message; drop what runs that are not open have."""
        while (mailbox := self._first()) is not None:
            if is_open(mailbox.run_id):
                lease = Lease(token, mailbox, until)
                mailbox.lease = lease
                mailbox.fetched, mailbox.visible = mailbox.visible, []
                for letter in mailbox.fetched:
                    letter.attempts += 1
                self.tokens.add(lease)
                self._leases.add(lease)
                return lease
            mailbox.visible.clear()
            self._queue(mailbox)
        return None

    def is_quiet(self, run_id: str) -> bool:
        """Tell whether a run is not locked and nothing for it is visible."""
        mailbox = self._mailboxes.get(run_id)
        return mailbox is None or (mailbox.lease is None and not mailbox.visible)

    def ack(self, lease: Lease[Mailbox]) -> None:
        """Delete what was fetched and unlock the run."""
        self._unlock(lease)
        self._queue(lease.held)

    def abandon(
        self, lease: Lease[Mailbox], visible_at: float, now: float, *, ignore_attempt: bool
    ) -> None:
        """Unlock the run; what was fetched is visible from `visible_at`."""
        mailbox, letters = lease.held, lease.held.fetched
        self._unlock(lease)
        for letter in letters:
            letter.attempts = max(0, letter.attempts - ignore_attempt)
        if visible_at > now:
            for letter in letters:
                self._delay(mailbox, letter, visible_at)
            letters = []
        self._show_again(mailbox, letters)

    def renew(self, lease: Lease[Mailbox], until: float) -> None:
        """Hold the lock until then."""
        self._leases.renew(lease, until)

    def drop(self, run_id: str) -> None:
        """Delete everything that waits for a run that is not locked."""
        self._mailboxes.pop(run_id, None)

    def settle(self, now: float, lease_now: float) -> None:
        """Make visible what has become due, and free what nobody holds any more."""
        for lease in self._leases.expired(lease_now):
            mailbox, letters = lease.held, lease.held.fetched
            self._unlock(lease)
            self._show_again(mailbox, letters)
        while (due := self._next_delayed()) is not None and due <= now:
            _, number, run_id = heappop(self._delayed)
            mailbox = self._mailboxes[run_id]
            self._show(mailbox, mailbox.delayed.pop(number))

    def next_due(self, now: float, lease_now: float) -> float | None:
        """Tell when something that is not visible yet will be."""
        end = self._leases.next_end()
        times = [self._next_delayed(), None if end is None else now + end - lease_now]
        return min((time for time in times if time is not None), default=None)

    def _delay(self, mailbox: Mailbox, letter: Letter, visible_at: float) -> None:
        mailbox.delayed[letter.number] = letter
        heappush(self._delayed, (visible_at, letter.number, mailbox.run_id))

    def _show(self, mailbox: Mailbox, letter: Letter) -> None:
        insort(mailbox.visible, letter)
        if mailbox.lease is None and mailbox.visible[0] is letter:
            heappush(self._ready, (letter.number, mailbox.run_id))

    def _show_again(self, mailbox: Mailbox, letters: list[Letter]) -> None:
        mailbox.visible = sorted(letters + mailbox.visible)
        self._queue(mailbox)

    def _queue(self, mailbox: Mailbox) -> None:
        if mailbox.visible:
            heappush(self._ready, (mailbox.visible[0].number, mailbox.run_id))
        elif not mailbox.delayed:
            self._mailboxes.pop(mailbox.run_id, None)

    def _unlock(self, lease: Lease[Mailbox]) -> None:
        self.tokens.end(lease)
        lease.held.lease = None
        lease.held.fetched = []

    def _first(self) -> Mailbox | None:
        while self._ready:
            number, run_id = heappop(self._ready)
            mailbox = self._mailboxes.get(run_id)
            if mailbox is None or mailbox.lease is not None or not mailbox.visible:
                continue
            if mailbox.visible[0].number == number:
                return mailbox
        return None

    def _next_delayed(self) -> float | None:
        while self._delayed:
            visible_at, number, run_id = self._delayed[0]
            mailbox = self._mailboxes.get(run_id)
            if mailbox is not None and number in mailbox.delayed:
                return visible_at
            heappop(self._delayed)
        return None
