"""Many signs of one attempt are sent as one document, and nothing that is shown is lost by it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from dexnb.model.event import Event
from dexnb.model.run_view import view_of
from dexnb.widgets.packing import SIGNS, packed_signs, packed_times, runs_of_signs
from dexnb.widgets.wire import documents
from tests.widgets.packed import FILE, document, log
from tests.widgets.pages import event, started

PRECISION = 5e-6
"""Times on the wire are rounded to microseconds; what sums a few of them is off by a few."""


def beat(time: float, step: str = "Poll-1", checkpoint: str = "1") -> Event:
    """Make a heartbeat."""
    return event(1, "heartbeat", time, step, checkpoint=checkpoint, cleared=False)


def unpacked(sent: list[dict[str, Any]]) -> list[Event]:
    """Read what is sent as the page does."""
    return [each for told in sent for each in _events(told)]


def _events(told: dict[str, Any]) -> list[Event]:
    if told["kind"] != "signs":
        return [Event.from_json(told)]
    kinds: dict[str, Any] = {letter: kind for kind, letter in SIGNS.items()}
    payload = {name: told.get(name) for name in ("checkpoint", "line", "what")}
    whole = 0
    found = []
    for letter, after in zip(told["signs"], [0, *told["after"]], strict=True):
        whole += after
        time = told["from"] + whole / 1_000_000
        made = event(0, kinds[letter], time, told["step_execution_id"], **payload)
        found.append(replace(made, attempt=told["attempt"], wall=time + told["offset"]))
    return found


def near(one: Any, other: Any) -> bool:
    """Compare documents, numbers with the precision that times have on the wire."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(near(one[key], other[key]) for key in one)
        case list(), list():
            return len(one) == len(other) and all(map(near, one, other))
        case float(), float():
            return abs(one - other) <= PRECISION
        case _:
            return bool(one == other)


def test_the_fold_of_what_is_sent_is_the_fold_of_the_log() -> None:
    """However the log is cut; of signs that follow each other only the newest payload is shown."""
    events = log()
    expected = view_of(events)
    for size in (1, 7, 90, len(events)):
        cuts = [events[start : start + size] for start in range(0, len(events), size)]
        folded = view_of(each for cut in cuts for each in unpacked(documents(cut)))
        assert near(folded, expected)
    assert not near(view_of(events[:-5]), expected)


def test_the_file_that_the_page_is_tested_with_is_what_is_sent() -> None:
    """`python -m tests.widgets.packed` writes it."""
    assert json.loads(FILE.read_text("utf-8")) == document()


def test_a_sign_alone_is_sent_as_it_is() -> None:
    """In whole, with its number."""
    (sent,) = documents([beat(1.0)])
    assert Event.from_json(sent) == beat(1.0)


def test_signs_of_one_attempt_become_one_document() -> None:
    """With every time, and the newest checkpoint."""
    (sent,) = documents([beat(1.0, checkpoint="1"), beat(1.5, checkpoint="2")])
    assert (sent["kind"], sent["signs"], sent["checkpoint"]) == ("signs", "hh", "2")
    assert (sent["from"], sent["after"]) == (1.0, [500_000])


def test_another_event_of_the_execution_parts_its_signs_and_no_other_does() -> None:
    """What ended an attempt must not come before its last sign, or behind the next one's first."""
    message = event(2, "stream_message", 1.0, "Other-1", stream="News", value="1")
    ended = event(3, "attempt_ended", 2.0, decision="next", reason="")
    events = [beat(0.5), message, beat(1.5), ended, beat(2.5), beat(3.0, "Other-1")]
    kinds = [[each.time for each in run] for run in runs_of_signs(events)]
    assert kinds == [[0.5, 1.5], [1.0], [2.0], [2.5], [3.0]]


def test_attempts_of_one_execution_are_told_apart() -> None:
    """A thread of an earlier attempt may still say that it lives."""
    late = replace(beat(1.0), attempt=2)
    assert [len(run) for run in runs_of_signs([beat(0.5), late, beat(1.5)])] == [2, 1]


def test_a_thousand_signs_cost_a_few_bytes_each() -> None:
    """A batch at 2,000 events a second stays small."""
    signs = [beat(1_767_225_600 + number / 167) for number in range(1000)]
    assert len(json.dumps(packed_signs(signs), separators=(",", ":"))) < 8 * len(signs)


def test_the_rounding_of_times_does_not_add_up() -> None:
    """However many there are, each is off by half a microsecond at most."""
    times = [number / 3 for number in range(10_000)]
    packed = packed_times(times)
    assert abs(packed["from"] + sum(packed["after"]) / 1_000_000 - times[-1]) <= 0.5e-6 + 1e-9


def test_a_run_without_signs_is_sent_as_it_is() -> None:
    """Event by event, in order."""
    events = started()
    assert [Event.from_json(sent) for sent in documents(events)] == events
