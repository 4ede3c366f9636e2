"""Flows made in one line, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dexnb import (
    Context,
    Flow,
    FlowDefinitionError,
    PersistenceSchema,
    Step,
    StepDecision,
    StepList,
    StepOptions,
    Stream,
    dead_end,
)
from dexnb.errors import Problem
from dexnb.flow.registry import RegisteredFlow, read_flow


class Made(Flow[Any]):
    """A Flow of the given parts, of type `F`."""

    def __init__(
        self,
        steps: Callable[[], Any],
        schema: Callable[[], Any] = PersistenceSchema,
        flow_type: Any = "F",
    ) -> None:
        """Take what the three methods give."""
        self.steps = steps
        self.schema = schema
        self.flow_type = flow_type

    def get_flow_type(self) -> str:
        """Give the type."""
        return self.flow_type  # type: ignore[no-any-return]  # a wrong one is a case

    def get_steps(self) -> StepList[Any]:
        """Give the Steps."""
        return self.steps()  # type: ignore[no-any-return]  # a wrong list is a case

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give the Streams."""
        return self.schema()  # type: ignore[no-any-return]  # a wrong schema is a case


class Plain(Step[str]):
    """Does nothing; takes a str."""

    step_type: Any = None

    def __init__(self, step_type: Any = None, options: Any = None) -> None:
        """Answer to this name, with these options."""
        self.step_type = step_type
        self.options = options

    def get_step_type(self) -> str:
        """Give the name."""
        return self.step_type or type(self).__name__

    def get_step_options(self) -> StepOptions | None:
        """Give the options."""
        return self.options  # type: ignore[no-any-return]  # wrong options are a case

    def execute(self, context: Context, input: str) -> StepDecision:
        """Do nothing."""
        return dead_end()


def flow_of(start: Any, *others: Any, streams: tuple[Stream[Any], ...] = ()) -> Made:
    """Give a Flow of these Steps and Streams."""
    steps = StepList.start_step(start).other_steps(*others)
    return Made(lambda: steps, lambda: PersistenceSchema(streams=streams))


def read(start: Any, *others: Any) -> RegisteredFlow:
    """Register a Flow of these Steps."""
    return read_flow(flow_of(start, *others))


def problems_of(flow: Any, **options: Any) -> tuple[Problem, ...]:
    """Give what is wrong with a Flow; each problem says where, what and what instead."""
    with pytest.raises(FlowDefinitionError) as caught:
        read_flow(flow, **options)
    problems = caught.value.problems
    assert problems
    assert all(problem.where and problem.fix for problem in problems)
    assert all(str(problem) in str(caught.value) for problem in problems)
    return problems


def problem_of(flow: Any, **options: Any) -> str:
    """Give the one thing that is wrong with a Flow, as the user reads it."""
    (problem,) = problems_of(flow, **options)
    return str(problem)


def known(flows: Mapping[str, RegisteredFlow]) -> Callable[[Flow[Any]], RegisteredFlow]:
    """Give what an engine gives for a SubFlow: what is registered, or the Flow's own reading."""
    return lambda flow: flows.get(flow.get_flow_type()) or read_flow(flow)
