"""What a page shows of the dispatchers: the fold of an engine's own telemetry, bounded in size."""

from __future__ import annotations

from typing import Any

from dexnb.model.event import Event

MOST_CYCLES = 200

View = dict[str, Any]


def new_dispatcher_view() -> View:
    """Give the view of an engine that has not fetched yet."""
    return {queue: _new_queue() for queue in ("orchestration", "work")}


def _new_queue() -> View:
    return {"fetches": 0, "hit": 0, "empty": 0, "error": 0, "items": 0, "cycles": []}


def apply_dispatcher(view: View, event: Event) -> None:
    """Fold one event in; all but dispatcher cycles are left alone.

    A cycle is `[began, fetched until, slept until, result, items]`; its event comes when the fetch
    has ended.
    """
    if event.kind != "dispatcher_cycle":
        return
    payload = event.payload
    queue = view[payload["queue"]]
    queue["fetches"] += 1
    queue[payload["result"]] += 1
    queue["items"] += payload["items"]
    queue["cycles"].append(
        [
            event.time - payload["fetch"],
            event.time,
            event.time + payload["sleep"],
            payload["result"],
            payload["items"],
        ]
    )
    if len(queue["cycles"]) > MOST_CYCLES:
        del queue["cycles"][0]
