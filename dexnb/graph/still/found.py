"""`FoundFlow`: one Flow of a text, registered as far as it can be, with its graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dexnb.errors import Problem
from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow, look_at_flow
from dexnb.graph.read import read_graph
from dexnb.graph.source import plain_function, written
from dexnb.graph.still.attributes import STAND_IN
from dexnb.graph.still.bodies import ClassBody, hidden_bases
from dexnb.graph.still.definitions import NoAnswer
from dexnb.graph.still.functions import Body
from dexnb.graph.still.instances import CannotBeMade
from dexnb.graph.still.machine import Exhausted, Machine
from dexnb.graph.still.names import Module, modules_behind
from dexnb.graph.still.problem import SourceProblem
from dexnb.model.finding import Place
from dexnb.model.flow_graph import Diagnostic, FlowGraph

_CODES = {"cannot-tell": "unresolved_definition", "definition": "invalid_definition"}


CODEC = "codec"
"""The field of a problem that is none with a codec, which the runtime may be given."""

_OF_CODECS = re.compile("give the runtime a codec|cannot be indexed")
_FOLLOWS = {
    "get_steps": (".get_steps is empty", "add that Step to get_steps()"),
    "get_persistence_schema": ("list it in get_persistence_schema()",),
}
"""Problems that only follow from an answer that is not known, by its method."""

_HIDES = {
    "unknown_step_target": "get_steps",
    "unreachable_step": "get_steps",
    "unknown_resource": "get_persistence_schema",
    "unused_resource": "get_steps",
}
"""The method whose answer must be known for a diagnostic to hold."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundFlow:
    """A Flow of a text.

    Args:
        registered: What a registry would keep of it; with problems, as much as could be made out.
        graph: Its graph, the problems among its diagnostics.
        problems: What keeps it from being registered, and what could not be told.
        place: Where its class begins.
    """

    registered: RegisteredFlow
    graph: FlowGraph
    problems: tuple[SourceProblem, ...]
    place: Place


class Flows:
    """Reads the Flows of a text."""

    def __init__(self, machine: Machine) -> None:
        """Read what this has worked out."""
        self.machine = machine

    def read(self, classes: list[type[Flow[Any]]], module: Module) -> Iterator[FoundFlow]:
        """Read each class that is a Flow of its own; abstract ones and mixins are none."""
        for class_ in classes:
            if class_.get_steps is Flow.get_steps:
                continue
            noted = self.machine.problems
            self.machine.problems = {}
            try:
                found = self._read(class_, module)
            except (CannotBeMade, NoAnswer):
                found = None
            except (Exhausted, RecursionError):
                found = None
                self._too_much(class_, noted)
            finally:
                self.machine.problems, problems = noted, self.machine.problems
            if found is not None:
                yield found
            else:
                noted |= problems

    def _read(self, class_: type[Flow[Any]], module: Module) -> FoundFlow:
        self.machine.about = (class_.__name__, "")
        self.machine.work = 0
        try:
            flow = self.machine.instances.unknown(class_)
            flow.get_steps()
            registered, wrong = look_at_flow(flow, minimum_heartbeat=0)
            for problem in wrong:
                self._wrong(problem, class_, registered, module)
            self._bases([class_, *(type(each.step) for each in registered.steps.values())])
            graph = read_graph(registered)
        finally:
            self.machine.about = ("", "")
        problems = tuple(replace(each, flow=registered.flow_type) for each in self.machine.problems)
        hidden = {each.field for each in problems}
        kept = (each for each in graph.diagnostics if _HIDES.get(each.code) not in hidden)
        added = (_diagnostic(each) for each in problems if each.field != CODEC)
        graph = replace(graph, diagnostics=(*kept, *added))
        return FoundFlow(registered, graph, problems, place_of_class(class_))

    def _wrong(
        self, problem: Problem, class_: type, registered: RegisteredFlow, module: Module
    ) -> None:
        hidden = {each.field for each in self.machine.problems if each.kind == "cannot-tell"}
        text = str(problem)
        if any(mark in text for field in hidden for mark in _FOLLOWS.get(field, ())):
            return
        place, step = _place(problem, class_, registered)
        found = SourceProblem("definition", text, place, step=step)
        if _OF_CODECS.search(text) and _has_codecs(module):
            found = replace(found, kind="cannot-tell", field=CODEC)
        self.machine.tell(found)

    def _bases(self, classes: list[type]) -> None:
        for each in classes:
            for base in hidden_bases(each):
                message = (
                    f"{each.__name__} has the base {base}, which is not known here: what it "
                    "inherits cannot be told"
                )
                place = place_of_class(each)
                found = SourceProblem("cannot-tell", message, place, field="bases")
                self.machine.tell(found)

    @staticmethod
    def _too_much(class_: type, problems: dict[SourceProblem, None]) -> None:
        message = f"{class_.__name__} asks for more work than a definition needs: make it plainer"
        place = place_of_class(class_)
        problems[SourceProblem("cannot-tell", message, place, class_.__name__)] = None


def place_of_class(class_: type) -> Place:
    """Give where a stand-in's definition begins."""
    body = vars(class_).get(STAND_IN)
    return body.names.unit.place(body.node) if isinstance(body, ClassBody) else Place()


def _has_codecs(module: Module) -> bool:
    names = (name for each in modules_behind(module) for name in each.origins.values())
    return any(name.endswith((".CodecRegistry", ".JsonCodec", ".Codec")) for name in names)


def _diagnostic(problem: SourceProblem) -> Diagnostic:
    severity = "error" if problem.kind == "definition" else "warning"
    code = _CODES.get(problem.kind, "unresolved_definition")
    return Diagnostic(code, severity, problem.message, problem.place.line, problem.place.path)  # type: ignore[arg-type]


def _place(problem: Problem, class_: type, registered: RegisteredFlow) -> tuple[Place, str]:
    """Give where a problem's field stands: `Flow.Step.execute input`, `Flow.get_steps` and such."""
    parts = problem.where.split(".")[1:]
    owner: Any = class_
    step = ""
    if parts and parts[0] in registered.steps:
        step, *parts = parts
        owner = type(registered.steps[step].step)
    for part in parts:
        function = plain_function(getattr(owner, part.split(" ")[0], None))
        body = None if function is None else written(function)
        if isinstance(body, Body):
            return body.names.unit.place(body.tree), step
    return place_of_class(owner), step
