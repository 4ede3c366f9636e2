"""What a batch writes for runs and work items, statement by statement, once it is admitted."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dexnb.errors import ProviderError
from dexnb.providers.postgres.batch import Batch
from dexnb.providers.postgres.encoding import columns, micros, text
from dexnb.providers.postgres.link import Step
from dexnb.providers.postgres.operations import (
    AbandonTurn,
    AbandonWork,
    AckTurn,
    AckWork,
    AckWorkWithTurn,
    RecordBeats,
    RenewTurn,
    RenewWork,
    SendMessage,
)
from dexnb.providers.postgres.turn import Letter, Turn, Work

_logger = logging.getLogger(__name__)
Rows = list[Sequence[Any]]


def writes(batch: Batch) -> list[Step]:
    """Give the statements of all that changes runs, queues and locks, in their order."""
    work = _new_work(batch)
    parts: list[tuple[str, Rows]] = [
        ("insert_runs", [_run_row(number, turn) for number, turn in batch.new_runs]),
        ("insert_run_locks", [(number,) for number, _ in batch.new_runs]),
        ("update_runs", [_next_row(*turn) for turn in batch.next_turns]),
        ("insert_events", [(no, *event) for no, turn in batch.turns for event in turn.events]),
        ("delete_work", [(batch.work[ack.token],) for ack in _ended(batch)]),
        ("insert_work", work),
        ("cancel_work", [(no, name) for no, turn in batch.turns for name in turn.cancelled]),
        ("delete_fetched_messages", [(batch.held[ack.token].number,) for ack in batch.of(AckTurn)]),
        ("insert_messages", _new_messages(batch)),
        *_run_locks(batch),
        *_work_locks(batch),
    ]
    closed: Rows = [(number,) for number, turn in batch.turns if turn.closes]
    parts += [(name, closed) for name in ("empty_messages", "empty_work", "delete_run_locks")]
    return steps(parts)


def steps(parts: Iterable[tuple[str, Rows]]) -> list[Step]:
    """Make set statements of rows, leaving out those without any."""
    return [(name, columns(rows)) for name, rows in parts if rows]


def _run_row(number: int, turn: Turn) -> Sequence[Any]:
    kept = (turn.run_id, turn.flow_id, turn.flow_type, turn.status, len(turn.events), turn.state)
    return (number, *kept, not turn.closes)


def _next_row(number: int, version: int, turn: Turn) -> Sequence[Any]:
    return (number, version + len(turn.events), turn.state, turn.status, not turn.closes)


def _new_work(batch: Batch) -> Rows:
    rows: Rows = []
    for _, turn in batch.turns:
        rows += [_work_row(batch, item, batch.open_runs[item.run_id]) for item in turn.work]
    for ack in batch.of(AckWork):
        if ack.retry is None:
            continue
        number = batch.open_runs.get(ack.retry.run_id)
        if number is None:
            message = (
                f"run {text(ack.retry.run_id)} is not open; a work item belongs to one that is"
            )
            ack.failure = ProviderError(ack.name, message, retryable=False)
        else:
            rows.append(_work_row(batch, ack.retry, number))
    return rows


def _work_row(batch: Batch, item: Work, number: int) -> Sequence[Any]:
    due = max(item.due, batch.micros)
    batch.tell("work", due)
    return (number, item.step_execution_id, item.flow_type, item.handler, due, *item.columns)


def _ended(batch: Batch) -> list[AckWork | AckWorkWithTurn]:
    return [*batch.of(AckWork), *batch.of(AckWorkWithTurn)]


def _letters(batch: Batch) -> Iterator[Letter]:
    for _, turn in batch.turns:
        yield from turn.letters
    yield from (ack.message for ack in batch.of(AckWork) if ack.message is not None)
    yield from (end.message for end in batch.of(AckWorkWithTurn) if not end.result)
    yield from (send.message for send in batch.of(SendMessage))


def _new_messages(batch: Batch) -> Rows:
    rows: Rows = []
    dropped = 0
    for letter in _letters(batch):
        number = batch.open_runs.get(letter.run_id)
        if number is None:
            dropped += 1
            continue
        due = max(letter.due, batch.micros)
        batch.tell("messages", due)
        rows.append((number, due, letter.text))
    if dropped:
        _logger.info("%d messages to runs that are not open were dropped", dropped)
    return rows


def _run_locks(batch: Batch) -> list[tuple[str, Rows]]:
    returned: Rows = []
    # A lock that has run out, too, so that its holder cannot go on from the version before.
    freed = [number for number, _, _ in batch.next_turns]
    for item in batch.of(AbandonTurn):
        due = batch.micros + micros(item.delay)
        number = batch.held[item.token].number
        returned.append((number, due if item.delay > 0 else 0, int(item.take_back)))
        freed.append(number)
        batch.tell("messages", due)
    renewed: Rows = [
        (batch.held[item.token].number, batch.micros + micros(item.extend_for))
        for item in batch.of(RenewTurn)
    ]
    return [
        ("return_messages", returned),
        ("free_runs", [(number,) for number in freed]),
        ("renew_runs", renewed),
    ]


def _work_locks(batch: Batch) -> list[tuple[str, Rows]]:
    returned: Rows = []
    for item in batch.of(AbandonWork):
        due = batch.micros + micros(item.delay)
        kept = due if item.delay > 0 else 0
        returned.append((batch.work[item.token], kept, int(item.take_back)))
        batch.tell("work", due)
    renewed: Rows = []
    for renewal in batch.of(RenewWork):
        end = batch.micros + micros(renewal.extend_for)
        live = [token for token in renewal.tokens if token in batch.work]
        renewal.result = frozenset(renewal.tokens).difference(live)
        renewed += [(batch.work[token], end) for token in dict.fromkeys(live)]
    beaten: Rows = []
    for beats in batch.of(RecordBeats):
        live = [token for token in beats.checkpoints if token in batch.work]
        beats.result = frozenset(beats.checkpoints).difference(live)
        beaten += [(batch.work[token], beats.checkpoints[token]) for token in live]
    return [("return_work", returned), ("renew_work", renewed), ("record_beats", beaten)]
