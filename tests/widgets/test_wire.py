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


def data_view(names: int, size: int) -> dict[str, Any]:
    """Fold a run that keeps many Attributes and messages of all shapes."""
    values: list[Any] = ["x" * size, ["y"] * size, {"z": "\u2028" * size}, size]
    writes = {
        "attributes": {f"kept/{n}": values[n % 4] for n in range(names)},
        "published": [[f"sent/{n}", values[n % 4]] for n in range(names)],
    }
    done = event(7, "rpc_completed", 1.0, request_id="q", name="fill", writes=writes)
    return view_of(started(done))


@pytest.mark.parametrize(("names", "size"), [(3, 10), (190, 100), (190, 5000), (3, 300_000)])
def test_what_a_run_keeps_is_sent_within_the_limit(names: int, size: int) -> None:
    """Large values are cut to the beginning of their text, small ones stay what they are."""
    view = data_view(names, size)
    document, counted = bounded_page(page(view))
    assert len(json.dumps(document, separators=(",", ":"))) == counted <= SNAPSHOT_BYTES
    kept, sent = view["attributes"], document["view"]["attributes"]
    assert list(sent)[-1] == f"kept/{names - 1}"
    for name, value in sent.items():
        small = size < 1000 or not isinstance(kept[name], str | list | dict)
        assert value == kept[name] if small else value.endswith("characters)")
    assert len(document["view"]["channels"]) == len(sent)


def test_cut_values_say_how_long_they_are() -> None:
    """The page shows that as the value."""
    document, _ = bounded_page(page(data_view(3, 300_000)))
    assert document["view"]["attributes"]["kept/0"].endswith("… (300002 characters)")
    assert document["view"]["channels"]["sent/1"]["newest"].endswith("… (1200001 characters)")
