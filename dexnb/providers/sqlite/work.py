"""What a batch writes for work items: new ones, results, hand-backs, renewals and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dexnb.providers.items import NewWorkItem, WorkItem
from dexnb.providers.sqlite.batch import Batch
from dexnb.providers.sqlite.fetch import Tokens
from dexnb.providers.sqlite.operations import (
    AbandonWork,
    AckWork,
    AckWorkWithTurn,
    RecordBeats,
    RenewWork,
)
from dexnb.providers.sqlite.rows import micros, number_of, stamp
from dexnb.providers.sqlite.turn_rows import TurnRows


def write_work(batch: Batch, tokens: Tokens) -> None:
    """Delete what is done, enqueue what is new, then delete what was cancelled."""
    acks = batch.of(AckWork)
    done = [*acks, *batch.of(AckWorkWithTurn)]
    batch.write_rows("delete_work", [number_of(ack.token) for ack in done])
    turns = batch.turns
    given = {"owner": tokens.owner, "now": micros(batch.now)}
    # First, because their numbers go on from the newest item's.
    batch.write_rows("insert_taken_work", _take(batch, tokens), **given)
    rows = [row for _, turn in turns if turn.lock_timeout is None for row in turn.work]
    rows += [ack.retry for ack in acks if ack.retry is not None]
    batch.write_rows("insert_work", rows, now=micros(batch.now))
    cancelled = [(number, name) for number, turn in turns for name in turn.cancelled]
    batch.write_rows("cancel_work", cancelled)


def _take(batch: Batch, tokens: Tokens) -> list[list[Any]]:
    """Lock for this engine what its turns enqueue, where that was asked for; give the rows."""
    rows: list[list[Any]] = []
    for run, turn in batch.turns:
        if turn.lock_timeout is not None:
            end = batch.lease + micros(turn.lock_timeout)
            turn.taken = tuple(_taken(batch, tokens, turn, len(rows)))
            for work, (_, key, flow_type, handler, _, attempt, _, *rest) in zip(
                turn.taken, turn.work, strict=True
            ):
                first = stamp(work.item.first_attempt_at)
                given = (key, flow_type, handler, attempt, first, *rest)
                rows.append([number_of(work.token), run, *given, work.token, end])
    return rows


def _taken(batch: Batch, tokens: Tokens, turn: TurnRows, before: int) -> Iterator[WorkItem]:
    first = batch.admitted.newest_work + before + 1
    for number, item in enumerate(turn.items, first):
        yield WorkItem(tokens.new("w", number), _delivered(item, batch.now), 1)


def _delivered(item: NewWorkItem, now: float) -> NewWorkItem:
    if item.first_attempt_at is not None:
        return item
    # Not `replace`, which takes twice the time, and this comes with every Step.
    return NewWorkItem(
        item.run_id,
        item.flow_id,
        item.flow_type,
        item.step_type,
        item.step_execution_id,
        item.payload,
        item.attempt,
        item.checkpoint,
        now,
        item.visible_at,
    )


def write_work_locks(batch: Batch) -> None:
    """Give items back, extend their locks, and keep checkpoints."""
    batch.write_rows("return_work", [_returned(batch, item) for item in batch.of(AbandonWork)])
    _renew(batch)
    _beat(batch)


def _returned(batch: Batch, item: AbandonWork) -> list[int]:
    due = micros(batch.now + item.delay) if item.delay > 0 else 0
    return [number_of(item.token), due, int(item.take_back)]


def _renew(batch: Batch) -> None:
    rows = []
    for renewal in batch.of(RenewWork):
        end = batch.lease + micros(renewal.extend_for)
        live = [token for token in renewal.tokens if token in batch.admitted.work]
        renewal.result = frozenset(renewal.tokens).difference(live)
        rows += [[number_of(token), end] for token in live]
    batch.write_rows("renew_work", rows)


def _beat(batch: Batch) -> None:
    rows = []
    for beats in batch.of(RecordBeats):
        live = [token for token in beats.checkpoints if token in batch.admitted.work]
        beats.result = frozenset(beats.checkpoints).difference(live)
        rows += [[number_of(token), beats.checkpoints[token]] for token in live]
    batch.write_rows("record_beats", rows)
