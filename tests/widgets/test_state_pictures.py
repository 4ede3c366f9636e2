"""Pictures of runs that wait, lock, branch and start SubFlows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from dexnb.model.event import load_log
from dexnb.model.run_view import view_of
from dexnb.widgets.fallback import fallback_html
from dexnb.widgets.state_text import MOST_ROWS, state_tables
from dexnb.widgets.timeline_svg import timeline_svg
from tests.data.make import HERE
from tests.widgets.pages import event, page, started

NASTY = '"><script>alert(1)</script>\x00\x0b\ud800\u202e onload="x'
WAITING = ("ordered", "still_collecting", "still_queued", "taken_back", "timed_out")


def view_from(name: str) -> dict[str, Any]:
    """Fold one of the shared logs."""
    return view_of(load_log(HERE / f"{name}.jsonl"))


def tables_of(name: str) -> dict[str, list[list[str]]]:
    """Give its tables by title."""
    return dict(state_tables(view_from(name)))


@pytest.mark.parametrize("name", WAITING)
def test_a_picture_of_a_waiting_run_is_well_formed(name: str) -> None:
    """And the same each time."""
    view = view_from(name)
    picture = timeline_svg(view)
    ET.fromstring(picture)  # noqa: S314 - our own picture
    assert picture == timeline_svg(view)


def test_the_state_of_a_run_stands_in_tables() -> None:
    """Attributes, Channels and SubFlows; who holds a lock and who waits only while it runs."""
    ended = tables_of("ordered")
    assert list(ended) == ["Attributes", "Channels", "SubFlows"]
    assert ended["Attributes"][0] == ["count", "129"]
    assert ended["Channels"][1] == ["orders", "1 pending of 4 published", '"third"']
    assert ended["SubFlows"] == [
        [
            "SubFlow:ordered-Ship-1-0",
            "completed",
            '"parcel"',
            "Ship-1",
            'dexnb.lab(Parcel, "SubFlow:ordered-Ship-1-0", runtime=runtime)',
        ]
    ]
    waiting = tables_of("still_collecting")
    assert waiting["Locks"] == [["count", "an RPC"]]
    assert waiting["Waiting"] == [
        ["Collect-1", "orders 1 of 2, timer late 4:37 left, timer 0:37 left"]
    ]
    assert tables_of("still_queued")["Waiting"] == [["Collect-1", "queued for lock count, state"]]


def test_a_wait_is_a_bar_of_its_own_with_its_timers() -> None:
    """Between wait_for and execute; the wait for a retry is drawn otherwise."""
    picture = timeline_svg(view_from("ordered"))
    assert picture.count('class="wait"') == 3
    assert "<title>orders consumed</title>" in picture
    assert "<title>Parcel completed, timer slow skipped</title>" in picture
    assert picture.count('class="timer"') == 1
    assert picture.count('class="gap"') == 1
    assert "sys:" not in picture
    assert "handle_timeout" in timeline_svg(view_from("timed_out"))


def test_an_attempt_of_wait_for_is_named_so() -> None:
    """Each method counts its attempts from 1."""
    begun = event(9, "attempt_started", 0.0, **LIMITS, method="wait_for")
    again = replace(begun, seq=10, time=25.0, attempt=2)
    later = event(11, "log", 50.0, source="stdout", line="x")
    picture = timeline_svg(view_of(started(begun, later)))
    assert ">wait_for 1, 0 rounds</text>" in picture
    assert ">wait_for, 1 attempt</text>" in picture
    retried = timeline_svg(view_of(started(begun, again, later)))
    assert ">wait_for (2), 1 attempt</text>" in retried


LIMITS: dict[str, Any] = {
    "deliveries": 1,
    "first_attempt_at": 0.0,
    "checkpoint": None,
    "execute_method_timeout": 600.0,
    "heartbeat_timeout": 60.0,
    "maximum_attempts": 3,
    "total_duration": 600.0,
}


def test_what_a_run_keeps_is_escaped_and_bounded() -> None:
    """Thousands of names and values of any text and length."""
    plain = {f"m/{number}": NASTY * 1000 for number in range(500)}
    writes = {"attributes": {**plain, NASTY: NASTY}, "published": [[NASTY, NASTY]]}
    condition = {"kind": "channel", "id": "", "channel": NASTY, "at_least": 1, "at_most": None}
    child = {"kind": "subflow", "id": "", "start": {"flow_type": NASTY}, "reuse_policy": "R"}
    wait = {"kind": "all_of", "conditions": [condition, child] * 20, "combinations": []}
    view = view_of(
        started(
            event(3, "wait_started", 1.0, wait=wait, writes=writes),
            event(4, "subflow_changed", 2.0, condition=1, result={"flow_id": NASTY, "status": "X"}),
            event(5, "rpc_started", 3.0, "", request_id=NASTY, locks=[NASTY]),
        )
    )
    html = fallback_html(page(view), "")
    assert len(html) < 40_000
    assert "<script" not in html
    assert not re.search("[\x00\x0b\ud800\u202e]", html)
    assert [len(rows) for _, rows in state_tables(view)] == [1, MOST_ROWS, 1, 1, 2]
