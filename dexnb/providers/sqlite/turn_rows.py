"""The rows that messages, work items and whole turns become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dexnb.errors import ProviderError
from dexnb.model.event import Event
from dexnb.model.json_text import to_text
from dexnb.providers.items import Commit, NewMessage, NewWorkItem, WorkItem
from dexnb.providers.parking import Queue
from dexnb.providers.sqlite.rows import micros, stamp, stored


@dataclass(slots=True)
class TurnRows:
    """A commit as rows, each list for one statement; those of the run itself lack its number.

    Args:
        run_id: The run.
        state: The new text of its RunState.
        status: Its status.
        closes: Whether the run has ended.
        first_seq: The number that the first event has, or None without events.
        events: Number and text of each event.
        work: Of `insert_work`.
        cancelled: Step execution ids.
        messages: Of `insert_messages`.
        items: What `work` was made of.
        lock_timeout: The lease, in seconds, under which all of `work` goes to this engine at once;
            None to let it be fetched.
        taken: What was locked for this engine, once the batch is committed.
    """

    run_id: str
    state: str
    status: str
    closes: bool
    first_seq: int | None
    events: list[tuple[int, str]]
    work: list[list[Any]]
    cancelled: list[str]
    messages: list[list[Any]]
    items: tuple[NewWorkItem, ...]
    lock_timeout: float | None = None
    taken: tuple[WorkItem, ...] = ()

    def hints(self) -> Sequence[Queue]:
        """Name the queues into which it puts something to be fetched."""
        found: list[Queue] = ["work"] if self.work and not self.taken else []
        return [*found, "messages"] if self.messages else found


def turn_rows(operation: str, commit: Commit) -> TurnRows:
    """Make the rows of a commit.

    Raises:
        ProviderError: Not retryable: the events are not numbered without a gap.
        DocumentError: An event is not plain JSON.
    """
    return TurnRows(
        run_id=stored(commit.run_id),
        state=stored(commit.state),
        status=stored(commit.status),
        closes=commit.closes,
        first_seq=_first_seq(operation, commit.events),
        events=[(event.seq, to_text(event.to_json())) for event in commit.events],
        work=[work_row(item) for item in commit.work_items],
        cancelled=[stored(name) for name in commit.cancelled],
        messages=[message_row(message) for message in commit.messages],
        items=commit.work_items,
    )


def run_row(commit: Commit) -> list[Any]:
    """Make the row of a new run."""
    return [
        stored(commit.run_id),
        stored(commit.flow_id),
        stored(commit.flow_type),
        stored(commit.status),
        len(commit.events),
        stored(commit.state),
    ]


def message_row(message: NewMessage) -> list[Any]:
    """Make the row of a message."""
    return [stored(message.run_id), micros(message.visible_at), stored(message.text)]


def work_row(item: NewWorkItem) -> list[Any]:
    """Make the row of a work item."""
    return [
        stored(item.run_id),
        stored(item.step_execution_id),
        stored(item.flow_type),
        stored(item.handler),
        micros(item.visible_at),
        item.attempt,
        stamp(item.first_attempt_at),
        None if item.checkpoint is None else stored(item.checkpoint),
        stored(item.payload),
    ]


def _first_seq(operation: str, events: Sequence[Event]) -> int | None:
    if not events:
        return None
    first = events[0].seq
    for place, event in enumerate(events):
        if event.seq != first + place:
            given = [event.seq for event in events[:20]]
            message = f"events are numbered {given}; number them one by one without a gap"
            raise ProviderError(operation, message, retryable=False)
    return first
