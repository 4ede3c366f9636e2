"""How a batch fetches: callers that want the same are served by one claim.

A claim skips rows that another engine has locked at this moment. Whether it keeps them is not known
yet, so the claimant is told to look again soon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from dexnb.providers.items import NewWorkItem, OrchestrationItem, QueuedMessage, WorkItem
from dexnb.providers.postgres.batch import Batch
from dexnb.providers.postgres.encoding import MICRO, micros, text
from dexnb.providers.postgres.link import Row, Step
from dexnb.providers.postgres.operations import Fetch, FetchTurns, FetchWork

# As many statements serve a group of work fetches: free, claim, next.
_OF_WORK = 3
_OF_TURNS = 2


class Fetching:
    """The fetches of a batch, grouped by what they ask for."""

    def __init__(self, batch: Batch) -> None:
        """Look who asks."""
        self._batch = batch
        self._turns: dict[float, list[Fetch]] = {}
        self._work: dict[tuple[float, tuple[bytes, ...]], list[Fetch]] = {}
        for turns in batch.of(FetchTurns):
            self._turns.setdefault(turns.lock_timeout, []).append(turns)
        for work in batch.of(FetchWork):
            self._work.setdefault((work.lock_timeout, work.handlers), []).append(work)
        self._claimed: list[tuple[list[Fetch], list[Row], int | None]] = []
        self.claims = 0
        """How many rows are locked now."""

    def claim(self) -> list[Step]:
        """Give the statements that lock what is ready."""
        now = self._batch.micros
        asked: list[Step] = []
        for lock_timeout, fetches in self._turns.items():
            asked.append(("claim_runs", self._terms(lock_timeout, fetches)))
            asked.append(("next_run", {"now": now}))
        for (lock_timeout, handlers), fetches in self._work.items():
            terms = {"handlers": list(handlers), "began": self._batch.now}
            asked.append(("free_expired_work", {"now": now}))
            asked.append(("claim_work", {**self._terms(lock_timeout, fetches), **terms}))
            asked.append(("next_work", {"handlers": list(handlers)}))
        return asked

    def _terms(self, lock_timeout: float, fetches: Sequence[Fetch]) -> dict[str, Any]:
        return {
            "now": self._batch.micros,
            "end": self._batch.micros + micros(lock_timeout),
            "limit": sum(max(fetch.limit, 0) for fetch in fetches),
            "suffix": self._batch.suffix,
        }

    def hear(self, answers: Sequence[list[Row]]) -> list[Step]:
        """Take what was locked; give the statement that reads the messages of locked runs."""
        split = len(self._turns) * _OF_TURNS
        of_turns, of_work = answers[:split], answers[split:]
        for place, fetches in enumerate(self._turns.values()):
            claimed, ((due,),) = of_turns[_OF_TURNS * place :][:_OF_TURNS]
            self._claimed.append((fetches, sorted(claimed), due))
        for place, fetches in enumerate(self._work.values()):
            _, claimed, ((due,),) = of_work[_OF_WORK * place :][:_OF_WORK]
            # Sorted by when they were due, then by age; nothing behind these two is compared.
            self._serve(fetches, map(_work_item, sorted(claimed, key=lambda row: row[:2])), due)
            self.claims += len(claimed)
        runs = [row[2] for _, rows, _ in self._claimed for row in rows]
        self.claims += len(runs)
        if not runs:
            self.hear_messages([])
            return []
        return [("take_messages", {"runs": runs, "now": self._batch.micros})]

    def hear_messages(self, rows: Sequence[Row]) -> list[Step]:
        """Take the messages; give the statement that frees runs which have none any more."""
        found = {row[0]: row for row in rows}
        empty: list[int] = []
        for fetches, claimed, due in self._claimed:
            items = [_turn(token, found[no]) for _, _, no, token in claimed if no in found]
            empty += [no for _, _, no, _ in claimed if no not in found]
            self._serve(fetches, iter(items), due)
        return [("free_runs", {"c0": empty})] if empty else []

    def _serve(self, fetches: Sequence[Fetch], items: Iterator[Any], due: int | None) -> None:
        for fetch in fetches:
            taken = tuple(islice(items, max(fetch.limit, 0)))
            when = None if taken or due is None else due / MICRO
            fetch.result = (taken, when)


def _turn(token: str, row: Row) -> OrchestrationItem:
    _, run_id, flow_id, flow_type, state, version, texts, counts = row
    return OrchestrationItem(
        token=token,
        run_id=text(run_id),
        flow_id=text(flow_id),
        flow_type=text(flow_type),
        state=text(state),
        version=version,
        messages=tuple(
            QueuedMessage(text(message), count)
            for message, count in zip(texts, counts, strict=True)
        ),
    )


def _work_item(row: Row) -> WorkItem:
    _, _, token, run_id, flow_id, flow_type, handler, execution, payload, *rest = row
    attempt, deliveries, checkpoint, first_attempt_at = rest
    item = NewWorkItem(
        run_id=text(run_id),
        flow_id=text(flow_id),
        flow_type=text(flow_type),
        step_type=text(handler[len(flow_type) + 1 :]),
        step_execution_id=text(execution),
        payload=text(payload),
        attempt=attempt + deliveries - 1,
        checkpoint=None if checkpoint is None else text(checkpoint),
        first_attempt_at=first_attempt_at,
    )
    return WorkItem(token, item, deliveries)
