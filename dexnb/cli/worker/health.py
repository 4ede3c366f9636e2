"""Whether a worker lives, and whether it can work now: judged by what its processes report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

LATE_SECONDS = 5.0
"""A process that has not reported for this long is held up."""

HUNG_SECONDS = 60.0
"""A process that has not reported for this long does not live."""

ERROR_SECONDS = 5.0
"""A dispatcher whose fetch has failed tries again sooner; a fetch that lasts on has not failed."""

FETCH_MARGIN = 15.0
"""Seconds beyond its poll timeout that a fetch may take."""

STUCK_POLLS = 3
"""Long polls, one after the other, that a dispatcher may spend without a single fetch that ends."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the parent knows of one process.

    Args:
        process: Its number, from 1.
        report: Its newest report; None for one that has not reported yet, or has died.
        age: Seconds since that report, or since the worker's start.
    """

    process: int
    report: dict[str, Any] | None
    age: float


def readiness(seen: Sequence[Seen]) -> tuple[bool, dict[str, Any]]:
    """Tell whether every process can work now, with the reasons why not."""
    reports = [each.report for each in seen if each.report is not None]
    # All are told to stop at once.
    stopping = any(report["draining"] for report in reports)
    reasons = [
        f"process {each.process}: {reason}"
        for each in seen
        for reason in _reasons(each, stopping=stopping)
    ]
    errors = [report["store_error"] for report in reports if report["store_error"]]
    unwritten = [report["write_error"] for report in reports if report["write_error"]]
    document = {
        "ready": not reasons,
        "reasons": reasons,
        "store": {
            "reachable": bool(reports) and not errors,
            "error": next(iter([*errors, *unwritten]), None),
        },
        "stalled_loops": sum(report["stalled_loops"] for report in reports),
        "processes": [_process(each) for each in seen],
    }
    return not reasons, document


def liveness(seen: Sequence[Seen]) -> tuple[bool, dict[str, Any]]:
    """Tell whether every process that runs still answers, and fetches from a store that does.

    Those that died are started again.
    """
    hung = [each.process for each in seen if each.report is not None and _is_hung(each)]
    return not hung, {"live": not hung, "processes": len(seen), "hung": hung}


def _is_hung(seen: Seen) -> bool:
    dispatchers = seen.report["dispatchers"].values() if seen.report is not None else ()
    return seen.age > HUNG_SECONDS or any(
        state["silent"] > max(HUNG_SECONDS, STUCK_POLLS * state["long_poll"] + FETCH_MARGIN)
        for state in dispatchers
    )


def _reasons(seen: Seen, *, stopping: bool) -> Iterator[str]:
    report = seen.report
    if report is None:
        again = "it is not running yet, or has died and is started again"
        yield "it has stopped, as told" if stopping else again
        return
    if seen.age > LATE_SECONDS:
        yield f"it has not reported for {seen.age:.0f} s"
    if report["draining"]:
        yield "it drains, because it was told to stop"
    if report["store_error"]:
        yield f"the store cannot be reached ({report['store_error']})"
    if report["write_error"]:
        yield f"nothing can be written to the store ({report['write_error']})"
    for queue, state in report["dispatchers"].items():
        if not state["running"] and not report["draining"]:
            yield f"the {queue} dispatcher does not run"
        age, limit = state["last_fetch_age"], state["long_poll"] + FETCH_MARGIN
        if state["last_result"] == "error" and age < ERROR_SECONDS:
            yield f"the last fetch of the {queue} dispatcher failed"
        if age > limit and state["free_slots"] > 0:
            yield f"the {queue} dispatcher has fetched nothing for {age:.0f} s"


def _process(seen: Seen) -> dict[str, Any]:
    report = seen.report
    document: dict[str, Any] = {"process": seen.process, "report_age": round(seen.age, 3)}
    if report is not None:
        names = ("pid", "running_attempts", "loop_lag", "stalled_loops", "draining", "dispatchers")
        document |= {name: report[name] for name in names}
    return document
