"""A Stream takes values of its type, says what it cannot take, and gives them back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from dexnb import PersistenceSchema, Stream, ValueMappingError
from dexnb.errors import DefinitionError
from dexnb.flow.data import FlowData
from dexnb.flow.output import StepOutput
from dexnb.flow.persistence import Persistence
from dexnb.flow.stream import MAX_MESSAGE_BYTES, natural_value
from tests.flow.calls import Call
from tests.flow.values import Job, Page, State, strict

JOB = Job(State.RUNNING, datetime(2026, 1, 1, tzinfo=UTC))


class Sink(Call):
    """Takes messages as a Step's context does."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__(FlowData(Persistence(), {}))
        self.texts: list[str] = []

    def write_stream(self, stream: Stream[Any], text: str) -> StepOutput | None:
        """Keep the text."""
        self.texts.append(text)
        return None


def written(stream: Stream[Any], value: Any) -> str:
    """Give the text that a write hands on."""
    sink = Sink()
    assert stream.write(sink, value) is None
    (text,) = sink.texts
    strict(text)
    return text


@pytest.mark.parametrize(
    ("type_", "value"),
    [(str, "a\ud800\0"), (Job, JOB), (list[Job], [JOB]), (Page[Job], Page([JOB])), (float, 1)],
)
def test_a_message_comes_back_as_the_type_of_its_stream(type_: Any, value: Any) -> None:
    """Written, read through the Stream, and readable in its natural form without it."""
    stream: Stream[Any] = Stream("Progress", type_, 1 << 20)
    text = written(stream, value)
    assert stream.decode(text) == value
    natural_value(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("QUEUED", "Stream Progress write: Job requires Job, got str"),
        (State.QUEUED, "Stream Progress write: Job requires Job, got State"),
        (Job("QUEUED"), r"Stream Progress write: value\.state is str and would be read back as"),  # type: ignore[arg-type]  # the mistake
        (
            Job(State.QUEUED, data=b"x" * 80_000),
            r"Stream Progress write: value of 106,\d+ bytes",
        ),
    ],
)
def test_a_message_that_does_not_fit_is_refused_at_the_write(value: Any, text: str) -> None:
    """Wrong type, wrong inside, too large: nothing is handed on."""
    sink = Sink()
    with pytest.raises(ValueMappingError, match=f"^{text}"):
        Stream("Progress", Job, 1 << 20).write(sink, value)
    assert sink.texts == []


def test_a_message_of_exactly_the_limit_is_taken() -> None:
    """One hundred kibibytes of JSON text."""
    stream = Stream("S", str, 1 << 20)
    assert len(written(stream, "x" * (MAX_MESSAGE_BYTES - 2))) == MAX_MESSAGE_BYTES
    with pytest.raises(ValueMappingError, match="over the limit of 102,400"):
        written(stream, "x" * (MAX_MESSAGE_BYTES - 1))


@pytest.mark.parametrize("capacity", [0, -1, 1.5, 2.0, True, "1000", None, 2**53])
def test_a_capacity_that_cannot_hold_is_refused(capacity: Any) -> None:
    """A positive number of bytes that every reader keeps exact."""
    text = r"Stream P stream_capacity_bytes must be positive and at most 2\*\*53 - 1, got "
    with pytest.raises(DefinitionError, match=text):
        Stream("P", str, capacity)


@pytest.mark.parametrize("name", ["", None, 5, "a\nb", "\ud800", "x" * 256])
def test_a_name_that_cannot_be_kept_is_refused(name: Any) -> None:
    """None, unprintable or too long; a slash is legal in the name of a Stream."""
    with pytest.raises(DefinitionError, match="Stream name is "):
        Stream(name, str, 100)
    assert Stream("jobs/progress", str, 100).name == "jobs/progress"


@pytest.mark.parametrize("type_", ["Job", 5, JOB, [Job]])
def test_a_type_that_is_none_is_refused(type_: Any) -> None:
    """A name in quotes, a value, a list around the type."""
    with pytest.raises(DefinitionError, match=r"Stream P value_type is .* give a type such as str"):
        Stream("P", type_, 100)


def test_a_definition_shows_itself() -> None:
    """The same in every session."""
    assert repr(Stream("P", Job, 1 << 20)) == "Stream('P', Job, 1048576)"
    shown = "Stream('P', list[tests.flow.values.Job], 1)"
    assert repr(Stream("P", list[Job], 1)) == shown


def test_a_schema_sorts_its_definitions() -> None:
    """What is none is refused with its place."""
    stream = Stream("P", str, 1)
    assert PersistenceSchema.of(stream) == PersistenceSchema(streams=(stream,))
    assert PersistenceSchema.of() == PersistenceSchema()
    with pytest.raises(DefinitionError, match=r"PersistenceSchema\.of got 'P': give Attribute"):
        PersistenceSchema.of("P")
