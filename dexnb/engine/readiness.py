"""When a wait is over, and what it takes out of the Channels. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dexnb.model.step_execution import StepExecution

_ORDER = {"timer": 0, "channel": 1, "subflow": 2}

Channels = dict[str, list[list[Any]]]


def results_of(step: StepExecution, channels: Channels) -> dict[str, Any] | None:
    """Give what a waiting Step's `execute` is told, or None while it must wait on.

    Timers come before Channels and Channels before SubFlows, each in the order of declaration. Of
    `any_of` the first ready one wins and consumes alone; of combinations the first that is ready.
    """
    wait = step.wait or {"kind": "skip", "conditions": [], "combinations": []}
    for places in _candidates(wait):
        taken = _taken(step, wait["conditions"], places, channels)
        if taken is not None:
            return _results(step, wait["conditions"], taken, channels)
    return None


def _candidates(wait: dict[str, Any]) -> Iterator[list[int]]:
    """Give each set of conditions that would do, the best first."""
    conditions = wait["conditions"]
    match wait["kind"]:
        case "skip":
            yield []
        case "all_of":
            yield list(range(len(conditions)))
        case "any_of":
            for place in sorted(range(len(conditions)), key=_rank(conditions)):
                yield [place]
        case _:
            yield from wait["combinations"]


def _rank(conditions: list[dict[str, Any]]) -> Any:
    return lambda place: (_ORDER[conditions[place]["kind"]], place)


def _taken(
    step: StepExecution, conditions: list[dict[str, Any]], places: list[int], channels: Channels
) -> dict[str, int] | None:
    """Give how many messages of each Channel these conditions consume, or None if not all hold."""
    ready = {"timer": step.fired, "subflow": _closed(step)}
    wanted = []
    for place in places:
        condition = conditions[place]
        if condition["kind"] == "channel":
            wanted.append(condition)
        elif place not in ready[condition["kind"]]:
            return None
    return _shared(wanted, channels)


def _shared(wanted: list[dict[str, Any]], channels: Channels) -> dict[str, int] | None:
    """Share pending messages out: every minimum first, then extras up to each maximum."""
    left = {each["channel"]: len(channels.get(each["channel"], ())) for each in wanted}
    taken = dict.fromkeys(left, 0)
    for each in wanted:
        left[each["channel"]] -= each["at_least"]
        taken[each["channel"]] += each["at_least"]
    if any(count < 0 for count in left.values()):
        return None
    for each in wanted:
        channel, most = each["channel"], each["at_most"]
        extra = left[channel] if most is None else min(left[channel], most - each["at_least"])
        left[channel] -= extra
        taken[channel] += extra
    return taken


def _closed(step: StepExecution) -> set[int]:
    return {
        int(place)
        for place, result in step.subflows.items()
        if result["status"] not in ("", "RUNNING")
    }


def _results(
    step: StepExecution,
    conditions: list[dict[str, Any]],
    taken: dict[str, int],
    channels: Channels,
) -> dict[str, Any]:
    places = range(len(conditions))
    return {
        "timers": [place in step.fired for place in places if _is(conditions, place, "timer")],
        "messages": {
            channel: channels[channel][:count] for channel, count in taken.items() if count
        },
        "subflows": [
            step.subflows.get(str(place), {})
            for place in places
            if _is(conditions, place, "subflow")
        ],
        "wait_failed": False,
    }


def _is(conditions: list[dict[str, Any]], place: int, kind: str) -> bool:
    return bool(conditions[place]["kind"] == kind)
