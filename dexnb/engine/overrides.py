"""`Binding`: a Step as one attempt runs it, with the knob values of its run.

Constants (globals of the Step's module, variables of a function around it, attributes of the Step)
are overridden by their name, options by `StepType.option`. Both may be changed while the attempt
runs; other runs, side by side, see nothing of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any

from dexnb.engine.rebinding import Rebinder, alike, is_constant, names_of
from dexnb.errors import DefinitionError
from dexnb.flow.registry import RegisteredStep
from dexnb.flow.resolve import Resolver
from dexnb.flow.step import Step
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT, RetrySettings, StepSettings

METHODS = ("execute", "wait_for", "get_step_options")
_RETRY = frozenset(RetrySettings.__dataclass_fields__)
_OPTIONS = frozenset({"execute_method_timeout", "heartbeat_timeout", *_RETRY})
_COPIED = (FunctionType, staticmethod, classmethod, property)


class _Bound:
    """A Step of which only its own methods had to be copied."""

    __slots__ = METHODS

    def __init__(self, step: Step[Any], members: dict[str, Any]) -> None:
        for name in METHODS:
            function = members.get(name)
            method = getattr(step, name, None) if function is None else MethodType(function, step)
            setattr(self, name, method)


class Binding:
    """One attempt's own copy of a Step's functions.

    Args:
        registered: The Step.
        overrides: The run's knob values, by name.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes.
        options: The settings that the decision gave in place of the Step's own.

    Raises:
        DefinitionError: With these values the Step's options do not hold.
    """

    def __init__(
        self,
        registered: RegisteredStep,
        overrides: Mapping[str, Any],
        minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT,
        options: StepSettings | None = None,
    ) -> None:
        """Copy what reads constants; a Step that reads none stays as it is."""
        self._registered = registered
        self._minimum_heartbeat = minimum_heartbeat
        self._given = options
        self._overrides: dict[str, Any] = {}
        self._class: type[Any] | None = None
        self._rebinder: Rebinder | None = None
        self._step: Any = registered.step
        self._copy(registered.step)
        self.settings = registered.settings if self._given is None else self._given
        if overrides:
            self.change(overrides)

    @property
    def step(self) -> RegisteredStep:
        """The Step to run."""
        if self._step is self._registered.step:
            return self._registered
        return replace(self._registered, step=self._step)

    def change(self, overrides: Mapping[str, Any]) -> list[str]:
        """Take other values, also while the Step runs; give the names that nothing here has.

        Raises:
            DefinitionError: With these values the Step's options do not hold; nothing is changed.
        """
        before = self._overrides
        mine = {name: value for name, value in overrides.items() if self._is_mine(name)}
        unknown = [name for name, value in mine.items() if not self._put(name, value)]
        self._overrides = {**before, **mine}
        try:
            self.settings = self._settings()
        except BaseException:
            self._overrides = before
            for name in mine:
                self._put(name, before.get(name))
            raise
        return unknown

    def _is_mine(self, name: str) -> bool:
        step = name.rpartition(".")[0]
        return step in ("", self._registered.step_type)

    def _put(self, name: str, number: float | None) -> bool:
        """Give one constant its value, or with None the code's own; options need nothing here."""
        step, _, rest = name.rpartition(".")
        if step and rest in _OPTIONS:
            return True
        seen = self._rebinder is not None and self._rebinder.put(rest, number)
        return self._put_attribute(rest, number) or seen

    def _put_attribute(self, name: str, number: float | None) -> bool:
        """Shadow a value that the Step itself holds, for this attempt alone."""
        current = inspect.getattr_static(self._registered.step, name, None)
        if self._class is None or not is_constant(current):
            return False
        if name in vars(self._class):
            delattr(self._class, name)
        if number is not None:
            value = alike(number, current)
            setattr(self._class, name, property(lambda _: value))
        return True

    def _copy(self, step: Step[Any]) -> None:
        plan = _plan_of(type(step))
        if "execute" not in plan.members:
            return
        holds = plan.holds_constants or any(
            name in plan.names and is_constant(value)
            for name, value in getattr(step, "__dict__", {}).items()
        )
        rebinder = Rebinder(*plan.modules)
        copies = {name: rebinder.member(member) for name, member in plan.members.items()}
        if not holds and not rebinder.reads_constants:
            return
        self._rebinder = rebinder
        if holds or not copies.keys() <= set(METHODS):
            self._class = _shadow(step, copies)
        self._step = _Bound(step, copies) if self._class is None else _sibling(step, self._class)

    def _settings(self) -> StepSettings:
        settings = self._given
        if settings is None:
            constants = any(name.rpartition(".")[2] not in _OPTIONS for name in self._overrides)
            settings = self._resolved() if constants else self._registered.settings
        for name, number in self._overrides.items():
            option = name.rpartition(".")[2]
            if option in _RETRY:
                settings = replace(settings, retry=replace(settings.retry, **{option: number}))
            elif option in _OPTIONS:
                settings = replace(settings, **{option: number})
        return settings

    def _resolved(self) -> StepSettings:
        """Ask the Step for its options anew, because constants may feed them."""
        resolver = Resolver(self._registered.step_type, self._minimum_heartbeat)
        settings = resolver.settings(self._step.get_step_options())
        if resolver.problems:
            raise DefinitionError("; ".join(map(str, resolver.problems)))
        return settings


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a Step class has to do with constants.

    Args:
        members: The two methods, and what they reach of the Step's own classes by name.
        homes: The class that each of them is of.
        names: All names that those look up.
        modules: Their globals.
        holds_constants: Whether a class holds a constant of such a name.
    """

    members: dict[str, Any]
    homes: dict[str, type[Any]]
    names: frozenset[str]
    modules: tuple[dict[str, Any], ...]
    holds_constants: bool

    @property
    def current(self) -> bool:
        """Whether the classes have not been changed since."""
        return all(vars(home).get(name) is self.members[name] for name, home in self.homes.items())


MOST_PLANS = 50
_plans: dict[type[Any], _Plan] = {}


def _plan_of(kind: type[Any]) -> _Plan:
    plan = _plans.get(kind)
    if plan is None or not plan.current:
        if len(_plans) >= MOST_PLANS:
            # Cells that are run again and again make new classes without end.
            _plans.clear()
        plan = _plans[kind] = _make_plan(kind)
    return plan


def _make_plan(kind: type[Any]) -> _Plan:
    classes = [each for each in kind.__mro__ if not _is_base(each)]
    homes: dict[str, type[Any]] = {}
    names: set[str] = set()
    functions: list[FunctionType] = []
    waiting = list(METHODS)
    while waiting:
        name = waiting.pop()
        home = next((each for each in classes if name in vars(each)), None)
        if home is None or name in homes or not isinstance(vars(home)[name], _COPIED):
            continue
        homes[name] = home
        for function in _functions(vars(home)[name]):
            functions.append(function)
            names.update(names_of(function.__code__))
            waiting += names_of(function.__code__)
    return _Plan(
        members={name: vars(home)[name] for name, home in homes.items()},
        homes=homes,
        names=frozenset(names),
        modules=tuple({id(f.__globals__): f.__globals__ for f in functions}.values()),
        holds_constants=any(is_constant(vars(each).get(n)) for each in classes for n in names),
    )


def _is_base(kind: type[Any]) -> bool:
    return kind is object or kind.__module__ in ("dexnb.flow.step", "abc", "typing")


def _functions(member: Any) -> list[FunctionType]:
    parts = (member.fget, member.fset) if isinstance(member, property) else (member,)
    inner = [getattr(part, "__func__", part) for part in parts]
    return [each for each in inner if isinstance(each, FunctionType)]


def _shadow(step: Step[Any], members: dict[str, Any]) -> type[Any] | None:
    """Give a subclass with the copied members; None for a class that forbids it."""
    kind: Any = type(step)
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    if not hasattr(step, "__dict__"):
        return None
    try:
        made: type[Any] = type(kind)(kind.__name__, (kind,), {**names, **members})
    except TypeError:
        return None
    return made


def _sibling(step: Step[Any], kind: type[Any]) -> Any:
    """Give an object of another class that shares the Step's own state."""
    sibling: Any = object.__new__(kind)
    sibling.__dict__ = step.__dict__
    return sibling
