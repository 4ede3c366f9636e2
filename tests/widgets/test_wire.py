"""What is sent is bounded in size and strict JSON, whatever a Flow writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dexnb.model.run_view import view_of
from dexnb.widgets.wire import SNAPSHOT_BYTES, bounded_page, event_document, short
from tests.widgets.pages import event, page, started


def big_view(rows: int, size: int) -> dict[str, Any]:
    """Fold a run with many messages, log lines, rounds and beats."""
    events = []
    for number in range(rows):
        time = number / 100
        text = json.dumps("x" * size)
        events += [
            event(number * 5 + 2, "round_call", time, line=1, what="call"),
            event(number * 5 + 3, "round_sleep", time, line=1, what="sleep"),
            event(number * 5 + 4, "heartbeat", time, checkpoint=text, cleared=False),
            event(number * 5 + 5, "stream_message", time, stream="S", value=text),
            event(number * 5 + 6, "log", time, source="stdout", line="y" * size),
        ]
    return view_of(started(*events))


@pytest.mark.parametrize(("rows", "size"), [(10, 10), (2000, 50), (600, 100_000), (50_000, 1)])
def test_a_page_is_never_over_its_limit(rows: int, size: int) -> None:
    """Many rows and long values; what is left is the newest."""
    view = big_view(min(rows, 5000), size)
    document, counted = bounded_page(page(view))
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    assert len(text) == counted <= SNAPSHOT_BYTES
    assert document["view"]["message_count"] == view["message_count"]
    assert document["view"]["messages"][-1]["time"] == view["messages"][-1]["time"]


def test_bounding_leaves_the_original_alone() -> None:
    """The feed goes on folding into its own view."""
    view = big_view(1000, 2000)
    before = json.dumps(view)
    bounded_page(page(view), 20_000)
    assert json.dumps(view) == before


def test_a_long_message_stays_json_text() -> None:
    """The page reads it as a text that says how long it was."""
    sent = event_document(event(2, "stream_message", 1.0, stream="S", value=json.dumps("x" * 9000)))
    value = json.loads(sent["payload"]["value"])
    assert value.endswith("… (9002 characters)")
    assert len(value) < 4100


def test_short_values_pass_unchanged() -> None:
    """Nothing is copied or cut without need."""
    document = {"value": '"a"', "line": "b", "rows": [{"value": 1}], "none": None}
    assert short(document) == document
