"""What messages, work items and whole turns become on their way into the store."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from dexnb.errors import ProviderError
from dexnb.model.json_text import to_text
from dexnb.providers.items import Commit, NewMessage, NewWorkItem
from dexnb.providers.postgres.encoding import data, micros, optional


@dataclass(frozen=True, slots=True)
class Letter:
    """A message to a run."""

    run_id: bytes
    due: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Work:
    """An attempt of a Step; `columns` are those of the table behind run, name and due time."""

    run_id: bytes
    step_execution_id: bytes
    flow_type: bytes
    handler: bytes
    due: int
    columns: tuple[int, float | None, bytes | None, bytes]


@dataclass(frozen=True, slots=True)
class Turn:
    """A commit, encoded. `first_seq` is the number of the first event, or None without events."""

    run_id: bytes
    flow_id: bytes
    flow_type: bytes
    state: bytes
    status: bytes
    closes: bool
    first_seq: int | None
    events: tuple[tuple[int, bytes], ...]
    work: tuple[Work, ...]
    cancelled: tuple[bytes, ...]
    letters: tuple[Letter, ...]

    def targets(self) -> Collection[bytes]:
        """Name the other runs that it sends something to."""
        found = {letter.run_id for letter in self.letters} | {item.run_id for item in self.work}
        return found - {self.run_id}


def letter(message: NewMessage) -> Letter:
    """Encode a message."""
    return Letter(data(message.run_id), micros(message.visible_at), data(message.text))


def work(item: NewWorkItem) -> Work:
    """Encode an attempt."""
    began = item.first_attempt_at
    return Work(
        run_id=data(item.run_id),
        step_execution_id=data(item.step_execution_id),
        flow_type=data(item.flow_type),
        handler=data(item.handler),
        due=micros(item.visible_at),
        columns=(
            int(item.attempt),
            None if began is None else float(began),
            optional(item.checkpoint),
            data(item.payload),
        ),
    )


def turn(operation: str, commit: Commit) -> Turn:
    """Encode a commit.

    Raises:
        ProviderError: Not retryable: the events are not numbered without a gap.
        DocumentError: An event is not plain JSON.
    """
    seqs = [event.seq for event in commit.events]
    _check_gaps(operation, seqs)
    return Turn(
        run_id=data(commit.run_id),
        flow_id=data(commit.flow_id),
        flow_type=data(commit.flow_type),
        state=data(commit.state),
        status=data(commit.status),
        closes=commit.closes,
        first_seq=seqs[0] if seqs else None,
        events=tuple((event.seq, data(to_text(event.to_json()))) for event in commit.events),
        work=tuple(map(work, commit.work_items)),
        cancelled=tuple(map(data, commit.cancelled)),
        letters=tuple(map(letter, commit.messages)),
    )


def _check_gaps(operation: str, seqs: Iterable[int]) -> None:
    given = list(seqs)
    if given and given != list(range(given[0], given[0] + len(given))):
        message = f"events are numbered {given[:20]}; number them one by one without a gap"
        raise ProviderError(operation, message, retryable=False)
