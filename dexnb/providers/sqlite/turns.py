"""What a batch writes for runs: new ones, turns, messages, and locks that end or go on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from dexnb.errors import ProviderError
from dexnb.providers.items import Started
from dexnb.providers.sqlite.batch import Batch
from dexnb.providers.sqlite.operations import (
    AbandonTurn,
    AckTurn,
    AckWork,
    AckWorkWithTurn,
    RenewTurn,
    SendMessage,
    StartRun,
)
from dexnb.providers.sqlite.rows import micros, number_of, restored
from dexnb.providers.sqlite.turn_rows import TurnRows

_logger = logging.getLogger(__name__)


def check_turns(batch: Batch) -> None:
    """Fail the turns that do not fit their run, and answer the starts that find one open.

    What is left is in `batch.new_runs` and `batch.turns`.
    """
    for start in batch.of(StartRun):
        open_run = batch.admitted.open_flows.get(start.flow_id)
        if open_run is not None:
            start.result = Started(restored(open_run), created=False)
            continue
        start.result = Started(restored(start.turn.run_id), created=True)
        start.failure = _misfit(start.name, start.turn, 0)
    for ack in batch.of(AckTurn):
        run_id, version = batch.admitted.turns[ack.token]
        if run_id != ack.turn.run_id:
            message = f"lock token {ack.token} is for run {run_id}, not for {ack.turn.run_id}"
            ack.failure = ProviderError(ack.name, message, retryable=False)
        else:
            ack.failure = _misfit(ack.name, ack.turn, version)
    created = (start for start in batch.of(StartRun) if start.result.created)
    batch.new_runs = list(enumerate(created, batch.admitted.newest_run + 1))
    batch.next_turns = [
        (number_of(ack.token), batch.admitted.turns[ack.token][1], ack.turn)
        for ack in batch.of(AckTurn)
    ]
    batch.next_turns += _fitting(batch)
    batch.turns = [(number, start.turn) for number, start in batch.new_runs]
    batch.turns += [(number, turn) for number, _, turn in batch.next_turns]


def _fitting(batch: Batch) -> Iterator[tuple[int, int, TurnRows]]:
    """Give the turns that ended attempts bring along and that their runs can take as they are."""
    for ack in batch.of(AckWorkWithTurn):
        run = batch.admitted.quiet_runs.get(ack.token)
        ack.result = run is not None and run[1:] == (
            ack.turn.run_id,
            (ack.turn.first_seq or 0) - 1,
        )
        if run is not None and ack.result:
            yield run[0], run[2], ack.turn


def _misfit(operation: str, turn: TurnRows, version: int) -> ProviderError | None:
    if turn.first_seq is None or turn.first_seq == version + 1:
        return None
    message = (
        f"run {turn.run_id} has {version} events, so the next is number {version + 1}, "
        f"not {turn.first_seq}"
    )
    return ProviderError(operation, message, retryable=False)


def write_runs(batch: Batch) -> None:
    """Add new runs, and set state, version and status of the ones that went on."""
    batch.write_rows("insert_runs", [[number, *start.row] for number, start in batch.new_runs])
    batch.write_rows("update_runs", [_new_state(*turn) for turn in batch.next_turns])
    closed = [[number, turn.status] for number, _, turn in batch.next_turns if turn.closes]
    batch.write_rows("close_runs", closed)
    events = [(number, *event) for number, turn in batch.turns for event in turn.events]
    batch.write_rows("insert_events", events)


def _new_state(number: int, version: int, turn: TurnRows) -> list[Any]:
    return [number, version + len(turn.events), turn.state]


def write_messages(batch: Batch) -> None:
    """Delete what turns have read, and send what they, attempts and clients have to say."""
    acked = [number_of(ack.token) for ack in batch.of(AckTurn)]
    batch.write_rows("delete_fetched_messages", acked)
    rows = [row for _, turn in batch.turns for row in turn.messages]
    rows += [ack.message for ack in batch.of(AckWork) if ack.message is not None]
    rows += [ack.message for ack in batch.of(AckWorkWithTurn) if not ack.result]
    rows += [send.row for send in batch.of(SendMessage)]
    sent = batch.write_rows("insert_messages", rows, now=micros(batch.now))
    if sent < len(rows):
        _logger.info("%d messages to runs that are not open were dropped", len(rows) - sent)


def write_run_locks(batch: Batch) -> None:
    """End the locks of turns that were applied or given back, and extend others."""
    abandoned = batch.of(AbandonTurn)
    batch.write_rows("return_messages", [_returned(batch, turn) for turn in abandoned])
    ended = [number_of(turn.token) for turn in (*batch.of(AckTurn), *abandoned)]
    batch.write_rows("delete_run_locks", ended)
    renewed = [
        [number_of(turn.token), batch.lease + micros(turn.extend_for)]
        for turn in batch.of(RenewTurn)
    ]
    batch.write_rows("renew_run_locks", renewed)


def _returned(batch: Batch, turn: AbandonTurn) -> list[int]:
    due = micros(batch.now + turn.delay) if turn.delay > 0 else 0
    return [number_of(turn.token), due, int(turn.take_back)]


def empty_closed_runs(batch: Batch) -> None:
    """Delete what still waits for runs that have ended."""
    closed = [number for number, turn in batch.turns if turn.closes]
    batch.write_rows("empty_messages_of_closed", closed)
    batch.write_rows("empty_work_of_closed", closed)
