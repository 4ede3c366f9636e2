"""`Registry`: the Flows that can run here, checked as a whole when they are registered.

Registering a type again replaces its code: in a notebook that is what re-running a cell means. An
attempt that runs keeps the classes it began with; the next attempt uses the new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dexnb.errors import FlowDefinitionError, Problem
from dexnb.flow.codecs import CodecRegistry, codecs_of
from dexnb.flow.flow import Flow
from dexnb.flow.handler import EXECUTE, WAIT_FOR, Handler, read_handler
from dexnb.flow.name import name_fix
from dexnb.flow.persistence import Persistence, PersistenceSchema, read_persistence
from dexnb.flow.plan import Need, Plan, need_problems, waits
from dexnb.flow.recovery import recovery_problems, with_recovery_plan
from dexnb.flow.resolve import Resolver
from dexnb.flow.rpc_reader import RegisteredRpc, RpcReader
from dexnb.flow.shape import name_of, unwrap
from dexnb.flow.step import Step, StepList
from dexnb.flow.stream import Stream
from dexnb.flow.timeout_step import (
    TIMEOUT_STEP_TYPE,
    TimeoutHandlerStep,
    handles_timeout,
    read_timeout_handler,
)
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT, StepSettings
from dexnb.model.shown import LONGEST, cut, shown


@dataclass(frozen=True, slots=True)
class RegisteredStep:
    """A Step that can run.

    Args:
        step_type: Its name.
        step: Its instance.
        handler: How its execute is called.
        settings: Its own settings.
        wait_for: How its wait_for is called; None for a Step without one.
        plan: What a turn must know of it under its own options.
    """

    step_type: str
    step: Step[Any]
    handler: Handler
    settings: StepSettings
    wait_for: Handler | None = None
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class RegisteredFlow:
    """A Flow that can run; the smallest heartbeat_timeout that it may be given is in seconds.

    Args:
        flow_type: Its name.
        flow: Its instance.
        steps: Its Steps by type, `sys:timeout_handler` among them if it handles its timeout.
        start: Its start Step, if it has one.
        persistence: The Attributes, Channels and Streams that it keeps.
        rpcs: Its RPCs by name.
        minimum_heartbeat: The smallest heartbeat_timeout that its Steps may be given, in seconds.
    """

    flow_type: str
    flow: Flow[Any]
    steps: dict[str, RegisteredStep]
    start: RegisteredStep | None
    persistence: Persistence = field(default_factory=Persistence)
    rpcs: dict[str, RegisteredRpc] = field(default_factory=dict)
    minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT

    @property
    def streams(self) -> Mapping[str, Stream[Any]]:
        """Its Streams by name."""
        return self.persistence.streams

    @property
    def handlers(self) -> frozenset[str]:
        """Name each Step as a store does: `FlowType/StepType`."""
        return frozenset(f"{self.flow_type}/{step_type}" for step_type in self.steps)


class Registry:
    """The registered Flows, by type, and the codecs by which their values are stored.

    Args:
        minimum_heartbeat_timeout: The smallest heartbeat_timeout that is accepted, in seconds.
        codecs: Codecs of the user's.
    """

    def __init__(
        self,
        *,
        minimum_heartbeat_timeout: float = MINIMUM_HEARTBEAT_TIMEOUT,
        codecs: CodecRegistry | None = None,
    ) -> None:
        """Start without Flows."""
        self._minimum_heartbeat = minimum_heartbeat_timeout
        self._flows: dict[str, RegisteredFlow] = {}
        self.codecs = codecs_of(codecs)

    def register_codecs(self, codecs: CodecRegistry | None) -> None:
        """Add codecs, each in place of an earlier one for its type; None adds none.

        Raises:
            DefinitionError: They are no CodecRegistry.
        """
        given = codecs_of(codecs)
        if given:
            self.codecs = self.codecs.joined(given)

    def register(self, flow: Flow[Any]) -> RegisteredFlow:
        """Check a Flow and keep it, in place of one of the same type.

        Raises:
            FlowDefinitionError: Something does not hold; lists every problem found.
        """
        registered = self._read(flow)
        self._flows[registered.flow_type] = registered
        return registered

    def look_up(self, flow: Flow[Any]) -> tuple[RegisteredFlow, bool]:
        """Give what is registered of a Flow's type, or the Flow's own reading; and which it is.

        Raises:
            FlowDefinitionError: As `register`.
        """
        read = self._read(flow)
        known = self._flows.get(read.flow_type)
        return known or read, known is None

    def _read(self, flow: Flow[Any]) -> RegisteredFlow:
        with self.codecs.used():
            return read_flow(flow, minimum_heartbeat=self._minimum_heartbeat)

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
    reader = _Reader(flow, minimum_heartbeat)
    registered = reader.read()
    if reader.problems:
        raise FlowDefinitionError(reader.flow_type, reader.problems)
    return registered


def look_at_flow(
    flow: Flow[Any], *, minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT
) -> tuple[RegisteredFlow, list[Problem]]:
    """Give a Flow as far as its definition holds, and every problem found.

    For those who show a Flow that cannot run; one with problems must not be registered.
    """
    reader = _Reader(flow, minimum_heartbeat)
    registered = reader.read()
    return registered, reader.problems


class _Reader:
    def __init__(self, flow: Flow[Any], minimum_heartbeat: float) -> None:
        self.flow = flow
        self.flow_type = type(flow).__name__
        self.minimum_heartbeat = minimum_heartbeat
        self.problems: list[Problem] = []
        self.needs: list[Need] = []

    def read(self) -> RegisteredFlow:
        flow_type = self._ask(self.flow, "get_flow_type", self.flow_type)
        self._check_name("flow type", flow_type)
        self.flow_type = cut(flow_type, LONGEST) if isinstance(flow_type, str) else shown(flow_type)
        steps, start = self._steps(self._ask(self.flow, "get_steps", _FAILED))
        schema = self._ask(self.flow, "get_persistence_schema", PersistenceSchema())
        persistence, problems = read_persistence(self.flow_type, schema)
        self.problems += problems
        steps, start = _with_recovery_plans(steps, start)
        for step_type, step in steps.items():
            where = f"{self.flow_type}.{step_type}.recovery"
            self.problems += recovery_problems(where, step_type, step.settings, steps)
        self._timeout_handler(steps)
        rpcs = self._rpcs()
        if not problems:
            self.problems += need_problems(self.needs, persistence)
        named = flow_type if isinstance(flow_type, str) else self.flow_type
        return RegisteredFlow(
            named, self.flow, steps, start, persistence, rpcs, self.minimum_heartbeat
        )

    def _timeout_handler(self, steps: dict[str, RegisteredStep]) -> None:
        if not handles_timeout(self.flow):
            return
        handler, problems = read_timeout_handler(self.flow, self.flow_type)
        self.problems += problems
        step = TimeoutHandlerStep(self.flow)
        steps[TIMEOUT_STEP_TYPE] = RegisteredStep(TIMEOUT_STEP_TYPE, step, handler, StepSettings())

    def _rpcs(self) -> dict[str, RegisteredRpc]:
        reader = RpcReader(self.flow, self.flow_type)
        rpcs = reader.read()
        self.problems += reader.problems
        self.needs += reader.needs
        return rpcs

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
        handler, problems = read_handler(step.execute, f"{where}.execute", EXECUTE)
        wait_for = self._wait_for(step, where, None if problems else handler)
        resolver = Resolver(where, self.minimum_heartbeat)
        options = self._ask(step, "get_step_options", None)
        settings = resolver.settings(options)
        plan = resolver.plan(options, waits=wait_for is not None)
        self.problems += problems + resolver.problems
        self.needs += resolver.needs
        return RegisteredStep(str(step_type), step, handler, settings, wait_for, plan)

    def _wait_for(self, step: Step[Any], where: str, execute: Handler | None) -> Handler | None:
        """Read a Step's wait_for beside its execute, which is None where that does not hold."""
        if not waits(type(step)):
            return None
        handler, problems = read_handler(step.wait_for, f"{where}.wait_for", WAIT_FOR)
        if not problems and execute is not None:
            taken, given = execute.input_type, handler.input_type
            if unwrap(taken) != unwrap(given):
                fix = f"annotate it as execute does, {name_of(taken)}: both get the same input"
                problems.append(Problem(f"{where}.wait_for input", name_of(given), fix))
        self.problems += problems
        return handler

    def _problem(self, field: str, value: str, fix: str) -> None:
        self.problems.append(Problem(f"{self.flow_type}.{field}", value, fix))


_FAILED = object()
_LONGEST_CAUSE = 300


def _with_recovery_plans(
    steps: dict[str, RegisteredStep], start: RegisteredStep | None
) -> tuple[dict[str, RegisteredStep], RegisteredStep | None]:
    planned = {step_type: _with_recovery_plan(step, steps) for step_type, step in steps.items()}
    return planned, None if start is None else planned[start.step_type]


def _with_recovery_plan(step: RegisteredStep, steps: dict[str, RegisteredStep]) -> RegisteredStep:
    settings = with_recovery_plan(step.settings, steps)
    return step if settings is step.settings else replace(step, settings=settings)


def _instead_of(step: Any) -> str:
    if isinstance(step, type) and issubclass(step, Step):
        return f"give an instance, {step.__name__}()"
    if isinstance(step, list | tuple):
        return "give the Steps one by one, other_steps(*steps)"
    return "give instances of Step subclasses"


def _name(value: Any) -> str:
    return getattr(value, "__name__", None) or type(value).__name__
