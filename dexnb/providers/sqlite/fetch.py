"""How a batch fetches: one look at each queue for all callers, one statement to lock what is found.

A lock that has run out is freed when a fetch meets it, so that the indexes hold free rows alone and
leased ones cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from dexnb.providers.items import NewWorkItem, OrchestrationItem, QueuedMessage, WorkItem
from dexnb.providers.sqlite.batch import Batch
from dexnb.providers.sqlite.operations import Fetch, FetchTurns, FetchWork
from dexnb.providers.sqlite.rows import (
    answer,
    micros,
    parameter,
    restored,
    seconds,
    stamp,
    stored,
)

MICRO = 1_000_000


class Tokens:
    """Lock tokens that are never made twice: row, owner, and a count of this owner's locks."""

    def __init__(self, owner: int) -> None:
        """Start counting for an owner."""
        self.owner = owner
        self._made = 0

    def new(self, kind: str, number: int) -> str:
        """Make a token for a row."""
        self._made += 1
        return f"{kind}{number}.{self.owner}.{self._made}"


def fetch_turns(batch: Batch, tokens: Tokens) -> None:
    """Lock runs for all callers, the one with the oldest message first."""
    fetches = batch.of(FetchTurns)
    if not fetches:
        return
    now = micros(batch.now)
    rows = iter(_ready_turns(batch, now, sum(fetch.limit for fetch in fetches)))
    locks, messages, due = [], [], None
    for fetch in fetches:
        end = batch.lease + micros(fetch.lock_timeout)
        items = []
        for row in islice(rows, fetch.limit):
            ids = sorted(number for number, *_ in row[6])
            token = tokens.new("r", row[0])
            locks.append([row[0], token, end, parameter(ids)])
            messages += ids
            items.append(_turn(token, row))
        if not items and due is None:
            due = _due(batch, *batch.read("next_turn", now=now))
        fetch.result = (tuple(items), None if items else due)
    batch.write_rows("hold_messages", messages)
    batch.write_rows("lock_runs", locks, owner=tokens.owner)


def _ready_turns(batch: Batch, now: int, limit: int) -> list[Any]:
    text, expired = batch.read("ready_turns", now=now, lease=batch.lease, limit=limit)
    if expired:
        batch.write("free_expired_messages", lease=batch.lease)
        batch.write("free_expired_runs", lease=batch.lease)
        text, _ = batch.read("ready_turns", now=now, lease=batch.lease, limit=limit)
    rows: list[Any] = answer(text)
    return rows


def _turn(token: str, row: list[Any]) -> OrchestrationItem:
    _, run_id, flow_id, flow_type, state, version, messages = row
    return OrchestrationItem(
        token=token,
        run_id=restored(run_id),
        flow_id=restored(flow_id),
        flow_type=restored(flow_type),
        state=restored(state),
        version=version,
        messages=tuple(
            QueuedMessage(restored(text), attempts + 1) for _, text, attempts in sorted(messages)
        ),
    )


def fetch_work(batch: Batch, tokens: Tokens) -> None:
    """Lock work items for all callers, those with the same handlers together."""
    groups: dict[frozenset[str], list[FetchWork]] = {}
    for fetch in batch.of(FetchWork):
        groups.setdefault(fetch.handlers, []).append(fetch)
    for handlers, fetches in groups.items():
        _fetch_group(batch, tokens, parameter(stored(name) for name in sorted(handlers)), fetches)


def _fetch_group(batch: Batch, tokens: Tokens, handlers: str, fetches: Sequence[FetchWork]) -> None:
    now = micros(batch.now)
    limit = sum(fetch.limit for fetch in fetches)
    rows = iter(_ready_work(batch, now, handlers, limit))
    locks: list[list[Any]] = []
    due = None
    for fetch in fetches:
        items = tuple(_locked(batch, tokens, fetch, rows, locks))
        if not items and due is None:
            due = _due(batch, *batch.read("next_work", handlers=handlers))
        fetch.result = (items, None if items else due)
    batch.write_rows("lock_work", locks, owner=tokens.owner)


def _ready_work(batch: Batch, now: int, handlers: str, limit: int) -> list[Any]:
    given = {"now": now, "lease": batch.lease, "handlers": handlers, "limit": limit}
    text, expired = batch.read("ready_work", **given)
    if expired:
        batch.write("free_expired_work", lease=batch.lease)
        text, _ = batch.read("ready_work", **given)
    rows: list[Any] = answer(text)
    return rows


def _locked(
    batch: Batch, tokens: Tokens, fetch: Fetch, rows: Iterator[Any], locks: list[list[Any]]
) -> Iterator[WorkItem]:
    end = batch.lease + micros(fetch.lock_timeout)
    for row in islice(rows, fetch.limit):
        token = tokens.new("w", row[0])
        item = _work_item(token, row, batch.now)
        locks.append([row[0], token, end, stamp(item.item.first_attempt_at)])
        yield item


def _work_item(token: str, row: list[Any], now: float) -> WorkItem:
    _, run_id, flow_id, flow_type, handler, execution, payload, attempt, deliveries, *rest = row
    checkpoint, first_attempt_at = rest
    flow_type = restored(flow_type)
    item = NewWorkItem(
        run_id=restored(run_id),
        flow_id=restored(flow_id),
        flow_type=flow_type,
        step_type=restored(handler)[len(flow_type) + 1 :],
        step_execution_id=restored(execution),
        payload=restored(payload),
        attempt=attempt + deliveries,
        checkpoint=None if checkpoint is None else restored(checkpoint),
        first_attempt_at=now if first_attempt_at is None else float(first_attempt_at),
    )
    return WorkItem(token, item, deliveries + 1)


def _due(batch: Batch, available_at: int | None, lock_end: int | None) -> float | None:
    """Give when something more may be ready, in store time for what is due."""
    times = [] if available_at is None else [seconds(available_at)]
    if lock_end is not None:
        times.append(batch.now + seconds(lock_end - batch.lease))
    return min(times, default=None)
