"""`StepSubject` and `FlowSubject`: what a rule is asked about."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from dexnb.flow.registry import RegisteredFlow, RegisteredStep
from dexnb.flow.timeout_step import TIMEOUT_STEP_TYPE
from dexnb.graph.frames import Frame, reachable
from dexnb.graph.read import frame_of, read_graph
from dexnb.graph.still.problem import SourceProblem
from dexnb.lint.facts.method import MethodFacts
from dexnb.lint.facts.polls import Poll
from dexnb.lint.settings import LintSettings
from dexnb.model.finding import Place
from dexnb.model.flow_graph import FlowGraph, Node


@dataclass(eq=False)
class FlowSubject:
    """A Flow under the linter.

    Args:
        flow: It, as a registry keeps it.
        settings: What the linter was told.
        given: Its graph, where it has been read already.
        problems: What cannot hold in its definition, and what could not be told of it.
        place: Where its class begins, where that is known.
    """

    flow: RegisteredFlow
    settings: LintSettings
    given: FlowGraph | None = None
    problems: tuple[SourceProblem, ...] = ()
    place: Place = field(default_factory=Place)

    @cached_property
    def graph(self) -> FlowGraph:
        """Its graph."""
        return self.given or read_graph(self.flow)

    @cached_property
    def steps(self) -> tuple[StepSubject, ...]:
        """Its Steps."""
        return tuple(StepSubject(self, step) for step in self.flow.steps.values())


@dataclass(eq=False)
class StepSubject:
    """A Step under the linter.

    Args:
        of: Its Flow.
        step: It, as a registry keeps it.
    """

    of: FlowSubject
    step: RegisteredStep

    @property
    def settings(self) -> LintSettings:
        """What the linter was told."""
        return self.of.settings

    @property
    def node_id(self) -> str:
        """Its node in the Flow's graph."""
        return f"step:{self.step.step_type}"

    @property
    def node(self) -> Node | None:
        """Its node in the Flow's graph, with its settings, constants and timings."""
        return next((node for node in self.of.graph.nodes if node.id == self.node_id), None)

    @cached_property
    def execute(self) -> MethodFacts | None:
        """Its execute, or the Flow's handle_timeout; None without a source."""
        if self.step.step_type == TIMEOUT_STEP_TYPE:
            return _method(self.of.flow.flow, "handle_timeout")
        return _method(self.step.step, "execute")

    @cached_property
    def wait_for(self) -> MethodFacts | None:
        """Its wait_for; None where it has none."""
        return None if self.step.wait_for is None else _method(self.step.step, "wait_for")

    @cached_property
    def options(self) -> Frame | None:
        """Its get_step_options; None where it has none."""
        return frame_of(self.step.step, "get_step_options")

    @property
    def methods(self) -> Iterator[MethodFacts]:
        """Its methods that can be read."""
        return (method for method in (self.wait_for, self.execute) if method is not None)

    @property
    def polls(self) -> Iterator[tuple[MethodFacts, Poll]]:
        """Its loops that are polls, or may be, with the method that each is in."""
        return ((method, poll) for method in self.methods for poll in method.polls)

    def option_calls(self) -> Iterator[tuple[ast.Call, Frame]]:
        """Give the calls in get_step_options and the helpers that it calls."""
        for frame in () if self.options is None else reachable(self.options):
            for call in frame.calls():
                yield call, frame


def _method(owner: object, name: str) -> MethodFacts | None:
    frame = frame_of(owner, name)
    return None if frame is None else MethodFacts(name, frame)
