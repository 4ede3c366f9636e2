"""What a registration asks a Flow or a Step of a text, answered without running its methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dexnb.errors import DexnbError
from dexnb.flow.flow import Flow
from dexnb.flow.options import StepOptions
from dexnb.flow.persistence import PersistenceSchema
from dexnb.flow.step import Step, StepList
from dexnb.graph.opaque import Opaque
from dexnb.graph.source import written
from dexnb.graph.still.attributes import derives
from dexnb.graph.still.functions import Body

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine

HOOKS = frozenset(
    {"get_flow_type", "get_persistence_schema", "get_step_options", "get_step_type", "get_steps"}
)
"""The methods of the user's that a registration calls."""

_ANSWERS = "__dexnb_answers__"


class NoAnswer(DexnbError):
    """A method of the text raises whenever it is called."""


def hook(machine: Machine, name: str, function: FunctionType) -> FunctionType:
    """Give a method that answers for one of the text; readers of sources look behind it."""

    def answer(self: Any) -> Any:
        return machine.definitions.answer(name, function, self)

    answer.__name__ = name
    answer.__qualname__ = function.__qualname__
    answer.__module__ = function.__module__
    vars(answer)["__wrapped__"] = function
    return answer  # type: ignore[return-value]


class Definitions:
    """Answers, each once for an instance."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def answer(self, name: str, function: FunctionType, owner: Any) -> Any:
        """Give what a method would return, as far as that can be told.

        Raises:
            NoAnswer: It always raises.
            DexnbError: A definition in it refuses what it is given.
        """
        answers = vars(owner).setdefault(_ANSWERS, {})
        if name not in answers:
            answers[name] = self._answer(name, function, owner)
        return answers[name]

    def _answer(self, name: str, function: FunctionType, owner: Any) -> Any:
        around = self.machine.about
        own = type(owner).__name__
        self.machine.about = (own, "") if isinstance(owner, Flow) else (around[0] or "?", own)
        try:
            before = len(self.machine.problems)
            found = self.machine.calls.outcomes(function, [owner], {})
            if not found:
                raise NoAnswer(f"{own}.{name}() always raises: return what it stands for")
            if name == "get_steps":
                return self._steps(function, found, whole=len(self.machine.problems) == before)
            return self._joined(name, function, owner, found)
        finally:
            self.machine.about = around

    def _joined(self, name: str, function: FunctionType, owner: Any, found: list[Any]) -> Any:
        if name == "get_step_options":
            return self._options(function, found)
        if name == "get_persistence_schema":
            return self._schema(function, found)
        return self._type(name, function, owner, found)

    def _type(self, name: str, function: FunctionType, owner: Any, found: list[Any]) -> Any:
        first = found[0]
        if isinstance(first, str) and all(each == first for each in found):
            return first
        self._hidden(function, f"{name}() gives what only running the code could tell", name)
        return type(owner).__name__

    def _options(self, function: FunctionType, found: list[Any]) -> Any:
        if len(found) == 1 and not isinstance(found[0], StepOptions | Opaque):
            # None is no options, and anything else is refused as in a Flow that is alive.
            return found[0]
        known = [each for each in found if each is None or isinstance(each, StepOptions)]
        if len(known) < len(found):
            message = "get_step_options() gives what only running the code could tell"
            self._hidden(function, message, "get_step_options")
        if not known or all(each == known[0] for each in known):
            return known[0] if known else None
        first, *rest = [StepOptions() if each is None else each for each in known]
        given = {}
        for field in fields(StepOptions):
            values = [getattr(each, field.name) for each in (first, *rest)]
            if all(each == values[0] for each in values):
                given[field.name] = values[0]
            else:
                message = f"{field.name} depends on a condition that only running the code can tell"
                self._hidden(function, message, field.name)
        return StepOptions(**given)

    def _schema(self, function: FunctionType, found: list[Any]) -> PersistenceSchema:
        known = [each for each in found if isinstance(each, PersistenceSchema)]
        if len(known) < len(found) or any(each != known[0] for each in known):
            message = "get_persistence_schema() gives what only running the code could tell"
            self._hidden(function, message, "get_persistence_schema")
        parts: dict[tuple[str, str], Any] = {}
        for schema in known:
            for each in (*schema.attributes, *schema.channels, *schema.streams):
                parts[(type(each).__name__, each.name)] = each
        return PersistenceSchema.of(*parts.values())

    def _steps(self, function: FunctionType, found: list[Any], *, whole: bool) -> Any:
        known = [each for each in found if isinstance(each, StepList)]
        if whole and len(found) == len(known) == 1:
            return known[0]
        if not any(isinstance(each, StepList | Opaque) for each in found):
            # A value that is no StepList is refused as it is in a Flow that is alive.
            return found[0]
        self._hidden(
            function, "get_steps() gives what only running the code could tell", "get_steps"
        )
        first, *rest = [*known, self._named(function)]
        if not known or first.start is None:
            first, rest = self._named(function), known
        types = {type(each) for each in first}
        more = [each for steps in rest for each in steps if type(each) not in types]
        return replace(first, others=(*first.others, *{type(each): each for each in more}.values()))

    def _named(self, function: FunctionType) -> StepList[Any]:
        """Give every Step that a get_steps names, where its list cannot be told."""
        body = written(function)
        start: Step[Any] | None = None
        others: dict[type, Step[Any]] = {}
        for node in ast.walk(body.tree) if isinstance(body, Body) else ():
            if not isinstance(node, ast.Call):
                continue
            begins = isinstance(node.func, ast.Attribute) and node.func.attr == "start_step"
            for step in self._made(node.args[:1] if begins else [node], body):
                if begins:
                    start = step
                else:
                    others.setdefault(type(step), step)
        rest = tuple(each for kind, each in others.items() if kind is not type(start))
        return StepList(start, rest)

    def _made(self, nodes: list[Any], body: Any) -> Iterator[Step[Any]]:
        for node in nodes:
            if isinstance(node, ast.Call):
                class_ = self.machine.value(node.func, body.names)
                if derives(class_, Step):
                    yield self.machine.instances.unknown(class_)

    def _hidden(self, function: FunctionType, message: str, field: str) -> None:
        body = written(function)
        if isinstance(body, Body):
            self.machine.note("cannot-tell", message, body.names, body.tree, field)
