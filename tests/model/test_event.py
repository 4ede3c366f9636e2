"""Events and their log files: written once, read by anybody, and never trusted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.errors import DocumentError
from dexnb.model.event import (
    DURABLE_KINDS,
    TELEMETRY_KINDS,
    DurableKind,
    Event,
    EventKind,
    TelemetryKind,
    load_log,
    merge,
    save_log,
)
from tests.model.test_json_text import DOCUMENTS

EVENT = Event(1, "f", "r", 2.5, 1.5, "heartbeat", "A-1", 2, {"checkpoint": "null"})
KINDS: list[EventKind] = [*get_args(DurableKind), *get_args(TelemetryKind)]
TIMES = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=5)
EVENTS = st.builds(
    Event,
    st.integers(1, 2**53 - 1),
    TEXTS,
    TEXTS,
    TIMES,
    TIMES,
    st.sampled_from(KINDS),
    TEXTS,
    st.integers(0, 9),
    st.dictionaries(TEXTS, DOCUMENTS, max_size=3),
)


@given(st.lists(EVENTS, max_size=5))
def test_a_log_comes_back(tmp_path_factory: pytest.TempPathFactory, events: list[Event]) -> None:
    """One line of ASCII an event, whatever text is in it."""
    path = tmp_path_factory.getbasetemp() / "log.jsonl"
    save_log(events, path)
    text = path.read_bytes()
    assert text.isascii()
    assert text.count(b"\n") == len(events)
    assert b"\r" not in text
    assert list(load_log(str(path))) == events


def test_an_event_has_the_documented_form() -> None:
    """The names that TypeScript uses too."""
    assert EVENT.to_json() == {
        "seq": 1,
        "flow_id": "f",
        "run_id": "r",
        "wall": 2.5,
        "time": 1.5,
        "kind": "heartbeat",
        "step_execution_id": "A-1",
        "attempt": 2,
        "payload": {"checkpoint": "null"},
    }
    assert Event.from_json({**EVENT.to_json(), "of a later version": 1}) == EVENT


def test_every_kind_is_durable_or_telemetry() -> None:
    """Never both."""
    assert not DURABLE_KINDS & TELEMETRY_KINDS
    for kind in KINDS:
        assert replace(EVENT, kind=kind).durable is (kind in DURABLE_KINDS)


WRONG: dict[str, list[Any]] = {
    "seq": [None, "1", 1.0, True, []],
    "flow_id": [None, 1, ["f"]],
    "run_id": [None, 1, b"r"],
    "wall": [None, "now", True, float("nan"), float("inf"), 10**400],
    "time": [None, "0", False, float("-inf"), 10**400],
    "kind": [None, "", "exploded", "__class__", ["heartbeat"], {}],
    "step_execution_id": [None, 1],
    "attempt": [None, "1", 1.5, True],
    "payload": [None, [], "{}", 1],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in WRONG.items() for value in values]
)
def test_a_field_of_another_type_is_refused_by_name(field: str, value: Any) -> None:
    """With what stands there, in a short text."""
    with pytest.raises(DocumentError, match=rf"^event (field )?{field} ") as caught:
        Event.from_json({**EVENT.to_json(), field: value})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("field", list(WRONG))
def test_a_missing_field_is_named(field: str) -> None:
    """None has a default in a document."""
    document = EVENT.to_json()
    del document[field]
    with pytest.raises(DocumentError, match=f"^event lacks the field '{field}'$"):
        Event.from_json(document)


@pytest.mark.parametrize("document", [None, [], "event", 1, [EVENT.to_json()]])
def test_what_is_no_object_is_refused(document: Any) -> None:
    """A list of events, for example, is none."""
    with pytest.raises(DocumentError, match=r"^event is .*, not an object$"):
        Event.from_json(document)


GOOD = json.dumps(EVENT.to_json()).encode()
HOSTILE: list[bytes] = [
    b"",
    b"null",
    b"[]",
    b"not json",
    GOOD[:-1],
    GOOD + GOOD,
    GOOD.replace(b"1.5", b"NaN"),
    GOOD.replace(b"1.5", b"Infinity"),
    GOOD.replace(b"1.5", b"1e999"),
    GOOD.replace(b"1.5", b"1" * 5000),
    GOOD.replace(b'"null"', b"-Infinity"),
    GOOD.replace(b"heartbeat", b"pwned"),
    b"\xff\xfe" + GOOD,
    b"[" * 100_000,
    b"\x80",
]


@pytest.mark.parametrize("line", HOSTILE, ids=[str(index) for index in range(len(HOSTILE))])
def test_a_line_that_is_no_event_is_named_by_its_number(tmp_path: Path, line: bytes) -> None:
    """What stands before it was read; nothing of it is run."""
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(b"\n".join([GOOD, GOOD, line, GOOD, b""]))
    log = load_log(path)
    assert [next(log), next(log)] == [EVENT, EVENT]
    with pytest.raises(DocumentError, match=r"^hostile\.jsonl line 3: ") as caught:
        next(log)
    assert len(str(caught.value)) < 400


def test_a_log_may_come_from_another_system(tmp_path: Path) -> None:
    """With Windows line ends, text outside ASCII and no line end behind the last line."""
    event = replace(EVENT, flow_id="é\u2028\x85🦊")
    line = json.dumps(event.to_json(), ensure_ascii=False).encode()
    path = tmp_path / "log.jsonl"
    path.write_bytes(line + b"\r\n" + line)
    assert list(load_log(path)) == [event, event]


def _durable(seq: int, time: float) -> Event:
    return replace(EVENT, seq=seq, time=time, kind="step_scheduled")


def _telemetry(seq: int, time: float) -> Event:
    return replace(EVENT, seq=seq, time=time)


def test_a_log_is_merged_by_time_with_history_first_on_a_tie() -> None:
    """Both parts keep their own order."""
    durable = [_durable(1, 1.0), _durable(2, 1.0), _durable(3, 5.0)]
    telemetry = [_telemetry(7, 0.5), _telemetry(8, 1.0), _telemetry(9, 5.0)]
    merged = merge(durable, telemetry)
    assert [event.seq for event in merged] == [7, 1, 2, 8, 3, 9]
    assert merge(iter(durable), iter([])) == durable
    assert merge([], telemetry) == telemetry


def test_history_keeps_its_order_where_two_machines_disagree_about_time() -> None:
    """The engine that took a run over may be some milliseconds behind."""
    durable = [_durable(1, 1.0), _durable(2, 0.9), _durable(3, 2.0)]
    telemetry = [_telemetry(8, 1.5), _telemetry(9, 0.95)]
    merged = merge(durable, telemetry)
    assert [event for event in merged if event.durable] == durable
    assert [event.seq for event in merged] == [9, 1, 2, 8, 3]


@given(st.lists(TIMES), st.lists(TIMES))
def test_merging_loses_nothing(durable: list[float], telemetry: list[float]) -> None:
    """And history can be folded from what comes out."""
    history = [_durable(seq, time) for seq, time in enumerate(durable)]
    views = [_telemetry(seq, time) for seq, time in enumerate(telemetry)]
    merged = merge(history, views)
    assert [event for event in merged if event.durable] == history
    assert sorted(merged, key=repr) == sorted([*history, *views], key=repr)
