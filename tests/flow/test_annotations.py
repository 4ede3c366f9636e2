"""Annotations are text nowadays: what they name is found in modules, functions and cells."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from dexnb import AsyncContext, Context, Step, StepDecision, dead_end, go_to
from dexnb.flow.registry import RegisteredFlow, read_flow
from tests.flow.flows import flow_of, problem_of, problems_of, read
from tests.flow.values import Point, through


def test_a_class_made_in_a_function_is_found_through_the_step_that_names_it() -> None:
    """`Step[Job]` holds the class itself, whatever the annotation in text says."""

    @dataclass
    class Job:
        name: str

    class S(Step[Job]):
        async def execute(self, context: AsyncContext, input: Job) -> StepDecision:
            return dead_end()

    class Late(S):
        pass

    assert read(S()).steps["S"].handler.input_type is Job
    assert read(Late()).steps["Late"].handler.input_type is Job
    assert through(Job("a"), Job) == Job("a")


def test_a_class_made_in_a_function_is_found_where_the_method_uses_it() -> None:
    """What the body uses, Python keeps."""

    @dataclass
    class Job:
        name: str

    class S(Step[Any]):
        def execute(self, context: Context, input: list[Job]) -> StepDecision:
            return go_to(S, [Job("next")])

    assert read(S()).steps["S"].handler.input_type == list[Job]


def test_a_name_that_nobody_kept_is_named_with_the_fix() -> None:
    """It is neither global nor used in the body."""

    class Job:
        pass

    class S(Step[Any]):
        def execute(self, context: Context, input: Job) -> StepDecision:
            return dead_end()

    assert problem_of(flow_of(S())) == (
        "F.S.execute annotations is using Job, which is not defined: define or import Job before "
        "the Flow is registered, at the top level of the module or of a cell, and not under "
        "`if TYPE_CHECKING`"
    )


@pytest.mark.parametrize("annotation", ["1 / 0", "Job[", "Context.missing", "Context["])
def test_an_annotation_that_is_no_expression_is_named(annotation: str) -> None:
    """Whatever goes wrong in it, with the error's own words."""

    def execute(self: Any, context: Context, input: Any) -> StepDecision:
        return dead_end()

    execute.__annotations__["input"] = annotation
    step: Any = type("S", (Step,), {"execute": execute})()
    text = problem_of(flow_of(step))
    assert text.startswith("F.S.execute annotations is ")
    assert ": write them as types" in text or "which is not defined" in text


FIRST_CELLS = """
from __future__ import annotations
from dataclasses import dataclass, field
from enum import StrEnum
from dexnb import *

class State(StrEnum):
    QUEUED = "QUEUED"

@dataclass
class Job:
    state: State
    parts: list[Part] = field(default_factory=list)
"""

NEXT_CELLS = """
@dataclass
class Part:
    name: str
"""

FLOW_CELL = """
class S(Step[Job]):
    async def execute(self, context: AsyncContext, input: Job) -> StepDecision:
        return dead_end()

class F(Flow[Job]):
    def get_steps(self) -> StepList[Job]:
        return StepList.start_step(S())

    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(Stream("Jobs", Job, 1 << 20))
"""

Run = Callable[[str], ModuleType]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run cells one after the other in a `__main__` of their own, as a kernel does."""
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)

    def cell(source: str) -> ModuleType:
        exec(compile(source, "<cell>", "exec", dont_inherit=True), main.__dict__)  # noqa: S102
        return main

    return cell


def test_a_name_from_a_later_cell_is_found_when_the_flow_is_registered(run: Run) -> None:
    """Until then its absence is one problem, which says where and what to do."""
    run(FIRST_CELLS)
    main = run("from __future__ import annotations" + FLOW_CELL)
    problems = problems_of(main.F())
    assert [problem.where for problem in problems] == [
        "F.S.execute input",
        "F.Stream Jobs value_type",
    ]
    for problem in problems:
        assert "name 'Part' is not defined; define what they name at the top level" in problem.fix
    run(NEXT_CELLS)
    assert read_flow(main.F()).streams.keys() == {"Jobs"}


def test_a_class_that_a_cell_defined_again_is_the_one_that_counts(run: Run) -> None:
    """Fields named in text mean the newest class, so the values made with it are taken."""
    run(FIRST_CELLS)
    run(NEXT_CELLS)
    main = run("from __future__ import annotations" + FLOW_CELL)
    flow: RegisteredFlow = read_flow(main.F())
    first = main.Job(main.State.QUEUED, [main.Part("a")])
    assert through(first, flow.steps["S"].handler.input_type) == first
    main = run(NEXT_CELLS)
    second = main.Job(main.State.QUEUED, [main.Part("b")])
    assert through(second, flow.steps["S"].handler.input_type) == second


NEW_SYNTAX = """
from dataclasses import dataclass
from typing import Any
from dexnb import *

@dataclass
class Box[T]:
    item: T
    more: list[T]

type Boxes[K] = dict[str, Box[K]]
type Numbers = list[int]

class S(Step[Any]):
    async def execute(self, context: AsyncContext, input: Box[Numbers]) -> StepDecision:
        return dead_end()
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_generic_classes_and_aliases_in_the_newer_syntax_are_read(run: Run) -> None:
    """Type parameters in brackets, and `type X = ...`."""
    main = run(NEW_SYNTAX)
    assert read(main.S()).steps["S"].handler.input_type == main.Box[main.Numbers]
    value = main.Box([1], [[2]])
    assert through(value, main.Box[main.Numbers]) == value
    point = main.Box(Point(1.0), [Point(2.0)])
    assert through({"a": point}, main.Boxes[Point]) == {"a": point}
