"""SubFlows in the static page and on the wire."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

from dexnb.model.run_view import view_of
from dexnb.widgets.fallback import fallback_html
from dexnb.widgets.state_text import state_tables
from dexnb.widgets.timeline_svg import timeline_svg
from dexnb.widgets.wire import SNAPSHOT_BYTES, bounded_page, documents
from tests.widgets.family import FILE, LABEL, document, family_page, logs, parcel, told, wait_for
from tests.widgets.pages import page, started
from tests.widgets.test_wire import big_view


def test_the_page_is_tested_with_what_is_sent() -> None:
    """Made anew by `python -m tests.widgets.family`."""
    assert json.loads(FILE.read_text("utf-8")) == json.loads(json.dumps(document()))


def test_subflows_and_theirs_stand_in_one_table() -> None:
    """With their status, their error or what they wait for, and how their Lab is opened."""
    whole = family_page()
    rows = dict(state_tables(whole["view"], whole["children"]))["SubFlows"]
    assert [row[:4] for row in rows] == [
        [parcel(0), "running", "Pack-1: Label running", "Poll-1"],
        [f"> {LABEL}", "running", "", "Pack-1"],
        [parcel(1), "failed", "STEP_DECISION_FAILED: lost <b>on the way</b>", "Poll-1"],
        [parcel(2), "running", "", "Poll-1"],
    ]
    assert rows[1][4] == f'dexnb.lab(Label, "{LABEL}", runtime=runtime)'


def test_the_picture_has_a_group_of_lanes_for_each_subflow() -> None:
    """Below the execution that waits for it, its own attempts and children indented."""
    whole = family_page()
    svg = timeline_svg(whole["view"], whole["children"])
    picture = ET.fromstring(svg)  # noqa: S314 - our own picture
    names = [each.text for each in picture.iter() if each.get("class") in ("n", "s") and each.text]
    order = ["Poll-1", "Parcel 0", "Pack-1", "Label", "Poll-1", "Parcel 1", "Poll-1", "Parcel 2"]
    assert [name for name in names if name in order] == order
    said = " ".join(picture.itertext())
    assert "failed · SubFlow:flow-Poll-1-1" in said
    assert svg.count('class="kid failed"') == 1
    assert svg == timeline_svg(whole["view"], whole["children"])
    assert 'class="kid' not in timeline_svg(view_of(started()))


def test_messages_of_subflows_stand_among_the_runs_own() -> None:
    """With the flow id that they come from."""
    html = fallback_html(family_page(), "")
    assert "Last messages of 2" in html
    assert re.search(rf"packed&quot;</td><td[^>]*>{parcel(0)}</td>", html)
    assert "<b>on" not in html


def test_a_thousand_subflows_make_a_small_picture() -> None:
    """The others are counted."""
    words = [
        told(3 + place, 2.0, place, f"c{place}", "Poll-1", flow_id=parcel(place))
        for place in range(1000)
    ]
    view = view_of(started(wait_for(2, 1.0, "Poll-1", *["Parcel"] * 1000), *words))
    views = {f"c{place}": view_of(logs()["c0"]) for place in range(990, 1000)}
    svg = timeline_svg(view, views)
    assert len(svg) < 40_000
    assert "and 992 more SubFlows" in svg
    assert len(fallback_html({**page(view), "children": views}, "")) < 80_000
    assert bounded_page({**page(view), "children": views})[1] < SNAPSHOT_BYTES / 2


def test_many_busy_subflows_stay_within_a_pages_limit() -> None:
    """Their details go before those of the run itself."""
    busy = big_view(1000, 2000)
    own = big_view(50, 100)
    whole: dict[str, Any] = {**page(own), "children": {f"c{n}": busy for n in range(24)}}
    sent, size = bounded_page(whole)
    assert size <= SNAPSHOT_BYTES
    assert len(sent["children"]) == 24
    assert len(sent["view"]["messages"]) > 4 * len(sent["children"]["c0"]["messages"]) > 0


def test_signs_of_a_subflow_are_packed_as_the_runs_own_are() -> None:
    """Twenty rounds of three signs become one document."""
    kinds = [each["kind"] for each in documents(logs()["c0"])]
    assert kinds.count("signs") == 1
    assert "round_call" not in kinds
