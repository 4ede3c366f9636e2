"""What an attempt spends its time on: calls and sleeps, bounded in number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dexnb.model.event import Event

MOST_MARKS = 600
"""Call and sleep marks kept per attempt; beyond it the oldest half is merged into buckets."""

MERGED = 10


def begin_phase(attempt: dict[str, Any], event: Event, phase: str) -> None:
    """Let a call or a sleep begin, where another one ends."""
    end_phase(attempt, event.time)
    attempt["phase"] = phase
    attempt["phase_since"] = event.time
    attempt["phase_line"] = event.payload["line"]
    attempt["phase_what"] = event.payload["what"]


def end_phase(attempt: dict[str, Any], time: float) -> None:
    """Keep the phase that goes on, if there is one, as a mark that ends now."""
    if attempt["phase"]:
        in_call = time - attempt["phase_since"] if attempt["phase"] == "call" else 0.0
        marks = attempt["marks"]
        marks.append([attempt["phase"], attempt["phase_since"], time, in_call])
        if len(marks) > MOST_MARKS:
            attempt["marks"] = _merge(marks[: MOST_MARKS // 2]) + marks[MOST_MARKS // 2 :]


def _merge(marks: list[list[Any]]) -> list[list[Any]]:
    return [
        ["many", part[0][1], part[-1][2], _plain_sum(mark[3] for mark in part)]
        for part in (marks[start : start + MERGED] for start in range(0, len(marks), MERGED))
    ]


def _plain_sum(values: Iterable[float]) -> float:
    # Not sum(), which from Python 3.12 on compensates rounding as the page's fold does not.
    total = 0.0
    for value in values:
        total += value
    return total
