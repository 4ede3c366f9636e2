"""Messages to a run come back as they were; anything else is a DocumentError."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.errors import DocumentError
from dexnb.model.json_text import from_text
from dexnb.model.message import (
    Decision,
    DecisionKind,
    Failure,
    Message,
    Movement,
    Start,
    StepDone,
    StepFailed,
    Stop,
    StopKind,
    decision_from,
    decode_message,
    encode_message,
    failure_from,
    movement_from,
)
from dexnb.model.settings import StepSettings
from tests.model.test_json_text import DOCUMENTS

TEXTS = st.text(max_size=5)
OBJECTS = st.dictionaries(TEXTS, DOCUMENTS, max_size=2)
OPTIONS = st.sampled_from([None, StepSettings().to_json(), StepSettings(recovery="B").to_json()])
MOVEMENTS = st.builds(Movement, TEXTS, DOCUMENTS, OPTIONS)
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
)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(Start, TEXTS, TEXTS, DOCUMENTS, st.none() | MOVEMENTS, OBJECTS),
    st.builds(StepDone, TEXTS, st.integers(1, 9), DECISIONS),
    st.builds(StepFailed, TEXTS, st.integers(1, 9), FAILURES, st.none() | MOVEMENTS),
    st.builds(Stop, st.sampled_from(get_args(StopKind)), TEXTS),
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
    }


SAMPLES: list[Message] = [
    Start("f", "F", {"a": 1}, Movement("A", None, StepSettings().to_json())),
    StepDone("A-1", 1, Decision("next", (Movement("B"),))),
    StepFailed("A-1", 1, Failure("E", "d", Failure("E", "d")), Movement("R")),
    Stop("FAIL", "enough"),
]


def places(document: Any) -> list[tuple[Any, ...]]:
    """Give the way to each value inside a document, but for inputs, outputs and overrides."""
    if isinstance(document, list):
        pairs: list[tuple[Any, Any]] = list(enumerate(document))
    elif isinstance(document, dict):
        pairs = [(k, v) for k, v in document.items() if k not in ("input", "output", "overrides")]
    else:
        return []
    return [(key, *rest) for key, value in pairs for rest in [(), *places(value)]]


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
TEXT_FIELDS |= {"error_type", "detail"}


def may_stand(way: tuple[Any, ...], value: Any) -> bool:
    """Tell a value that is legal in that place."""
    field = str(way[-1])
    if value is ...:
        return field in ("last_error", "0")
    if isinstance(value, str):
        return field in TEXT_FIELDS
    if value is True:
        return field == "has_output"
    if value == []:
        return field == "movements"
    number = field.endswith(("timeout", "interval", "duration", "coefficient"))
    return isinstance(value, float) and number


@pytest.mark.parametrize("message", SAMPLES, ids=lambda message: type(message).__name__)
def test_a_message_with_any_field_spoiled_is_read_or_refused(message: Message) -> None:
    """A value of the wrong type in any place is a DocumentError, never another error."""
    document = json.loads(encode_message(message))
    for way in places(document):
        for value in WRONG:
            text = json.dumps(spoiled(document, way, value))
            try:
                read = decode_message(text)
            except DocumentError:
                continue
            assert may_stand(way, value), (way, value)
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
