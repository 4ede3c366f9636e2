"""A Flow's definition is checked as a whole; one error lists all that is wrong with it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from dexnb import (
    Flow,
    FlowDefinitionError,
    PersistenceSchema,
    Registry,
    Step,
    StepList,
    StepOptions,
    Stream,
)
from dexnb.errors import DefinitionError
from dexnb.flow.registry import read_flow
from tests.flow.flows import Made, Plain, flow_of, problem_of, problems_of, read
from tests.flow.values import Client, Job, Page

MANY = "x" * 256


class Other(Plain):
    """A second Step."""


def test_a_flow_is_read_into_what_can_run() -> None:
    """Its Steps by type with the first marked, its Streams by name, its handlers for a store."""
    stream = Stream("Progress", Job, 1 << 20)
    start = Plain()
    flow = read_flow(flow_of(start, Other(), streams=(stream,)))
    assert list(flow.steps) == ["Plain", "Other"]
    assert flow.start is flow.steps["Plain"]
    assert flow.steps["Plain"].step is start
    assert flow.streams == {"Progress": stream}
    assert flow.handlers == {"F/Plain", "F/Other"}


def test_a_flow_may_be_registered_without_a_start_step() -> None:
    """It is refused only when it is started."""
    flow = read_flow(Made(lambda: StepList.without_start_step(Plain())))
    assert flow.start is None
    assert list(flow.steps) == ["Plain"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            Made,
            "flow is <class 'tests.flow.flows.Made'>: give an instance of a Flow subclass: M",
        ),
        (Plain(), "give an instance of a Flow subclass: YourFlow()"),
        ("Polling", "flow is 'Polling': give an instance of a Flow subclass: YourFlow()"),
        (None, "flow is None: give an instance of a Flow subclass: YourFlow()"),
    ],
)
def test_what_is_no_flow_is_refused(given: Any, text: str) -> None:
    """A class in place of an instance is the usual one."""
    assert text in problem_of(given)


BAD_NAMES: list[tuple[Any, str]] = [
    ("", "'': give a non-empty str"),
    (None, "None: give a non-empty str"),
    (5, "5: give a non-empty str"),
    (b"F", "b'F': give a non-empty str"),
    ("a/b", "'a/b': leave out '/', '$', ':'"),
    ("a$", "'a$': leave out '/', '$', ':'"),
    (":", "':': leave out '/', '$', ':'"),
    ("a\nb", r"'a\nb': leave out line breaks and whatever else cannot be printed"),
    ("a\0", r"'a\x00': leave out line breaks"),
    ("\ud800", r"'\ud800': leave out line breaks"),
    (MANY, "at most 255 letters"),
]


@pytest.mark.parametrize(("name", "text"), BAD_NAMES, ids=[str(i) for i in range(len(BAD_NAMES))])
def test_a_flow_or_step_type_that_cannot_be_a_name_is_refused(name: Any, text: str) -> None:
    """Reserved letters, what cannot be printed, what is too long or no text."""
    steps = StepList.start_step(Plain())
    assert text in problem_of(Made(lambda: steps, flow_type=name))
    if name:
        found = problem_of(flow_of(Plain(name)))
        assert found.startswith("F.Plain step type is ")
        assert text in found


def test_names_in_other_scripts_are_taken() -> None:
    """Letters, spaces, dots and dashes of any alphabet."""
    for name in ("Wäscheklammer", "等待作业", "Await job-2.b", "ж_1"):
        assert list(read(Plain(name)).steps) == [name]


def test_duplicates_are_named() -> None:
    """Two Steps of one type, two Streams of one name."""
    assert problem_of(flow_of(Plain(), Plain())) == (
        "F.duplicate Step Plain: list each Step once, or give one of them another get_step_type()"
    )
    assert problem_of(flow_of(Plain(), Other("Plain"))).startswith("F.duplicate Step Plain: ")
    stream = Stream("c", str, 100)
    assert problem_of(flow_of(Plain(), streams=(stream, Stream("c", int, 9)))) == (
        "F.duplicate persistence definition c is Stream and Stream: "
        "give each definition a name of its own"
    )


@pytest.mark.parametrize(
    ("listed", "text"),
    [
        (
            Plain,
            "get_steps is listing <class 'tests.flow.flows.Plain'>: give an instance, Plain()",
        ),
        ([Other()], "give the Steps one by one, other_steps(*steps)"),
        ("Plain", "F.get_steps is listing 'Plain': give instances of Step subclasses"),
        (None, "F.get_steps is listing None: give instances of Step subclasses"),
        (Client(), "give instances of Step subclasses"),
    ],
)
def test_what_is_no_step_in_a_list_is_refused(listed: Any, text: str) -> None:
    """A class, a list, a name."""
    assert text in problem_of(flow_of(Plain("S"), listed))


def test_what_is_no_step_list_is_refused() -> None:
    """A plain list, nothing at all, the class."""
    for given in ([Plain()], None, StepList, Plain()):
        text = problem_of(Made(partial(_same, given)))
        assert text.startswith("F.get_steps is ")
        assert text.endswith("return a StepList, such as StepList.start_step(YourStep())")
    fix = "return StepList.start_step(YourStep()) from get_steps()"
    assert problem_of(Made(StepList.empty)) == f"F.get_steps is empty: {fix}"

    class Nothing(Flow[None]):
        """Says nothing about its Steps."""

    assert problem_of(Nothing()) == f"Nothing.get_steps is empty: {fix}"


def _same(given: Any) -> Any:
    return given


@pytest.mark.parametrize("name", ["start_step", "without_start_step", "empty"])
def test_a_list_that_would_lose_its_steps_is_refused(name: str) -> None:
    """The makers belong to the class; called on a list they would begin anew without a word."""
    steps = StepList.start_step(Plain())
    arguments = () if name == "empty" else (Other(),)
    with pytest.raises(DefinitionError, match=rf"StepList\.{name} makes a new list, without the"):
        getattr(steps, name)(*arguments)
    assert "StepList.start_step makes a new list" in problem_of(
        Made(lambda: StepList.start_step(Plain()).other_steps(Other()).start_step(Plain("S")))
    )


@pytest.mark.parametrize("more", [(Other(),), (Other(), Plain("B")), (Plain,), ("Other",)])
def test_a_list_made_of_steps_says_how_it_is_made(more: tuple[Any, ...]) -> None:
    """The class itself takes no Steps one by one."""
    listing: Any = StepList
    fix = r"StepList\.start_step\(YourStep\(\)\)\.other_steps\(OtherStep\(\)\)"
    with pytest.raises(DefinitionError, match=rf"^StepList others .*: write {fix}"):
        listing(Plain(), *more)


def test_a_list_keeps_its_steps_in_order() -> None:
    """The start Step first; adding makes another list."""
    a, b, c = Plain("A"), Plain("B"), Plain("C")
    first = StepList.start_step(a)
    assert list(first.other_steps(b).other_steps(c)) == [a, b, c]
    assert list(first) == [a]
    assert list(StepList.without_start_step(b).other_steps(c)) == [b, c]
    assert first == StepList(a)


@pytest.mark.parametrize("method", ["get_flow_type", "get_steps", "get_persistence_schema"])
def test_a_method_of_the_flow_that_raises_is_one_problem(method: str) -> None:
    """With the error's type and text; the rest is checked all the same."""

    def broken(self: Any) -> Any:
        message = f"no {method} today"
        raise LookupError(message)

    class Broken(Flow[str]):
        def get_steps(self) -> StepList[str]:
            return StepList.start_step(Plain(options=StepOptions(execute_retry=5)))  # type: ignore[arg-type]  # the mistake

    setattr(Broken, method, broken)
    texts = [str(problem) for problem in problems_of(Broken())]
    assert f"Broken.{method} is raising LookupError: no {method} today: correct it" in texts
    assert len(texts) == (1 if method == "get_steps" else 2)


@pytest.mark.parametrize("method", ["get_step_type", "get_step_options"])
def test_a_method_of_a_step_that_raises_is_one_problem(method: str) -> None:
    """With the error's type and text, cut where it is long."""

    def broken(self: Any) -> Any:
        message = "x" * 10_000
        raise ValueError(message)

    step = type("Broken", (Plain,), {method: broken})()
    text = problem_of(flow_of(step))
    assert text.startswith(f"F.Broken.{method} is raising ValueError: xxx")
    assert text.endswith("…: correct it")
    assert len(text) < 400


def test_a_step_that_cannot_be_made_is_one_problem() -> None:
    """An abstract one, for example, has no execute."""

    class Half(Step[str]):
        pass

    text = problem_of(Made(lambda: StepList.start_step(Half())))  # type: ignore[abstract]  # the mistake
    assert text.startswith(
        "F.get_steps is raising TypeError: Can't instantiate abstract class Half"
    )


def test_a_schema_of_another_kind_is_refused() -> None:
    """What is no schema, and what is no Stream in one."""
    steps = StepList.start_step(Plain())
    for given in (None, [Stream("a", str, 1)], PersistenceSchema):
        text = problem_of(Made(lambda: steps, partial(_same, given)))
        assert text.startswith("F.get_persistence_schema is ")
        assert text.endswith("return PersistenceSchema.of(...)")
    text = problem_of(flow_of(Plain(), streams=("a",)))  # type: ignore[arg-type]  # the mistake
    assert text == "F.get_persistence_schema is holding 'a': give Stream definitions"
    text = problem_of(Made(lambda: steps, lambda: PersistenceSchema(streams=5)))  # type: ignore[arg-type]  # the mistake
    assert text == "F.get_persistence_schema is holding 5: give Stream definitions"
    text = problem_of(Made(lambda: steps, lambda: PersistenceSchema.of(Stream)))
    assert "PersistenceSchema.of got <class 'dexnb.flow.stream.Stream'>: give Attribute," in text


def test_a_stream_of_what_cannot_be_stored_is_refused() -> None:
    """However deep it stands in the type."""
    stream = Stream("S", Page[Client], 100)
    assert problem_of(flow_of(Plain(), streams=(stream,))) == (
        "F.Stream S value_type is tests.flow.values.Page[tests.flow.values.Client]: Client cannot "
        "be stored: make it a dataclass, pass an id and build it in the Step, or give the runtime "
        "a codec for it, dexnb.open(..., codecs=CodecRegistry([...]))"
    )


def test_the_error_reads_as_a_list() -> None:
    """How many there are, then one line each."""
    flow = flow_of(Plain("a/b"), Plain("S", 5))
    with pytest.raises(FlowDefinitionError) as caught:
        read_flow(flow)
    assert str(caught.value) == (
        "Flow F registration failed, 2 problems:\n"
        "  - F.Plain step type is 'a/b': leave out '/', '$', ':'\n"
        "  - F.S.options is 5: give StepOptions or None"
    )
    assert caught.value.flow_type == "F"


def test_registering_a_type_again_replaces_its_code() -> None:
    """As running a cell again does; what is wrong leaves the old code in place."""
    registry = Registry()
    first = registry.register(flow_of(Plain("A")))
    with pytest.raises(FlowDefinitionError):
        registry.register(flow_of(Plain("a/b")))
    assert registry.get("F") is first
    second = registry.register(flow_of(Plain("B")))
    assert [*registry] == [second]
    assert registry.find("F", "B") is second.steps["B"]
    assert (registry.find("F", "A"), registry.find("G", "A"), registry.get("G")) == (None,) * 3
    registry.register(Made(lambda: StepList.start_step(Plain("C")), flow_type="G"))
    assert registry.handlers == {"F/B", "G/C"}
    assert Registry().handlers == frozenset()
