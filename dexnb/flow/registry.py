"""`Registry`: the Flows that can run here, checked as a whole when they are registered.

Registering a type again replaces its code: in a notebook that is what re-running a cell means. An
attempt that runs keeps the classes it began with; the next attempt uses the new ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dexnb.errors import FlowDefinitionError, Problem
from dexnb.flow.flow import Flow
from dexnb.flow.handler import Handler, read_handler
from dexnb.flow.persistence import PersistenceSchema
from dexnb.flow.resolve import Resolver
from dexnb.flow.step import Step, StepList
from dexnb.flow.stream import Stream
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT, StepSettings

_RESERVED = "/$:"


@dataclass(frozen=True, slots=True)
class RegisteredStep:
    """A Step that can run: its instance, how its method is called, its settings."""

    step_type: str
    step: Step[Any]
    handler: Handler
    settings: StepSettings


@dataclass(frozen=True, slots=True)
class RegisteredFlow:
    """A Flow that can run."""

    flow_type: str
    flow: Flow[Any]
    steps: dict[str, RegisteredStep]
    start: RegisteredStep | None
    streams: dict[str, Stream[Any]]

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
    if not isinstance(flow, Flow):
        fix = "give an instance of a Flow subclass"
        made = f"{flow.__name__}()" if isinstance(flow, type) else "YourFlow()"
        raise FlowDefinitionError(_name(flow), [Problem("flow", repr(flow), f"{fix}: {made}")])
    flow_type = flow.get_flow_type()
    reader = _Reader(str(flow_type), minimum_heartbeat)
    reader.check_name("flow type", flow_type)
    steps, start = reader.steps(flow.get_steps())
    streams = reader.streams(flow.get_persistence_schema())
    reader.check_recoveries(steps)
    if reader.problems:
        raise FlowDefinitionError(str(flow_type), reader.problems)
    return RegisteredFlow(flow_type, flow, steps, start, streams)


class _Reader:
    def __init__(self, flow_type: str, minimum_heartbeat: float) -> None:
        self.flow_type = flow_type
        self.minimum_heartbeat = minimum_heartbeat
        self.problems: list[Problem] = []

    def check_name(self, what: str, name: Any) -> None:
        if not isinstance(name, str) or not name:
            self._problem(what, repr(name), "give a non-empty str")
        elif any(letter in name for letter in _RESERVED):
            self._problem(what, repr(name), "leave out '/', '$' and ':'")

    def steps(self, steps: Any) -> tuple[dict[str, RegisteredStep], RegisteredStep | None]:
        if not isinstance(steps, StepList):
            self._problem("get_steps", repr(steps), "return a StepList")
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
            made = f"{step.__name__}()" if isinstance(step, type) else "a Step instance"
            self._problem("get_steps", repr(step), f"give {made}")
            return None
        step_type = step.get_step_type()
        self.check_name(f"{type(step).__name__} step type", step_type)
        where = f"{self.flow_type}.{step_type}"
        handler, problems = read_handler(step.execute, f"{where}.execute")
        resolver = Resolver(where, self.minimum_heartbeat)
        settings = resolver.settings(step.get_step_options())
        self.problems += problems + resolver.problems
        return RegisteredStep(str(step_type), step, handler, settings)

    def streams(self, schema: Any) -> dict[str, Stream[Any]]:
        if not isinstance(schema, PersistenceSchema):
            fix = "return PersistenceSchema.of(...)"
            self._problem("get_persistence_schema", repr(schema), fix)
            return {}
        found: dict[str, Stream[Any]] = {}
        for stream in schema.streams:
            if stream.name in found:
                fix = "give each definition a name of its own"
                self._problem(f"duplicate persistence definition {stream.name}", "", fix)
            found[stream.name] = stream
        return found

    def check_recoveries(self, steps: dict[str, RegisteredStep]) -> None:
        for step in steps.values():
            target = step.settings.recovery
            if target is None:
                continue
            where = f"{step.step_type}.recovery"
            if target not in steps:
                names = ", ".join(sorted(steps))
                self._problem(where, target, f"add that Step to get_steps(); listed are {names}")
                continue
            if self._leads_back(step.step_type, steps):
                fix = "Steps must not recover to each other in a circle; end with another Step"
                self._problem(where, target, fix)
            given, taken = step.handler.input_type, steps[target].handler.input_type
            if given != taken and Any not in (given, taken) and object is not taken:
                fix = f"a recovery Step takes the same input: annotate it as {_name(given)}"
                self._problem(where, f"{target}(input: {_name(taken)})", fix)

    def _leads_back(self, step_type: str, steps: dict[str, RegisteredStep]) -> bool:
        seen = {step_type}
        target = steps[step_type].settings.recovery
        while target is not None and target in steps:
            if target in seen:
                return target == step_type
            seen.add(target)
            target = steps[target].settings.recovery
        return False

    def _problem(self, field: str, value: str, fix: str) -> None:
        self.problems.append(Problem(f"{self.flow_type}.{field}", value, fix))


def _name(value: Any) -> str:
    return getattr(value, "__name__", None) or type(value).__name__
