"""Messages to a run come back as they were; anything else is a DocumentError."""

from __future__ import annotations

import builtins
import functools
import json
import operator
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.errors import DocumentError
from dexnb.model.decision import (
    Decision,
    DecisionKind,
    Failure,
    Movement,
    decision_from,
    failure_from,
    movement_from,
)
from dexnb.model.json_text import from_text
from dexnb.model.message import (
    ConfigChanged,
    DelayOver,
    FlowTimeout,
    KnobsChanged,
    Message,
    Method,
    ParentAdded,
    Published,
    RpcBegin,
    RpcDone,
    RpcExpired,
    RpcVisit,
    Start,
    StepDone,
    StepFailed,
    Stop,
    StopKind,
    SubFlowClosed,
    TimeoutPolicy,
    TimerFired,
    WaitDone,
    decode_message,
    encode_message,
)
from dexnb.model.settings import StepSettings
from dexnb.model.writes import WAIT_KINDS
from tests.model.test_json_text import DOCUMENTS

TEXTS = st.text(max_size=5)
OBJECTS = st.dictionaries(TEXTS, DOCUMENTS, max_size=2)
OPTIONS = st.sampled_from([None, StepSettings().to_json(), StepSettings(recovery="B").to_json()])
METHOD = st.sampled_from(get_args(Method))
NAMES = st.lists(TEXTS, max_size=2)
LOADS = st.fixed_dictionaries({"attributes": NAMES, "channels": NAMES})
PLANS = st.fixed_dictionaries(
    {
        "wait_for": st.booleans(),
        "wait_for_failure": st.sampled_from(["FAIL_FLOW", "PROCEED"]),
        "locks": st.fixed_dictionaries({"wait_for": NAMES, "execute": NAMES}),
        "loads": st.fixed_dictionaries({"wait_for": LOADS, "execute": LOADS}),
    }
)
MOVEMENTS = st.builds(Movement, TEXTS, DOCUMENTS, OPTIONS, st.none() | PLANS)
FAILURES = st.builds(
    Failure, TEXTS, TEXTS, st.none() | st.builds(Failure, TEXTS, TEXTS, st.just(None))
)
DECISIONS = st.builds(
    Decision,
    st.sampled_from(get_args(DecisionKind)),
    st.lists(MOVEMENTS, max_size=2).map(tuple),
    DOCUMENTS,
    st.booleans(),
    TEXTS,
    NAMES.map(tuple),
    st.none() | MOVEMENTS,
    NAMES.map(tuple),
    NAMES.map(tuple),
)
PAIRS = st.lists(st.tuples(TEXTS, DOCUMENTS).map(list), max_size=2)
WRITES = st.fixed_dictionaries(
    {},
    optional={
        "attributes": OBJECTS,
        "deleted": NAMES,
        "published": PAIRS,
        "removed": st.lists(st.tuples(TEXTS, TEXTS).map(list), max_size=2),
        "recorded": OBJECTS,
        "locals": OBJECTS,
    },
)
SECONDS = st.floats(0, 1e9)
AT_MOST = st.none() | st.integers(0, 9)
TIMERS = st.builds(lambda name, s: {"kind": "timer", "id": name, "seconds": s}, TEXTS, SECONDS)
CONDITIONS = TIMERS | st.builds(
    lambda name, most: {
        "kind": "channel",
        "id": "",
        "channel": name,
        "at_least": 1,
        "at_most": most,
    },
    TEXTS,
    AT_MOST,
)
WAITS = st.builds(
    lambda kind, conditions: {
        "kind": kind,
        "conditions": conditions,
        "combinations": [list(range(len(conditions)))],
    },
    st.sampled_from(WAIT_KINDS),
    st.lists(CONDITIONS, max_size=3),
)
NUMBER = st.integers(1, 9)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(
        Start,
        TEXTS,
        TEXTS,
        DOCUMENTS,
        st.none() | MOVEMENTS,
        OBJECTS,
        SECONDS,
        SECONDS,
        st.sampled_from(get_args(TimeoutPolicy)),
        st.none() | MOVEMENTS,
        OBJECTS,
        TEXTS,
        st.none() | OBJECTS,
        OBJECTS,
    ),
    st.builds(StepDone, TEXTS, NUMBER, DECISIONS, WRITES),
    st.builds(WaitDone, TEXTS, NUMBER, WAITS, WRITES),
    st.builds(StepFailed, TEXTS, NUMBER, FAILURES, st.none() | MOVEMENTS, METHOD),
    st.builds(TimerFired, TEXTS, NUMBER, st.booleans()),
    st.builds(Published, TEXTS, st.lists(DOCUMENTS, max_size=2), TEXTS, TEXTS),
    st.builds(RpcBegin, TEXTS, NAMES, SECONDS),
    st.builds(
        RpcDone,
        TEXTS,
        TEXTS,
        WRITES,
        st.lists(MOVEMENTS, max_size=2).map(tuple),
        NAMES,
        st.booleans(),
        st.none() | NUMBER,
    ),
    st.builds(RpcVisit, TEXTS),
    st.builds(RpcExpired, TEXTS, TEXTS),
    st.builds(DelayOver, TEXTS),
    st.builds(SubFlowClosed, TEXTS, NUMBER, OBJECTS),
    st.builds(ParentAdded, OBJECTS),
    st.just(FlowTimeout()),
    st.builds(ConfigChanged, OBJECTS),
    st.builds(Stop, st.sampled_from(get_args(StopKind)), TEXTS, st.booleans()),
    st.builds(KnobsChanged, OBJECTS),
)


@given(MESSAGES)
def test_a_message_comes_back(message: Message) -> None:
    """Equal, with its own kind of message, tuples and nested parts."""
    read = decode_message(encode_message(message))
    assert type(read) is type(message)
    assert read == message


def test_the_stored_form_is_the_documented_one() -> None:
    """A kind and the fields by name, for whoever looks into a store."""
    done = StepDone("A-1", 2, Decision("next", (Movement("B", 1),)))
    assert from_text(encode_message(done)) == {
        "kind": "step_done",
        "step_execution_id": "A-1",
        "attempt": 2,
        "decision": {
            "kind": "next",
            "movements": [{"step_type": "B", "input": 1, "options": None}],
            "output": None,
            "has_output": False,
            "reason": "",
        },
        "writes": {},
    }


LOADED = {"attributes": ["a"], "channels": ["c/"]}
PLAN = {
    "wait_for": True,
    "wait_for_failure": "PROCEED",
    "locks": {"wait_for": ["a"], "execute": ["b"]},
    "loads": {"wait_for": LOADED, "execute": LOADED},
}
WRITTEN = {
    "attributes": {"a": 1},
    "deleted": ["b"],
    "published": [["c", 1]],
    "removed": [["c", "1"]],
    "recorded": {"e": 1},
    "locals": {"k": 1},
}
WAIT = {
    "kind": "any_combination_of",
    "conditions": [
        {"kind": "timer", "id": "t", "seconds": 1.5},
        {"kind": "channel", "id": "", "channel": "c", "at_least": 1, "at_most": None},
        {"kind": "subflow", "id": "", "start": {"flow_type": "S"}, "reuse_policy": "R"},
    ],
    "combinations": [[0, 1]],
}
PARENT = {"run_id": "r", "step_execution_id": "A-1", "condition": 0}
EMPTY = Decision(
    "force_complete_if_channels_empty",
    output=1,
    has_output=True,
    empty_channels=("c",),
    fallback=Movement("B", None, None, PLAN),
    canceling_steps=("X",),
    canceling_sibling_steps=("Y",),
)
SAMPLES: list[Message] = [
    Start("f", "F", {"a": 1}, Movement("A", None, StepSettings().to_json())),
    Start(
        "f",
        "F",
        None,
        Movement("A", None, None, PLAN),
        {"K": 1},
        1.5,
        60.0,
        "HANDLER",
        Movement("sys:timeout_handler"),
        {"a": 1},
        "q",
        PARENT,
        {"step_durability": "ASYNC"},
    ),
    StepDone("A-1", 1, Decision("next", (Movement("B"),))),
    StepDone("A-1", 1, EMPTY, WRITTEN),
    WaitDone("A-1", 1, WAIT, WRITTEN),
    StepFailed("A-1", 1, Failure("E", "d", Failure("E", "d")), Movement("R")),
    StepFailed("A-1", 1, Failure("E", "d"), None, "wait_for"),
    TimerFired("A-1", 1, skipped=True),
    Published("c", [1, None], "client", "q"),
    RpcBegin("q", ["a"], 1.5),
    RpcDone("q", "add", WRITTEN, (Movement("B"),), ["C"], locked=True, version=7),
    RpcExpired("q"),
    RpcVisit("q"),
    DelayOver("A-1"),
    SubFlowClosed("A-1", 0, {"status": "FAILED"}),
    ParentAdded(PARENT),
    FlowTimeout(),
    ConfigChanged({"step_durability": "ASYNC"}),
    Stop("FAIL", "enough"),
    Stop("TERMINATE", "time_travel", makes_way=True),
    KnobsChanged({"K": 1}),
]


def test_there_is_a_sample_of_every_kind_of_message() -> None:
    """And a random one of each comes back, above."""
    assert {type(sample) for sample in SAMPLES} == set(get_args(Message))


ANYTHING = ("input", "output")
FREE = ("overrides", "attributes", "config", "parent", "result", "recorded", "locals", "start")
"""Fields that hold an object of whatever there is to hold."""


def places(document: Any) -> list[tuple[Any, ...]]:
    """Give the way to each value inside a document, but for what may be anything."""
    if isinstance(document, list):
        pairs: list[tuple[Any, Any]] = list(enumerate(document))
    elif isinstance(document, dict):
        pairs = [(key, value) for key, value in document.items() if key not in ANYTHING]
    else:
        return []
    inside = {key: [] if key in (*FREE, "values") else places(value) for key, value in pairs}
    return [(key, *rest) for key, _ in pairs for rest in [(), *inside[key]]]


def spoiled(document: Any, way: tuple[Any, ...], value: Any) -> Any:
    """Give a copy of a document with another value in one place; `...` takes the field away."""
    copy = json.loads(json.dumps(document))
    inner = copy
    for key in way[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[way[-1]]
    else:
        inner[way[-1]] = value
    return copy


WRONG: list[Any] = [..., 1.5, True, "", "bogus", [], {}, [1], {"a": 1}]
TEXT_FIELDS = {"flow_id", "flow_type", "step_execution_id", "step_type", "reason", "recovery"}
TEXT_FIELDS |= {"error_type", "detail", "request_id", "id", "channel", "name", "source"}
TEXT_FIELDS |= {"reuse_policy"}
OPTIONAL = {
    "last_error",
    "plan",
    "channels",
    "fallback",
    "empty_channels",
    "canceling_sibling_steps",
    *WRITTEN,
}
FLAGS = ("has_output", "wait_for", "skipped", "locked", "makes_way", "renews")
NUMBERS = ("timeout", "interval", "duration", "coefficient", "seconds", "delay", "until")


def may_stand(way: tuple[Any, ...], value: Any, there: Any) -> bool:
    """Tell a value that is legal in that place, in which another one stood."""
    field, item = str(way[-1]), isinstance(way[-1], int)
    pair = way[-3] if len(way) > 2 and way[-3] in ("published", "removed") else ""
    if pair == "published" and way[-1] == 1:
        return value is not ...
    match value:
        case builtins.Ellipsis:
            leaves = field in OPTIONAL or way[-2:] == ("decision", "canceling_steps")
            return leaves or (item and not pair)
        case str():
            return isinstance(there, str | None) and (item or field in TEXT_FIELDS)
        case bool():
            return field in (
                "has_output",
                "wait_for",
                "skipped",
                "locked",
                "makes_way",
                "renews",
            ) and there in (0, 1)
        case float():
            return type(there) in (int, float) and field.endswith(NUMBERS)
        case []:
            return isinstance(there, list) and (not item or way[-2] == "combinations")
        case [1]:
            return field == "values" or (item and way[-2] == "combinations")
        case _:
            empty = value == {} and (field == "writes" or "loads" in way[-2:])
            return empty or field in FREE


@pytest.mark.parametrize("message", SAMPLES, ids=lambda message: type(message).__name__)
def test_a_message_with_any_field_spoiled_is_read_or_refused(message: Message) -> None:
    """A value of the wrong type in any place is a DocumentError, never another error."""
    document = json.loads(encode_message(message))
    for way in places(document):
        there = functools.reduce(operator.getitem, way, document)
        for value in WRONG:
            text = json.dumps(spoiled(document, way, value))
            try:
                read = decode_message(text)
            except DocumentError:
                continue
            assert may_stand(way, value, there), (way, value)
            assert decode_message(encode_message(read)) == read


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", '"start"', "5", "{}", '{"kind":[]}', '{"kind":null}', "NaN"),
        *('{"kind":"__init__"}', '{"kind":"start"}', '{"kind":"stop","type":"CANCEL"}'),
        '{"kind":"stop","type":"EXPLODE","reason":""}',
        '{"kind":"step_done","step_execution_id":"A-1","attempt":1,"decision":{"kind":"next"}}',
        '{"kind":"stop","type":"CANCEL","reason":""',
        "[" * 100_000,
    ],
)
def test_text_that_is_no_message_is_refused(text: str) -> None:
    """Whatever stands in a store."""
    with pytest.raises(DocumentError):
        decode_message(text)


def test_an_error_chain_without_end_is_refused() -> None:
    """It would exhaust the stack."""
    chain = '{"error_type":"","detail":"","last_error":' * 490 + "null" + "}" * 490
    head = '{"kind":"step_failed","step_execution_id":"A-1","attempt":1,"recovery":null,"failure":'
    try:
        read = decode_message(f"{head}{chain}}}")
    except DocumentError:
        return
    assert isinstance(read, StepFailed)


def test_parts_are_read_alone() -> None:
    """None stays None."""
    assert (movement_from(None), failure_from(None)) == (None, None)
    assert movement_from({"step_type": "A", "input": 1, "options": None}) == Movement("A", 1)
    assert failure_from({"error_type": "E", "detail": "d"}) == Failure("E", "d")
    for read in (movement_from, failure_from, decision_from):
        with pytest.raises(DocumentError):
            read({"kind": "next"})
