"""A log and what is sent of it: what the page must make of `packed.json`.

`python -m tests.widgets.packed` writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dexnb.model.event import Event
from dexnb.model.run_view import view_of
from dexnb.widgets.wire import bounded_page, documents
from tests.widgets.pages import event, page, started

FILE = Path(__file__).with_name("packed.json")
BEGIN = 1_767_225_600
ROUNDS = 400
"""Enough for the fold to merge the oldest marks."""

PER_BATCH = 90
OF_SIGNS = (
    *("rounds", "sleeps", "phase", "phase_since", "phase_line", "phase_what", "marks"),
    *("beats", "beat_count", "last_sign", "longest_silence", "checkpoint", "checkpoint_at"),
)
"""What signs change of an attempt."""


def log() -> list[Event]:
    """Give the log of two Steps whose signs come in turn, with other events between them."""
    found = [*started(), *started()[1:]]
    found[3] = replace(found[3], step_execution_id="Other-1", payload=_scheduled("Other"))
    found[4] = replace(found[4], step_execution_id="Other-1")
    found += _rounds()
    end = found[-1].time + 1
    decision: dict[str, Any] = {"kind": "graceful_complete", "movements": [], "output": None}
    found += [
        event(1, "attempt_ended", end, decision="graceful_complete", reason=""),
        event(3, "step_completed", end, decision=decision),
    ]
    return [replace(each, time=BEGIN + each.time, wall=BEGIN + each.time + 5) for each in found]


def _scheduled(step_type: str) -> dict[str, Any]:
    payload: dict[str, Any] = started()[1].payload
    return {**payload, "step_type": step_type}


def _rounds() -> Iterator[Event]:
    for number in range(ROUNDS):
        time = number / 64
        for step, count in (("Poll-1", 1), ("Other-1", number % 3)):
            for sign in range(count):
                at = time + sign / 500
                yield event(1, "round_call", at, step, line=7, what=f"call {number}")
                yield event(2, "heartbeat", at + 1 / 1000, step, checkpoint=f"{number}")
                yield event(3, "round_sleep", at + 1 / 1000, step, line=9, what="sleep")
        if number % 100 == 0:
            yield event(4, "stream_message", time + 1 / 125, stream="News", value=f"{number}")
            yield event(5, "log", time + 1 / 125, "Other-1", source="stdout", line="said")


def document() -> dict[str, Any]:
    """Give what is sent: batches of the log, and of the page at its end what signs make."""
    events = log()
    sent, _ = bounded_page(page(view_of(events)))
    return {
        "batches": [
            documents(events[start : start + PER_BATCH])
            for start in range(0, len(events), PER_BATCH)
        ],
        "attempts": {
            key: [{name: attempt[name] for name in OF_SIGNS} for attempt in step["attempts"]]
            for key, step in sent["view"]["steps"].items()
        },
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), separators=(",", ":")) + "\n", "utf-8")
