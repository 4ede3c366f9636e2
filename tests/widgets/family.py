"""A run, its SubFlows and theirs, and what is sent of them: `family.json` for the page's tests.

`python -m tests.widgets.family` writes the file anew.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from dexnb.model.event import Event
from dexnb.model.run_view import view_of
from dexnb.widgets.feed import Page
from dexnb.widgets.wire import bounded_page, documents
from tests.widgets.pages import event, page, started

FILE = Path(__file__).with_name("family.json")
CUT = 6.0
"""When the page is sent; what comes later goes out in a batch."""

Logs = dict[str, list[Event]]


def parcel(number: int) -> str:
    """Give the flow id of a child of the run."""
    return f"SubFlow:flow-Poll-1-{number}"


LABEL = f"SubFlow:{parcel(0)}-Pack-1-0"
"""The flow id of the grandchild."""


def told(seq: int, time: float, place: int, run_id: str, step: str, **result: Any) -> Event:
    """Make the word of a SubFlow that its parent gets."""
    known = {"status": "RUNNING", "completions": [], "error_type": "", "error_message": ""}
    document = {**known, "run_id": run_id, **result}
    return event(seq, "subflow_changed", time, step, condition=place, result=document)


def wait_for(seq: int, time: float, step: str, *types: str) -> Event:
    """Make the begin of a wait for SubFlows."""
    conditions: list[dict[str, Any]] = [
        {"kind": "subflow", "id": "", "start": {"flow_type": name}, "reuse_policy": "R"}
        for name in types
    ]
    wait = {"kind": "all_of", "conditions": conditions, "combinations": []}
    return event(seq, "wait_started", time, step, wait=wait)


def of_run(flow_id: str, run_id: str, flow_type: str, events: list[Event]) -> list[Event]:
    """Let events be those of another run."""
    first, *rest = events
    first = replace(first, payload={**first.payload, "flow_type": flow_type})
    return [replace(each, flow_id=flow_id, run_id=run_id) for each in (first, *rest)]


def parent() -> list[Event]:
    """Give the log of a run with three children, one of which nobody can read."""
    lost: dict[str, Any] = {
        "status": "FAILED",
        "error_type": "STEP_DECISION_FAILED",
        "error_message": "lost <b>on the way</b>",
    }
    return started(
        wait_for(3, 1.0, "Poll-1", "Parcel", "Parcel", "Parcel"),
        *(
            told(4 + number, 1.5, number, f"c{number}", "Poll-1", flow_id=parcel(number))
            for number in range(3)
        ),
        told(7, 8.0, 1, "c1", "Poll-1", flow_id=parcel(1), **lost),
    )


def packing() -> list[Event]:
    """Give the log of a child that polls, tells, and waits for a child of its own."""
    pack = [replace(each, time=1.5, step_execution_id="Pack-1") for each in started()[1:]]
    pack[0] = replace(pack[0], payload={**pack[0].payload, "step_type": "Pack"})
    rounds = []
    for number in range(20):
        time = 2 + number / 8
        rounds += [
            event(number, "round_call", time, "Pack-1", line=7, what="call"),
            event(number, "heartbeat", time + 1 / 64, "Pack-1", checkpoint=f"{number}"),
            event(number, "round_sleep", time + 1 / 64, "Pack-1", line=9, what="sleep"),
        ]
    return [
        replace(started()[0], time=1.5),
        *pack,
        *rounds,
        event(1, "stream_message", 3.0, "Pack-1", stream="News", value='"half packed"'),
        event(2, "log", 7.0, "Pack-1", source="stdout", line="packed <i>it</i>"),
        event(3, "heartbeat", 7.0, "Pack-1", checkpoint='"last"'),
        event(4, "stream_message", 7.5, "Pack-1", stream="News", value='"packed"'),
        wait_for(3, 8.0, "Pack-1", "Label"),
        told(4, 8.5, 0, "g0", "Pack-1", flow_id=LABEL),
    ]


def failing() -> list[Event]:
    """Give the log of a child that fails."""
    end = {"status": "FAILED", "error_type": "STEP_DECISION_FAILED", "error_message": "lost"}
    return [*started(), event(3, "flow_closed", 7.9, "", **end)]


def label() -> list[Event]:
    """Give the log of a grandchild that no code runs."""
    first, scheduled, _ = started()
    return [replace(first, time=8.4), replace(scheduled, time=8.4)]


def logs() -> Logs:
    """Give the logs of all runs that can be read, by their ids; the page's own is `run`."""
    return {
        "run": parent(),
        "c0": of_run(parcel(0), "c0", "Parcel", packing()),
        "c1": of_run(parcel(1), "c1", "Parcel", failing()),
        "g0": of_run(LABEL, "g0", "Label", label()),
    }


def family_page(until: float = 10.0, *runs: str) -> Page:
    """Give the page at a time, with these runs beside its own, or all that have begun."""
    known = {
        run_id: view_of([each for each in log if each.time <= until])
        for run_id, log in logs().items()
        if log[0].time <= until and (not runs or run_id in ("run", *runs))
    }
    whole = page(known.pop("run"))
    missing = {"g0": "no Flow named Label is registered in this process"} if "g0" in known else {}
    return {**whole, "children": known, "waits_for_code": missing, "now": until}


def document() -> dict[str, Any]:
    """Give the page at `CUT`, the batch of what comes behind it, and the page at the end."""
    late = {run: [each for each in log if each.time > CUT] for run, log in logs().items()}
    return {
        "first": bounded_page(family_page(CUT, "c0", "c1"))[0],
        "batch": {
            "events": documents(late.pop("run")),
            "children": {run: documents(events) for run, events in late.items()},
        },
        "last": bounded_page(family_page())[0],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), indent=1) + "\n", "utf-8")
