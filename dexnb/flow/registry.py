"""`Registry`: the Flows that can run here, checked as a whole when they are registered.

Registering a type again replaces its code: in a notebook that is what re-running a cell means. An
attempt that runs keeps the classes it began with; the next attempt uses the new ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dexnb.errors import FlowDefinitionError, Problem
from dexnb.flow.declared import type_problem
from dexnb.flow.flow import Flow
from dexnb.flow.handler import Handler, read_handler
from dexnb.flow.name import name_fix
from dexnb.flow.persistence import PersistenceSchema
from dexnb.flow.recovery import recovery_problems
from dexnb.flow.resolve import Resolver
from dexnb.flow.shape import name_of
from dexnb.flow.step import Step, StepList
from dexnb.flow.stream import Stream
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT, StepSettings
from dexnb.model.shown import LONGEST, cut, shown


@dataclass(frozen=True, slots=True)
class RegisteredStep:
    """A Step that can run: its instance, how its method is called, its settings."""

    step_type: str
    step: Step[Any]
    handler: Handler
    settings: StepSettings


@dataclass(frozen=True, slots=True)
class RegisteredFlow:
    """A Flow that can run; the smallest heartbeat_timeout that it may be given is in seconds."""

    flow_type: str
    flow: Flow[Any]
    steps: dict[str, RegisteredStep]
    start: RegisteredStep | None
    streams: dict[str, Stream[Any]]
    minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT

    @property
    def handlers(self) -> frozenset[str]:
        """Name each Step as a store does: `FlowType/StepType`."""
        return frozenset(f"{self.flow_type}/{step_type}" for step_type in self.steps)


class Registry:
    """The registered Flows, by type."""

    def __init__(self, *, minimum_heartbeat_timeout: float = MINIMUM_HEARTBEAT_TIMEOUT) -> None:
        """Start empty; the smallest heartbeat_timeout is in seconds."""
        self._minimum_heartbeat = minimum_heartbeat_timeout
        self._flows: dict[str, RegisteredFlow] = {}

    def register(self, flow: Flow[Any]) -> RegisteredFlow:
        """Check a Flow and keep it, in place of one of the same type.

        Raises:
            FlowDefinitionError: Something does not hold; lists every problem found.
        """
        registered = read_flow(flow, minimum_heartbeat=self._minimum_heartbeat)
        self._flows[registered.flow_type] = registered
        return registered

    def get(self, flow_type: str) -> RegisteredFlow | None:
        """Give a registered Flow, or None."""
        return self._flows.get(flow_type)

    def find(self, flow_type: str, step_type: str) -> RegisteredStep | None:
        """Give a registered Step, or None."""
        flow = self._flows.get(flow_type)
        return None if flow is None else flow.steps.get(step_type)

    def __iter__(self) -> Iterator[RegisteredFlow]:
        """Go through the registered Flows."""
        return iter(tuple(self._flows.values()))

    @property
    def handlers(self) -> frozenset[str]:
        """Name every Step that can run here."""
        return frozenset().union(*(flow.handlers for flow in self._flows.values()))


def read_flow(
    flow: Flow[Any], *, minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT
) -> RegisteredFlow:
    """Check a Flow's whole definition.

    Raises:
        FlowDefinitionError: Lists every problem found.
    """
    given: Any = flow
    if not isinstance(given, Flow):
        made = f"{given.__name__}()" if isinstance(given, type) else "YourFlow()"
        fix = f"give an instance of a Flow subclass: {made}"
        raise FlowDefinitionError(_name(given), [Problem("flow", shown(given), fix)])
    return _Reader(flow, minimum_heartbeat).read()


class _Reader:
    def __init__(self, flow: Flow[Any], minimum_heartbeat: float) -> None:
        self.flow = flow
        self.flow_type = type(flow).__name__
        self.minimum_heartbeat = minimum_heartbeat
        self.problems: list[Problem] = []

    def read(self) -> RegisteredFlow:
        flow_type = self._ask(self.flow, "get_flow_type", self.flow_type)
        self._check_name("flow type", flow_type)
        self.flow_type = cut(flow_type, LONGEST) if isinstance(flow_type, str) else shown(flow_type)
        steps, start = self._steps(self._ask(self.flow, "get_steps", _FAILED))
        schema = self._ask(self.flow, "get_persistence_schema", PersistenceSchema())
        streams = self._streams(schema)
        for step_type, step in steps.items():
            where = f"{self.flow_type}.{step_type}.recovery"
            self.problems += recovery_problems(where, step_type, step.settings, steps)
        if self.problems:
            raise FlowDefinitionError(self.flow_type, self.problems)
        return RegisteredFlow(flow_type, self.flow, steps, start, streams, self.minimum_heartbeat)

    def _ask(self, owner: Flow[Any] | Step[Any], method: str, instead: Any) -> Any:
        """Call a method of the user's; what it raises is one of the problems."""
        try:
            return getattr(owner, method)()
        except Exception as error:  # noqa: BLE001 - a user's method may raise anything
            step = f"{type(owner).__name__}." if owner is not self.flow else ""
            text = cut(f"raising {type(error).__name__}: {error}", _LONGEST_CAUSE)
            self._problem(f"{step}{method}", text, "correct it")
            return instead

    def _check_name(self, what: str, name: Any) -> None:
        fix = name_fix(name)
        if fix is not None:
            self._problem(what, shown(name), fix)

    def _steps(self, steps: Any) -> tuple[dict[str, RegisteredStep], RegisteredStep | None]:
        if steps is _FAILED:
            return {}, None
        if not isinstance(steps, StepList):
            fix = "return a StepList, such as StepList.start_step(YourStep())"
            self._problem("get_steps", shown(steps), fix)
            return {}, None
        found: dict[str, RegisteredStep] = {}
        start = None
        for step in steps:
            registered = self._step(step)
            if registered is None:
                continue
            if registered.step_type in found:
                fix = "list each Step once, or give one of them another get_step_type()"
                self._problem(f"duplicate Step {registered.step_type}", "", fix)
            found[registered.step_type] = registered
            if step is steps.start:
                start = registered
        if not found and not self.problems:
            fix = "return StepList.start_step(YourStep()) from get_steps()"
            self._problem("get_steps", "empty", fix)
        return found, start

    def _step(self, step: Any) -> RegisteredStep | None:
        if not isinstance(step, Step):
            self._problem("get_steps", f"listing {shown(step)}", _instead_of(step))
            return None
        class_ = type(step).__name__
        step_type = self._ask(step, "get_step_type", class_)
        self._check_name(f"{class_} step type", step_type)
        where = f"{self.flow_type}.{step_type}"
        handler, problems = read_handler(step.execute, f"{where}.execute")
        resolver = Resolver(where, self.minimum_heartbeat)
        settings = resolver.settings(self._ask(step, "get_step_options", None))
        self.problems += problems + resolver.problems
        return RegisteredStep(str(step_type), step, handler, settings)

    def _streams(self, schema: Any) -> dict[str, Stream[Any]]:
        if not isinstance(schema, PersistenceSchema):
            fix = "return PersistenceSchema.of(...)"
            self._problem("get_persistence_schema", shown(schema), fix)
            return {}
        found: dict[str, Stream[Any]] = {}
        given: Any = schema.streams
        for stream in given if isinstance(given, tuple | list) else (given,):
            if not isinstance(stream, Stream):
                fix = "give Stream definitions"
                self._problem("get_persistence_schema", f"holding {shown(stream)}", fix)
                continue
            problem = type_problem(stream.value_type)
            if problem:
                kind = name_of(stream.value_type)
                self._problem(f"Stream {stream.name} value_type", kind, problem)
            if stream.name in found:
                fix = "give each definition a name of its own"
                self._problem(f"duplicate persistence definition {stream.name}", "", fix)
            found[stream.name] = stream
        return found

    def _problem(self, field: str, value: str, fix: str) -> None:
        self.problems.append(Problem(f"{self.flow_type}.{field}", value, fix))


_FAILED = object()
_LONGEST_CAUSE = 300


def _instead_of(step: Any) -> str:
    if isinstance(step, type) and issubclass(step, Step):
        return f"give an instance, {step.__name__}()"
    if isinstance(step, list | tuple):
        return "give the Steps one by one, other_steps(*steps)"
    return "give instances of Step subclasses"


def _name(value: Any) -> str:
    return getattr(value, "__name__", None) or type(value).__name__
