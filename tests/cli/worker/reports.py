"""Reports of processes, made by hand."""

from __future__ import annotations

from typing import Any

from dexnb.engine.durations import Durations


def report(process: int = 1, **changes: Any) -> dict[str, Any]:
    """Give a good process's report, with these changes."""
    commits = Durations()
    for seconds in (0.0005, 0.003, 99.0):
        commits.add(seconds)
    dispatcher = {
        "running": True,
        "last_fetch_age": 3.0,
        "last_result": "hit",
        "silent": 0.5,
        "long_poll": 30.0,
        "free_slots": 7,
    }
    return {
        "process": process,
        "pid": 100 + process,
        "counts": {
            "attempts": [["F", "completed", 3], ["F", "failed", 1]],
            "flows_ended": [["F", "COMPLETED", 2]],
            "commits": [[5]],
        },
        "durations": {"commit": {"counts": commits.counts, "seconds": commits.seconds}},
        "running_attempts": 2,
        "loop_lag": 0.01 * process,
        "stalled_loops": 0,
        "depths": {"messages": 1, "work_items": 4, "leased": 2} if process == 1 else None,
        "store_error": None,
        "write_error": None,
        "draining": False,
        "dispatchers": {"orchestration": dispatcher, "work": dict(dispatcher)},
        **changes,
    }


def with_work(**changes: Any) -> dict[str, Any]:
    """Give a report whose work dispatcher has these changes."""
    given = report()
    given["dispatchers"]["work"] |= changes
    return given
