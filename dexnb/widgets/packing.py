"""What many small signs of one attempt become on the wire; unpacked by `widgets/src/packing.ts`.

A Step may say a hundred times a second that it lives. Of the signs of one attempt that follow each
other a page needs every time, and of what they carry only the newest: a batch tells them in one
document, and the fold of it equals the fold of the events. Times are written as microseconds after
the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import sub
from typing import Any

from dexnb.model.event import Event

Document = dict[str, Any]

SIGNS = {"heartbeat": "h", "round_call": "c", "round_sleep": "s"}
"""Kinds of which only the newest of an attempt is shown in full, and their letters."""

MARKS = {"call": "c", "sleep": "s", "many": "m"}
_PER_SECOND = 1_000_000


def runs_of_signs(events: Iterable[Event]) -> list[list[Event]]:
    """Put the signs of one attempt together that no other event of their execution parts.

    What is moved is moved past events of other executions only, which show in other places.
    """
    runs: list[list[Event]] = []
    open_runs: dict[tuple[str, int], list[Event]] = {}
    for event in events:
        key = event.step_execution_id, event.attempt
        if event.kind in SIGNS:
            if key not in open_runs:
                open_runs[key] = []
                runs.append(open_runs[key])
            open_runs[key].append(event)
            continue
        for other in [other for other in open_runs if other[0] == event.step_execution_id]:
            del open_runs[other]
        runs.append([event])
    return runs


def packed_signs(run: Sequence[Event]) -> Document:
    """Write signs of one attempt, in order, as one document."""
    last = run[-1]
    document: Document = {
        "kind": "signs",
        "step_execution_id": last.step_execution_id,
        "attempt": last.attempt,
        "offset": last.wall - last.time,
        "signs": "".join(SIGNS[event.kind] for event in run),
        **packed_times([event.time for event in run]),
    }
    for event in run:
        if event.kind == "heartbeat":
            document["checkpoint"] = event.payload["checkpoint"]
        else:
            document.update(line=event.payload["line"], what=event.payload["what"])
    return document


def packed_times(times: Sequence[float]) -> Document:
    """Write times that grow, at least one: the first, and how long after another the next came."""
    # Rounded from the first on, so that what is rounded does not add up.
    whole = [round((time - times[0]) * _PER_SECOND) for time in times]
    return {"from": times[0], "after": list(map(sub, whole[1:], whole))}


def packed_marks(marks: Sequence[Sequence[Any]]) -> Document:
    """Write marks, at least one: begins and ends in turn, and the time in calls of merged ones."""
    ends = [time for mark in marks for time in (mark[1], mark[2])]
    return {
        "kinds": "".join(MARKS[mark[0]] for mark in marks),
        **packed_times(ends),
        "in_call": [round(mark[3], 6) for mark in marks if mark[0] == "many"],
    }
